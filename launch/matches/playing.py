"""`ludus watch` and `ludus replay`: one episode on the terminal, position by position.

Watch plays a new one between two players; replay shows a recorded one again, and its outcome must come out equal.
"""

import time
from collections import deque
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import replace

import numpy as np

from collectors.acting import Acting
from collectors.actors import Actors
from collectors.envs.config import EnvConfig, EnvError, make_environment
from collectors.envs.rows import Environment, HasRenderModes, IntArray, Rows
from collectors.episode import Choose, Frame, Frames, difference, play
from collectors.episode import replay as replay_episode
from launch.config.config import Config, from_plain, policies_of
from launch.terminal.console import Console
from launch.viewers.searching import newest_settled
from launch.viewers.view import ViewError, find_player, open_view
from league.events import Event, ResultCounted
from league.ids import PlayerId, TicketNumber
from league.lineup import pair_lineup
from league.player import Kind
from league.plugins import names
from league.policies.actions import Actions
from league.spec import EnvSpec
from league.state import LeagueState
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, Episode, Purpose, Ticket, seating

TEXT = "ansi"  # the render mode in which an environment returns text
RECENT = 5  # recorded episodes that are named when the one that was asked for is not there,
SEARCHED = 2000  # of the newest matches

Sleep = Callable[[float], None]


# --- watch ---------------------------------------------------------------------------------------------------


def watch(
    run: RunDirectory,
    a: str,
    b: str,
    seed: int = 0,
    delay: float = 0.5,
    allow: Collection[str] = (),
    sleep: Sleep = time.sleep,
) -> int:
    """Let two players play one episode, and show every position."""
    config, state = from_plain(run.read_config()), open_view(run).state
    first, second = find_entry(state, a), find_entry(state, b)
    with closing(showing_environment(config.env, allow)) as env:
        ticket = seat(state, env.spec, first, second)
        choose = casting(config, run, env.spec, ticket, seed, allow)
        show(env.spec, ticket, 0, play(env, ticket, 0, seed, choose), delay, sleep)
    return 0


def find_entry(state: LeagueState, name: str) -> Entry:
    """Return who plays under a name: a frozen player, the newest candidate of a learning one, or a bot.

    A bot is a name of the group ludus.bots or `package.module:Class`; whoever makes it asks whether it is allowed.
    """
    if PlayerId(name) not in state.population and (":" in name or name in names("ludus.bots")):
        return Entry(PlayerId(name), None, name)
    player = find_player(state, name)
    if player.kind == Kind.HUMAN:
        raise ViewError(f"{name!r} is a human, and only bots and weights can be watched")
    entry = state.contestant(player.id)
    if entry is None:
        raise ViewError(f"{name!r} has no candidate yet: its learner has not written one; try again in a while")
    return entry


def seat(state: LeagueState, spec: EnvSpec, first: Entry, second: Entry) -> Ticket:
    """Return a ticket with the first player on a side with a seat of its role, and the second in all other seats.

    Where all are on one side, the first has one seat.
    """
    role = state.population[first.player].role if first.player in state.population else None
    place = next((i for i, own in enumerate(spec.roles) if role in (None, own)), 0)
    left = [open_role for i, open_role in enumerate(spec.roles) if i != place]
    other = state.population[second.player].role if second.player in state.population else None
    if left and other is not None and other not in left:
        raise ViewError(
            f"{second.player!r} plays as {other}, but beside {first.player!r} the seats of {', '.join(left)} are left"
        )
    found = pair_lineup(spec, place, first, second, lambda entry, wanted: entry == second or role in (None, wanted))
    entries = tuple(second if entry is None else entry for entry in found)
    return Ticket(number=TicketNumber(0), purpose=Purpose.EVALUATE, entries=entries, episodes=1)


def casting(
    config: Config,
    run: RunDirectory,
    spec: EnvSpec,
    ticket: Ticket,
    seed: int,
    allow: Collection[str],
    skip: Collection[int] = (),
) -> Choose:
    """Return what chooses the actions: the actor of each entry, sampling as in evaluation; any for those to skip."""
    cache = config.collector.cache_megabytes << 20
    actors = Actors(spec, policies_of(config), SnapshotStore(run.snapshots), cache, allow)
    numbers: list[int] = []
    for place, seated in enumerate(ticket.entries):
        entry = Entry(seated.player, None, "random") if place in skip else seated
        try:
            number = actors.number(entry, lambda: set(numbers))
        except ValueError as error:  # weights or a bot of another environment
            raise ViewError(f"{entry.player!r} cannot play {spec.name}: {error}") from error
        assert number is not None  # only live weights can be missing
        numbers.append(number)
    acting = Acting(spec, 1, actors, np.random.default_rng(seed))

    def choose(rows: Rows, entry: IntArray) -> Actions:
        acted = acting.act(rows, np.array(numbers, np.int16)[entry])
        for fault in acted.faults:
            raise ViewError(fault.reason)
        return acted.actions

    return choose


# --- replay --------------------------------------------------------------------------------------------------


