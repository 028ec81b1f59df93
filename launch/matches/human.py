"""`ludus play`: a human at the terminal against a player of the league, for a rating.

The human is an ordinary player. Each game is a ticket of the coordinator that runs; if none does, the ledger is opened
here for as long as the game lasts, and the same code decides.
"""

import secrets
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import count
from typing import Protocol

import numpy as np

from collectors.envs.rows import Environment, IntArray, Rows
from collectors.episode import Choose, Frames, play
from coordinator.coordinator import Coordinator
from coordinator.opening import open_league
from launch.config.config import Config, stored
from launch.config.env_spec import read_spec
from launch.matches.match import TEXT, open_environment, seat_actors
from launch.matches.playing import show
from launch.terminal.clean import clean
from launch.terminal.console import Console
from launch.topology.endpoints import Endpoints
from launch.topology.parts import learner_names
from launch.viewers.tables import all_standings, rating_text
from launch.viewers.view import ViewError, find_player, open_view
from league.ids import PlayerId
from league.spec import EnvSpec
from league.state import LeagueState
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.ticket import Episode, Fault, Result, Ticket, episode_seed
from league.wire.messages import Challenge, Message, Orders, Refused, Report, Verdict

ANSWER_SECONDS = 10.0  # to wait for the coordinator
QUIT = ("q", "quit", "exit")

Ask = Callable[[Message], Message]
Read = Callable[[str], str]


class QuitError(Exception):
    """The human quits the game."""


def play_human(
    run: RunDirectory,
    opponent: str,
    name: str = "human",
    role: str | None = None,
    games: int = 1,
    allow: Collection[str] = (),
    read: Read | None = None,
) -> int:
    """Let a human play rated games against a player, a seat further each time. Without `read`, ask at the terminal."""
    config, view = stored(run), open_view(run)
    find_player(view.state, opponent)
    with closing(open_environment(config.env, allow, (TEXT,))) as env:
        if not env.spec.single:
            raise ViewError(
                f"a move in {env.spec.name} is not one choice, and a terminal asks for nothing else. "
                f"Look on instead: ludus watch {run.name} {opponent} random"
            )
        if read is None and not sys.stdin.isatty():
            raise ViewError(
                "ludus play asks for your moves, and standard input is no terminal. Look on instead: "
                f"ludus watch {run.name} {opponent} random"
            )
        with coordinator_of(run, config, view.live) as ask:
            board = HumanGame(run, config, env, ask, TerminalTable(read or input), allow)
            for _ in range(games):
                if not board.game(PlayerId(name), PlayerId(opponent), role):
                    return 0
    _print_rating(open_view(run).state, name)
    return 0


def coordinator_of(run: RunDirectory, config: Config, live: bool) -> AbstractContextManager[Ask]:
    """Return what answers challenges and reports: the coordinator that runs, or the same code over the ledger."""
    return _by_wire(run, config) if live else _by_ledger(run, config)


@contextmanager
def _by_wire(run: RunDirectory, config: Config) -> Iterator[Ask]:
    """Ask the coordinator that runs."""
    with Endpoints(run, "human", config.launch.transport) as endpoints, closing(endpoints.coordinator()) as link:

        def ask(message: Message) -> Message:
            link.send(message)
            deadline = time.monotonic() + ANSWER_SECONDS
            while time.monotonic() < deadline:
                for answer, _ in link.receive(0.5):
                    if isinstance(answer, Orders | Refused):
                        return answer
            raise ViewError(f"the coordinator of {run.name} does not answer; try again when it is back")

        yield ask


@contextmanager
def _by_ledger(run: RunDirectory, config: Config) -> Iterator[Ask]:
    """Decide here, with the ledger locked for everybody else."""
    with Ledger.open(run.ledger, 0.0) as ledger:
        state = open_league(ledger, config.league, config.seed, read_spec(run), run.config_hash(), run.fold)
        coordinator = Coordinator(state, learner_names(config), time.monotonic())

        def ask(message: Message) -> Message:
            answer = coordinator.handle(None, message, time.monotonic())
            ledger.commit(coordinator.take())
            assert answer is not None  # challenges and reports are answered
            return answer

        yield ask


class GameTable(Protocol):
    """Where a human sits: shows the positions of a game, and asks for moves.

    table.present(spec, ticket, play(env, ticket, 0, seed, table.choose(spec, mine, bots)))
    """

    def choose(self, spec: EnvSpec, mine: Collection[int], bots: Choose) -> Choose:
        """Return what chooses actions: it asks the human for those of its entries; QuitError if the human quits."""

    def present(self, spec: EnvSpec, ticket: Ticket, frames: Frames) -> Episode:
        """Show every position, and return the outcome."""

    def note(self, line: str) -> None:
        """Say what became of the game."""


