"""A game of a human against a player, for a page: a thread plays, and waits for the human's moves.

    table = PlayTable(run, allow)
    table.begin(Opening(opponent="main", seat=0))
    table.view()                        # the position, and the moves that are legal
    table.move(3)                       # returns when it is the human's turn again, or the game is over
    table.undo()

Undo plays the game again from its seed without the last moves, which works wherever a game depends on its seed only.
A game for a rating cannot be undone.
"""

import logging
import secrets
import threading
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import numpy as np

from collectors.envs.rows import Environment, IntArray, Rows
from collectors.episode import Choose, Frame, Frames, play
from launch.config.config import stored
from launch.dashboard.board_view import board_of
from launch.dashboard.considering import Mind
from launch.matches.human import HumanGame, QuitError, coordinator_of
from launch.matches.match import TEXT, describe_outcome, find_entry, open_environment, seat_actors, seat_pair
from launch.viewers.view import ViewError, find_player, open_view
from league.errors import LudusError
from league.ids import PlayerId
from league.policies.actions import Actions
from league.spec import EnvSpec
from league.store.run_directory import RunDirectory
from league.ticket import Entry, Episode, Ticket

log = logging.getLogger("ludus.dashboard")

MOVE_SECONDS = 30.0  # for a player to answer a move
LEAVE_SECONDS = 5.0  # for a game to end after its human has left
MOST_SEATS = 256
YOU = PlayerId("you")  # the human of a game that does not count


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """Which game is wanted. In a rated one the coordinator chooses the seat."""

    opponent: str
    seat: Annotated[int, msgspec.Meta(ge=0, le=MOST_SEATS)] = 0
    rated: bool = False
    name: str = "human"


class PlayError(ViewError):
    """A move or a game that is not possible; the message says why."""


class _Undone(Exception):  # noqa: N818  (the condition is the name)
    """The human took a move back."""


@dataclass(slots=True)
class GameProgress:
    """What the page sees of a game; changed and read with the lock of the table."""

    players: list[dict[str, Any]] = field(default_factory=list)
    frame: Frame = field(default_factory=lambda: Frame((), ""))
    log: list[str] = field(default_factory=list)
    turn: tuple[str, list[int]] | None = None  # the human's agent, and its legal moves
    chances: dict[int, float] = field(default_factory=dict)
    value: float | None = None
    outcome: str = ""
    problem: str = ""
    note: str = ""
    rated: bool = False
    moves: int = 0  # of the human
    over: bool = True