class Records:
    """Observes a fold: keeps the result of one ticket, and the names of the newest episodes that were recorded."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.ticket: Ticket | None = None
        self.result: ResultCounted | None = None
        self.recent: deque[str] = deque(maxlen=RECENT)

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """Take note of a result."""
        if not isinstance(event, ResultCounted):
            return
        if event.ticket == self._number:
            self.ticket, self.result = state.open[event.ticket], event
        self._note(event)

    def search(self, ledger: Ledger, state: LeagueState) -> None:
        """Find the ticket from the end of the ledger, and among the newest results those that were recorded."""
        self.ticket = self.result = None
        self.recent.clear()
        for ticket, event in newest_settled(ledger, 1, lambda ticket: ticket.number == self._number):
            if isinstance(event, ResultCounted):
                self.ticket, self.result = ticket, event
        for _, event in reversed(newest_settled(ledger, SEARCHED)):
            if isinstance(event, ResultCounted):
                self._note(event)

    def _note(self, event: ResultCounted) -> None:
        self.recent.extend(f"{event.ticket}.{i}" for i, episode in enumerate(event.episodes) if episode.actions)

    def find(self, episode: int | None) -> tuple[Ticket, ResultCounted, int]:
        """Return ticket, result and the number of the episode; the first recorded one if none was named."""
        if self.ticket is None or self.result is None:
            raise ViewError(f"ticket {self._number} has no result{self._hint()}")
        kept = [i for i, found in enumerate(self.result.episodes) if found.actions]
        if not kept or episode not in (None, *kept):
            missing = f"episode {episode}" if kept else "no episode"
            was = "was not recorded" if kept else "was recorded"
            raise ViewError(f"{missing} of ticket {self._number} {was}{self._hint(kept)}")
        return self.ticket, self.result, kept[0] if episode is None else episode

    def _hint(self, kept: Collection[int] = ()) -> str:
        recorded = [f"{self._number}.{i}" for i in kept] or list(self.recent)
        return (
            f"; recorded are, for example: {', '.join(recorded)}"
            if recorded
            else "; nothing is recorded in this run yet"
        )


def replay(
    run: RunDirectory, match: str, delay: float = 0.5, allow: Collection[str] = (), sleep: Sleep = time.sleep
) -> int:
    """Show a recorded episode, TICKET or TICKET.EPISODE; 1 if it does not come out as recorded."""
    number, episode = parse_match(match)
    config, records = from_plain(run.read_config()), Records(number)
    state = open_view(run, records).state
    ticket, result, index = records.find(episode)
    recorded = result.episodes[index]
    with closing(showing_environment(config.env, allow)) as env:
        frames = replay_episode(env, ticket, result.attempt, index, recorded.actions, state.seed)
        outcome = show(env.spec, ticket, index, frames, delay, sleep)
    if wrong := difference(recorded, outcome):
        Console().print(f"this is NOT what was recorded: {wrong}", style="red", highlight=False)
        return 1
    Console().print("the same outcome as recorded", style="green")
    return 0


def parse_match(text: str) -> tuple[int, int | None]:
    """Return the ticket and the episode, None for any.

    >>> parse_match("812"), parse_match("812.3")
    ((812, None), (812, 3))
    """
    ticket, dot, episode = text.partition(".")
    if not ticket.isdecimal() or (dot and not episode.isdecimal()):
        raise ViewError(f"{text!r} names no match; give TICKET or TICKET.EPISODE, e.g. 812 or 812.3 (ludus matches)")
    return int(ticket), int(episode) if dot else None


# --- on the terminal -----------------------------------------------------------------------------------------


def showing_environment(config: EnvConfig, allow: Collection[str] = ()) -> Environment:
    """Return an environment that shows positions as text of its own, if it says that it can."""
    env = make_environment(config, 1, allow)
    modes = env.render_modes if isinstance(env, HasRenderModes) else ()
    if TEXT not in modes or "render_mode" in config.kwargs:
        return env
    try:
        showing = make_environment(replace(config, kwargs={**config.kwargs, "render_mode": TEXT}), 1, allow)
    except EnvError:
        return env
    env.close()
    return showing


def show(spec: EnvSpec, ticket: Ticket, episode: int, frames: Frames, delay: float, sleep: Sleep) -> Episode:
    """Print every position, and return the outcome."""
    console = Console(highlight=False, markup=False)
    for seat_number, entry in enumerate(seating(spec.roles, episode, spec.sides)):
        agents = ", ".join(spec.agents[agent] for agent in spec.seats[seat_number].agents)
        console.print(f"{agents}: {describe(ticket.entries[entry])}")
    count = 0
    while True:
        try:
            frame = next(frames)
        except StopIteration as stop:
            outcome: Episode = stop.value
            console.print(told(ticket, outcome, spec.cooperative))
            return outcome
        _print_frame(console, spec, ticket, frame, count)
        count += 1
        if delay > 0:
            sleep(delay)


def _print_frame(console: Console, spec: EnvSpec, ticket: Ticket, frame: Frame, count: int) -> None:
    moves = [f"{spec.agents[m.agent]} ({ticket.entries[m.entry].player}) plays {m.action}" for m in frame.moves]
    if moves:
        console.print(f"\n{count}. {', '.join(moves)}", style="bold")
    if frame.text:
        console.print(frame.text, soft_wrap=True)


def describe(entry: Entry) -> str:
    """Return who plays, and with which weights."""
    if entry.snapshot is None and entry.bot is None:
        return f"{entry.player}, a human"
    return f"{entry.player}, {f'snapshot {entry.snapshot[:12]}' if entry.snapshot else f'bot {entry.bot}'}"


def told(ticket: Ticket, outcome: Episode, cooperative: bool = False) -> str:
    """Return the outcome in words."""
    seats = [f"{entry.player} {value:+g}" for entry, value in zip(ticket.entries, outcome.returns, strict=True)]
    best = [entry.player for entry, rank in zip(ticket.entries, outcome.ranks, strict=True) if rank == 0]
    if len(ticket.entries) == 1 or cooperative:
        verdict = "over"
    else:
        verdict = "a draw" if len(best) == len(ticket.entries) else f"{', '.join(dict.fromkeys(best))} wins"
    return f"\n{verdict} after {outcome.length} moves; returns: {', '.join(seats)}"