class TerminalTable:
    """A table at the terminal."""

    def __init__(self, read: Read) -> None:
        self._read, self._console = read, Console(highlight=False, markup=False)

    def choose(self, spec: EnvSpec, mine: Collection[int], bots: Choose) -> Choose:
        """Ask for moves by their numbers."""
        return choose_with_human(spec, mine, bots, self._read)

    def present(self, spec: EnvSpec, ticket: Ticket, frames: Frames) -> Episode:
        """Print every position."""
        return show(spec, ticket, 0, frames, 0.0, time.sleep)

    def note(self, line: str) -> None:
        """Print a line."""
        self._console.print(line)


class HumanGame:
    """A human at a table, and the coordinator behind it."""

    def __init__(
        self, run: RunDirectory, config: Config, env: Environment, ask: Ask, table: GameTable, allow: Collection[str]
    ) -> None:
        self._run, self._config, self._env, self._ask, self._table = run, config, env, ask, table
        self._allow = allow
        self._session = secrets.token_hex(8)
        self._requests = count(1)

    def game(self, name: PlayerId, opponent: PlayerId, role: str | None) -> bool:
        """Play one game and hand in its result; False if the human quits."""
        challenge = Challenge(
            request=next(self._requests), session=self._session, name=name, opponent=opponent, role=role
        )
        orders = self._ask(challenge)
        if isinstance(orders, Refused) or not isinstance(orders, Orders):
            raise ViewError(f"no game: {getattr(orders, 'reason', orders)}")
        (ticket,) = orders.tickets
        try:
            self._play(ticket, name)
        except (QuitError, EOFError, KeyboardInterrupt):
            fault = Fault(ticket=ticket.number, attempt=ticket.attempt, reason="the human quit")
            self._ask(self._report(name, fault=fault))
            self._table.note("\nnobody wins: the game is not counted")
            return False
        return True

    def _play(self, ticket: Ticket, name: PlayerId) -> None:
        seed = episode_seed(self._config.seed, ticket, ticket.attempt, 0)
        mine = {i for i, entry in enumerate(ticket.entries) if entry.player == name}
        bots = seat_actors(self._config, self._run, self._env, ticket, seed, self._allow, skip=mine).choose_in(seed)
        choose = self._table.choose(self._env.spec, mine, bots)
        outcome = self._table.present(self._env.spec, ticket, play(self._env, ticket, 0, seed, choose))
        result = Result(ticket=ticket.number, attempt=ticket.attempt, episodes=(outcome,))
        answer = self._ask(self._report(name, result=result))
        verdicts = [ack.verdict for ack in answer.acks] if isinstance(answer, Orders) else []
        if verdicts != [Verdict.ACCEPTED]:
            answered = ", ".join(verdicts) or getattr(answer, "reason", "no answer")
            self._table.note(f"the game was not counted ({answered}): it took too long, or the league ended meanwhile")

    def _report(self, name: PlayerId, result: Result | None = None, fault: Fault | None = None) -> Report:
        return Report(
            request=next(self._requests),
            name=f"human-{name}",
            session=self._session,
            results=() if result is None else (result,),
            faults=() if fault is None else (fault,),
        )


def choose_with_human(spec: EnvSpec, mine: Collection[int], bots: Choose, read: Read) -> Choose:
    """Return a function that asks the human for the moves of its entries, and bots for all others."""

    def choose(rows: Rows, entry: IntArray) -> IntArray:
        actions = bots(rows, entry)
        for row in np.flatnonzero(np.isin(entry, list(mine))).tolist():
            actions[row] = _ask_move(spec.agents[rows.agent[row]], np.flatnonzero(rows.mask[row]).tolist(), read)
        return actions

    return choose


def _ask_move(agent: str, legal: list[int], read: Read) -> int:
    """Read a move until it is legal."""
    prompt = f"you are {agent}; legal moves: {' '.join(map(str, legal))}; q quits > "
    while True:
        text = read(clean(prompt)).strip().lower()
        if text in QUIT:
            raise QuitError
        if text.isdecimal() and int(text) in legal:
            return int(text)
        prompt = f"{text!r} is not among {' '.join(map(str, legal))} > "


def _print_rating(state: LeagueState, name: str) -> None:
    row = next((row for row in all_standings(state) if row.player == name), None)
    if row is not None:
        Console(highlight=False).print(f"{name}: {rating_text(row)} over {row.games:.0f} games")
