"""`ludus watch` and `ludus replay`: one episode on the terminal, position by position.

Watch plays a new one between two players; replay shows a recorded one again, and checks that the outcome is the same.
"""

import time
from collections import deque
from collections.abc import Callable, Collection
from contextlib import closing

from collectors.episode import Frame, Frames, difference
from collectors.episode import replay as replay_episode
from launch.config.config import stored
from launch.matches.match import TEXT, describe_entry, describe_outcome, open_environment, set_up
from launch.terminal.console import Console
from launch.viewers.searching import newest_settled
from launch.viewers.view import ViewError, open_view
from league.events import Event, ResultCounted
from league.spec import EnvSpec
from league.state import LeagueState
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.ticket import Episode, Ticket, seating

RECENT = 5  # recorded episodes that an error names when the wanted one is not there,
LONGEST_NUMBER = 18  # digits
SEARCHED = 2000  # among so many of the newest matches

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
    with set_up(run, a, b, seed=seed, allow=allow, render=(TEXT,)) as match:
        show(match.env.spec, match.ticket, 0, match.play(0, seed), delay, sleep)
    return 0


# --- replay --------------------------------------------------------------------------------------------------


class EpisodeFinder:
    """Observes a fold: keeps the result of one ticket, and the names of the newest episodes that were recorded."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.ticket: Ticket | None = None
        self.result: ResultCounted | None = None
        self.recent: deque[str] = deque(maxlen=RECENT)

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """Note a result."""
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
    """Show a recorded episode, TICKET or TICKET.EPISODE; return 1 if the outcome is not as recorded."""
    number, episode = parse_match(match)
    config, records = stored(run), EpisodeFinder(number)
    state = open_view(run, records).state
    ticket, result, index = records.find(episode)
    recorded = result.episodes[index]
    with closing(open_environment(config.env, allow, (TEXT,))) as env:
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
    if not _is_number(ticket) or (dot and not _is_number(episode)):
        raise ViewError(
            f"{text[:40]!r} names no match; give TICKET or TICKET.EPISODE, e.g. 812 or 812.3 (ludus matches)"
        )
    return int(ticket), int(episode) if dot else None


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= LONGEST_NUMBER


# --- on the terminal -----------------------------------------------------------------------------------------


def show(spec: EnvSpec, ticket: Ticket, episode: int, frames: Frames, delay: float, sleep: Sleep) -> Episode:
    """Print every position, and return the outcome."""
    console = Console(highlight=False, markup=False)
    for seat_number, entry in enumerate(seating(spec.roles, episode, spec.sides)):
        agents = ", ".join(spec.agents[agent] for agent in spec.seats[seat_number].agents)
        console.print(f"{agents}: {describe_entry(ticket.entries[entry])}")
    count = 0
    while True:
        try:
            frame = next(frames)
        except StopIteration as stop:
            outcome: Episode = stop.value
            console.print(describe_outcome(ticket, outcome, spec.cooperative))
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