class PlayTable:
    """One table: one game at a time, played in a thread. It is also the `GameTable` of a rated game."""

    def __init__(self, run: RunDirectory, allow: Collection[str] = ()) -> None:
        self._run, self._allow, self._config = run, tuple(allow), stored(run)
        self._changed = threading.Condition()
        self._now = GameProgress()
        self._given: list[int | type[Exception]] = []  # the move that is asked for, or why there is none
        self._kept: list[tuple[Actions, bool]] = []  # the actions of each tick, and whether the human chose one
        self._forced: list[Actions] = []  # those of the game before something was undone
        self._opponent: Mind | None = None
        self._actions = 0  # of the game
        self._thread: threading.Thread | None = None  # that of the game; any other one has been left, and ends
        self._leaving = False  # whether that thread is to end, wherever it is
        self._beginning = threading.Lock()

    # --- what the page asks for ------------------------------------------------------------------------------

    def begin(self, opening: Opening) -> dict[str, Any]:
        """Begin a game, and leave the one under way."""
        with self._beginning:  # one after the other, if several pages ask at the same time
            self.leave()
            entry = find_entry(open_view(self._run).state, opening.opponent)
            thread = threading.Thread(target=self._play, args=(opening, entry), daemon=True, name="game")
            with self._changed:
                self._now = GameProgress(rated=opening.rated, over=False)
                self._given, self._kept, self._forced, self._thread = [], [], [], thread
            thread.start()
        return self._wait()

    def move(self, action: int) -> dict[str, Any]:
        """Make a move; return the position in which it is the human's turn again."""
        with self._changed:
            if self._now.turn is None or action not in self._now.turn[1]:
                raise PlayError(f"{action} is no legal move now")
            self._give(action)
        return self._wait()

    def undo(self) -> dict[str, Any]:
        """Take the last move of the human back."""
        with self._changed:
            if self._now.rated or not self._now.moves or self._now.turn is None:
                raise PlayError("there is nothing to take back: the game is rated or over, or you have not moved yet")
            self._give(_Undone)
        return self._wait()

    def leave(self) -> None:
        """Quit the game under way; a rated one is then not counted."""
        with self._changed:
            thread = self._thread
            if thread is None:
                return
            self._leaving = True
            self._changed.notify_all()
        thread.join(LEAVE_SECONDS)
        with self._changed:  # one that still thinks ends before its next move
            self._thread, self._leaving = None, False
            self._now.over, self._now.turn = True, None
            self._changed.notify_all()

    def view(self) -> dict[str, Any]:
        """Return the game as a page shows it."""
        with self._changed:
            now = self._now
            agent, legal = now.turn or ("", [])
            return {
                "players": now.players,
                "text": now.frame.text,
                "board": board_of(now.frame.text),
                "actions": self._actions,
                "log": list(now.log),
                "agent": agent,
                "legal": legal,
                "outcome": now.outcome,
                "problem": now.problem,
                "note": now.note,
                "rated": now.rated,
                "over": now.over,
                "undo": bool(now.moves and not now.rated and now.turn),
            }

    def considered(self) -> dict[str, Any]:
        """Return what the opponent would do in the human's place: probabilities of the legal moves, and the value."""
        with self._changed:
            return {"chances": self._now.chances, "value": self._now.value}

    def opponents(self) -> list[str]:
        """Return who can be played: those that can act, the newest first."""
        state = open_view(self._run).state
        able = [player.id for player in state.population if state.contestant(player.id) is not None]
        return [*(p.id for p in state.population.learning() if p.id in able), *reversed(able)]

    # --- between the page and the thread ---------------------------------------------------------------------

    def _give(self, what: int | type[Exception]) -> None:
        self._given, self._now.turn = [what], None
        self._changed.notify_all()

    def _wait(self) -> dict[str, Any]:
        with self._changed:
            ready = self._changed.wait_for(lambda: self._now.turn is not None or self._now.over, MOVE_SECONDS)
        if not ready:
            raise PlayError("the player takes too long; look again in a while")
        return self.view()

    # --- in the thread ---------------------------------------------------------------------------------------

    def _play(self, opening: Opening, entry: Entry) -> None:
        seed = secrets.randbits(31)
        try:
            while not self._play_once(opening, entry, seed):
                self._take_back()
        except QuitError:
            self._end("you left the game")
        except (LudusError, ValueError, OSError) as error:
            self._end("", problem=str(error))
        except Exception as error:  # of the environment, or of a network: the page says it, the log has where
            log.exception("the game failed")
            self._end("", problem=f"{type(error).__name__}: {error}")
        finally:
            with self._changed:
                if self._mine():
                    self._now.over, self._now.turn = True, None
                    self._changed.notify_all()

    def _mine(self) -> bool:
        """Whether this thread plays the game of the table; with the lock."""
        return threading.current_thread() is self._thread

    def _check(self) -> None:
        """End this thread if its game is left; with the lock."""
        if self._leaving or not self._mine():
            raise QuitError

    def _play_once(self, opening: Opening, entry: Entry, seed: int) -> bool:
        """Play to the end in a new environment; return False if the human takes a move back."""
        with closing(open_environment(self._config.env, self._allow, (TEXT,))) as env:
            if not env.spec.single:
                raise PlayError(f"a move in {env.spec.name} is not one choice, and this page offers nothing else")
            opponent = _mind(self._run, entry, env.spec, self._allow)
            with self._changed:
                self._check()
                self._actions, self._opponent = env.spec.actions, opponent
            if opening.rated:
                self._play_rated(opening, env)
                return True
            try:
                self._play_freely(opening, env, entry, seed)
                return True
            except _Undone:
                return False

    def _play_rated(self, opening: Opening, env: Environment) -> None:
        view = open_view(self._run)
        find_player(view.state, opening.opponent)
        with coordinator_of(self._run, self._config, view.live) as ask:
            game = HumanGame(self._run, self._config, env, ask, self, self._allow)
            game.game(PlayerId(opening.name), PlayerId(opening.opponent), None)

    def _play_freely(self, opening: Opening, env: Environment, entry: Entry, seed: int) -> None:
        ticket = seat_pair(open_view(self._run).state, env.spec, Entry(YOU, None, "random"), entry)
        ticket = msgspec.structs.replace(ticket, episodes=opening.seat + 1)
        mine = {place for place, one in enumerate(ticket.entries) if one.player == YOU}
        bots = seat_actors(self._config, self._run, env, ticket, seed, self._allow, skip=mine)
        choose = self.choose(env.spec, mine, bots.choose_in(seed))
        self.present(env.spec, ticket, play(env, ticket, opening.seat, seed, choose))

    def _take_back(self) -> None:
        """Keep the moves before the last one of the human."""
        with self._changed:
            last = max(i for i, (_, human) in enumerate(self._kept) if human)
            self._forced = [actions for actions, _ in self._kept[:last]]
            self._kept = []
            self._now.log, self._now.moves, self._now.outcome = [], 0, ""

    def choose(self, spec: EnvSpec, mine: Collection[int], bots: Choose) -> Choose:
        """Return what chooses: the moves of before, then the human and the player."""

        def chosen(rows: Rows, entry: IntArray) -> Actions:
            human = np.flatnonzero(np.isin(entry, list(mine))).tolist()
            actions = bots(rows, entry)  # also where its moves are known: it remembers what it saw
            if self._forced:
                actions = self._forced.pop(0)
            else:
                for row in human:
                    actions[row] = self._ask(spec, rows, row)
            with self._changed:
                self._check()
                self._kept.append((np.array(actions), bool(human)))
                self._now.moves += bool(human)
            return actions

        return chosen

    def _ask(self, spec: EnvSpec, rows: Rows, row: int) -> int:
        legal = np.flatnonzero(rows.mask[row]).tolist()
        chances, value = self._considered(rows, row, legal)
        with self._changed:
            self._check()
            self._given.clear()
            self._now.turn = spec.agents[rows.agent[row]], legal
            self._now.chances, self._now.value = chances, value
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._given or self._leaving or not self._mine())
            self._check()
            given = self._given.pop()
        if isinstance(given, type):
            raise given
        return given

    def _considered(self, rows: Rows, row: int, legal: list[int]) -> tuple[dict[int, float], float | None]:
        """Return what the opponent would do here; nothing if it is a script or remembers the game."""
        if self._opponent is None or self._opponent.actor.memory or self._opponent.actor.foreign:
            return {}, None
        chances, value = self._opponent.look(rows, row, 0, None, None)
        return {action: round(float(chances[action]), 4) for action in legal}, value

    def present(self, spec: EnvSpec, ticket: Ticket, frames: Frames) -> Episode:
        """Show every position; return the outcome."""
        while True:
            try:
                frame = next(frames)
            except StopIteration as stop:
                outcome: Episode = stop.value
                self._end(describe_outcome(ticket, outcome, spec.cooperative).strip())
                return outcome
            moves = [f"{ticket.entries[m.entry].player} ({spec.agents[m.agent]}) plays {m.action}" for m in frame.moves]
            with self._changed:
                self._check()
                self._now.frame = frame
                self._now.log += [", ".join(moves)] if moves else []

    def note(self, line: str) -> None:
        """Keep a line on what became of a rated game."""
        with self._changed:
            if self._mine():
                self._now.note = line.strip()

    def _end(self, outcome: str, problem: str = "") -> None:
        with self._changed:
            if self._mine():
                self._now.outcome, self._now.problem = outcome, problem


def _mind(run: RunDirectory, entry: Entry, spec: EnvSpec, allow: Collection[str]) -> Mind | None:
    """Return the network of an entry; None if it has none."""
    return None if entry.snapshot is None else Mind(run, entry.snapshot, spec, allow)
