"""A reader's view of a run: the fold of its events, from its replica if one answers, else from the ledger.

    view = open_view(run)                       # once, whether the run is alive or not
    with following(run) as viewer:              # again and again
        while viewer.refresh(timeout=0.5): ...

All viewers fold the same events with the same code; none of them opens the ledger itself.
"""

import difflib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from launch.config.config import from_plain
from launch.terminal.spinner import Spinner
from launch.viewers.download import Download
from league import events
from league.errors import InputError
from league.event_check import unfit
from league.events import Event
from league.ids import PlayerId
from league.metrics import NASH_CONV, player_of
from league.player import Player
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply
from league.store.fold import fold_checked, folded
from league.store.in_place import look
from league.store.ledger import Ledger, LedgerError, Measured, open_copy
from league.store.run_directory import Rendezvous, RunDirectory
from league.wire.addresses import is_ipc
from league.wire.keys import load_client_keys
from league.wire.messages import FoldChunk, Follow, Page, Refused, Worker
from league.wire.ports import Client
from league.wire.sockets import PAGE_LIMIT, Sockets

ANSWER_SECONDS = 1.0  # without an answer after which a replica counts as gone, or is asked again
JUMP = 5000  # events that a viewer is behind before it asks for the fold of them instead
ROWS = 2000  # events that are read at once from a ledger

Observe = Callable[[int, Event, LeagueState], None]
"""Sees every event with its number, and the state just before it is applied."""


class Watcher(Protocol):
    """Gets every event and every row of metrics, in order; a tracker is one."""

    def before(self, seq: int, event: Event, state: LeagueState) -> None:
        """See an event, and the state just before it."""

    def event(self, seq: int, event: Event, state: LeagueState) -> None:
        """See an event, and the state just after it."""

    def metrics(self, row: Measured, state: LeagueState) -> None:
        """See a row of metrics, and the state as it was when it was measured."""


def see_nothing(seq: int, event: Event, state: LeagueState) -> None:
    """Observe events that only the fold needs."""


@runtime_checkable
class Searcher(Protocol):
    """Observes events, but needs few of them: offline it searches the ledger for these itself."""

    def __call__(self, seq: int, event: Event, state: LeagueState) -> None:
        """See an event, as any Observe."""

    def search(self, ledger: Ledger, state: LeagueState) -> None:
        """Find in the ledger what the calls would have found, whatever was found before."""


class ViewError(InputError):
    """A run, or a player of it, that cannot be shown; the message says why."""


class View:
    """The league as far as it is known here: the state after `seq` of `head` events, and who works on it.

    With a `watcher` it also reads the metrics, each row just after the events that it was measured after.
    """

    def __init__(self, config: LeagueConfig, observe: Observe = see_nothing, watcher: Watcher | None = None) -> None:
        self.state = LeagueState(config)
        self.seq = 0
        self.measured = 0  # the newest row of metrics that the watcher got
        self.notes: dict[str, str] = {}  # of trackers, known if metrics are read
        self.head = 0
        self.workers: tuple[Worker, ...] = ()
        self.elapsed = 0.0
        self.seconds_left: float | None = None
        self.live = False
        self.broken = ""  # why the coordinator cannot write now
        self.nash_conv: dict[
            str, float
        ] = {}  # by player, if they are measured; of a live league, its workers report it
        self._observe, self._watcher = observe, watcher

    @property
    def measures(self) -> bool:
        """Whether there is a watcher for the metrics."""
        return self._watcher is not None

    @property
    def sees_all(self) -> bool:
        """Whether an observer needs each event: then a checkpoint of the fold cannot replace the events before it."""
        return self.measures or not (self._observe is see_nothing or isinstance(self._observe, Searcher))

    def begin_at(self, state: LeagueState, seq: int, measured: int = 0) -> None:
        """Go on from a state that was folded before."""
        self.state, self.seq, self.measured = state, seq, measured

    @property
    def term(self) -> int:
        """The term of the newest coordinator."""
        return self.state.term

    def fold(self, seq: int, body: bytes) -> None:
        """Take in the next event."""
        try:
            event = events.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ViewError(
                f"event {seq} cannot be read ({error}): another version of Ludus wrote it, or it is damaged; "
                "`ludus verify` shows more"
            ) from error
        if reason := unfit(self.state, event):
            raise ViewError(
                f"the ledger is damaged or was altered: event {seq} {reason}. `ludus verify` checks all of it"
            )
        self._observe(seq, event, self.state)
        if self._watcher is not None:
            self._watcher.before(seq, event, self.state)
        apply(self.state, event)
        self.seq = seq
        if self._watcher is not None:
            self._watcher.event(seq, event, self.state)

    def take_in(self, bodies: Iterable[tuple[int, bytes]], metrics: Iterable[Measured]) -> None:
        """Take in the next events, and each row of metrics in its place among them."""
        rows = [row for row in reversed(list(metrics)) if row.id > self.measured]
        for seq, body in bodies:
            while rows and rows[-1].seq < seq:
                self._pass_on(rows.pop())
            self.fold(seq, body)
        while rows:
            self._pass_on(rows.pop())

    def search(self, ledger: Ledger) -> None:
        """Let an observer that needs few events look for them in the ledger."""
        if isinstance(self._observe, Searcher):
            self._observe.search(ledger, self.state)

    def _pass_on(self, row: Measured) -> None:
        if self._watcher is not None:
            self._watcher.metrics(row, self.state)
        self.measured = row.id


class Viewer(View):
    """A view that is asked from the replica, over the wire; replica and coordinator may die and come back.

    One that need not see each event (`skips`; by default one that observes nothing) may begin with the league's fold.
    """

    def __init__(
        self,
        client: Client,
        config: LeagueConfig,
        observe: Observe = see_nothing,
        clock: Callable[[], float] = time.monotonic,
        watcher: Watcher | None = None,
        skips: bool | None = None,
    ) -> None:
        super().__init__(config, observe, watcher)
        self._client, self._clock = client, clock
        nothing_seen = observe is see_nothing and watcher is None
        self._skips = nothing_seen if skips is None else skips
        self._download: Download | None = None
        self._request = 0
        self._asked_at: float | None = None
        self._newest_term = self._newest_row = 0

    @property
    def complete(self) -> bool:
        """Whether all events that the replica has announced are folded, and all metrics read."""
        return self.live and self.seq >= self.head and self.measured >= self._newest_row

    def refresh(self, timeout: float) -> bool:
        """Ask for what is new and wait up to `timeout` seconds for it; False if no answer came.

        It returns as soon as the view is complete. If time is up before, the next call goes on.
        """
        deadline, answered = self._clock() + timeout, False
        now = self._clock()
        if self._asked_at is None or now - self._asked_at >= ANSWER_SECONDS:
            self._ask(now)
        while True:
            for message, _ in self._client.receive(max(0.0, deadline - self._clock())):
                if isinstance(message, Refused):
                    raise ViewError(f"the replica refused: {message.reason}")
                if isinstance(message, Page | FoldChunk) and message.term >= self._newest_term:
                    self._take(message) if isinstance(message, Page) else self._take_chunk(message)
                    answered = True
            if (answered and self.complete) or self._clock() >= deadline:
                self.live = answered
                return answered

    def _ask(self, now: float) -> None:
        self._request += 1
        self._asked_at = now
        if self._download is not None:
            self._client.send(self._download.question(self._request))
            return
        measured = None if self._watcher is None else self.measured
        self._client.send(Follow(request=self._request, since=self.seq, measured=measured))

    def _take(self, page: Page) -> None:
        if page.head < self.seq:
            raise ViewError(
                f"the ledger has {page.head} events, but had {self.seq} before: an older copy was put in its place; "
                "start this viewer again"
            )
        if page.since == self.seq:  # a page that was asked for twice is folded once
            self.take_in(enumerate(page.events, start=page.since + 1), page.metrics)
        self._newest_term, self.head, self.workers = page.term, page.head, page.workers
        self._newest_row, self.notes = page.measured, page.notes
        self.elapsed, self.seconds_left, self.broken = page.elapsed, page.seconds_left, page.broken
        self.live = True
        self._asked_at = None
        if self._skips and self._download is None and self.head - self.seq > JUMP:
            self._download = Download()
        if not self.complete:
            self._ask(self._clock())

    def _take_chunk(self, chunk: FoldChunk) -> None:
        """Take a piece of the fold; with the last one, go on from there. A fold of no use is not asked for again."""
        if self._download is None or not self._download.take(chunk):
            return
        if self._download.complete:
            found = self._download.open(self.state.config)
            self._download, self._skips = None, found is not None
            if found is not None and found[1] > self.seq:
                self.begin_at(*found)
        self._ask(self._clock())

    def close(self) -> None:
        """Close the wire."""
        self._client.close()


def read_rules(run: RunDirectory) -> LeagueConfig:
    """Return the rules of the league of a run."""
    return from_plain(run.read_config()).league


def read_offline(run: RunDirectory, observe: Observe = see_nothing, watcher: Watcher | None = None) -> View:
    """Fold the ledger of a run that no coordinator serves."""
    return catch_up(View(read_rules(run), observe, watcher), run)


def catch_up(view: View, run: RunDirectory) -> View:
    """Fold what the view has not seen yet from the ledger; without observers, from the checkpoint of its fold."""
    try:
        with Spinner(f"reading {run.name}") as progress:
            if view.sees_all:  # and could not see anything twice, so it reads a copy, which never changes
                with open_copy(run.ledger) as ledger:
                    _read_on(view, ledger, progress)
                    _read_meta(view, ledger)
            else:
                look(run.ledger, lambda ledger: _resume(view, ledger, run.fold, progress))
    except LedgerError as error:
        raise ViewError(f"the run {run.name} cannot be read: {error}") from error
    minutes = view.state.config.budget.minutes
    view.seconds_left = None if minutes is None else max(0.0, minutes * 60 - view.elapsed)
    view.live, view.workers, view.broken = False, (), ""
    return view


def _read_on(view: View, ledger: Ledger, progress: Spinner) -> None:
    view.head = ledger.head
    while page := ledger.read(view.seq, ROWS):
        view.take_in(page, ledger.metrics(view.measured, page[-1][0]) if view.measures else [])
        progress.update(f"event {view.seq:,} of {view.head:,}")
    if view.measures:
        view.take_in([], ledger.metrics(view.measured, view.head))


def _resume(view: View, ledger: Ledger, checkpoint: Path, progress: Spinner) -> None:
    """Go on from a checkpoint of the fold to the end of the ledger. It may be called again with another ledger."""
    head = view.head = ledger.head
    state, _ = folded(checkpoint, view.state.config, ledger, lambda seq: progress.update(f"event {seq:,} of {head:,}"))
    view.begin_at(state, head)
    try:
        view.search(ledger)
    except (LookupError, TypeError, ValueError):
        fold_checked(state.config, ledger)  # an event that does not fit explains the error; if all fit, it is a bug
        raise
    _read_meta(view, ledger)


def _read_meta(view: View, ledger: Ledger) -> None:
    view.notes = ledger.notes()
    view.elapsed = float(ledger.meta("elapsed") or 0.0)
    if view.state.config.exploit_every is not None:
        view.nash_conv = last_figures(ledger, NASH_CONV)


def last_figures(ledger: Ledger, metric: str) -> dict[str, float]:
    """Return the newest value of a metric of players in a ledger, by player."""
    found, read = dict[str, float](), 0
    while rows := ledger.metrics(read, ledger.head, ROWS):
        read = rows[-1].id
        named = ((player_of(key, metric), value) for row in rows for key, value in row.values.items())
        found |= {player: value for player, value in named if player is not None}
    return found


@contextmanager
def replica_client(run: RunDirectory) -> Iterator[Client]:
    """Connect to a run's replica, which need not answer yet."""
    found = run.read_rendezvous("replica")
    if found is None:
        raise ViewError(f"no replica of the run {run.name} has started yet")
    keys = None if is_ipc(found.address) else load_client_keys(run.keys, "viewer")
    with Sockets(PAGE_LIMIT) as sockets, closing(sockets.connect(found.address, keys)) as client:
        yield client


@contextmanager
def following(run: RunDirectory, observe: Observe = see_nothing, watcher: Watcher | None = None) -> Iterator[Viewer]:
    """Open a viewer of a run's replica, which need not answer yet."""
    with replica_client(run) as client:
        yield Viewer(client, read_rules(run), observe, watcher=watcher)


def open_view(run: RunDirectory, observe: Observe = see_nothing, watcher: Watcher | None = None) -> View:
    """Return the run as it is now: from its replica if one answers, else from its ledger.

    The ledger only grows, so if a replica falls silent in the middle, the ledger has the rest.
    """
    if not may_answer(run.read_rendezvous("replica")):
        return read_offline(run, observe, watcher)
    with Spinner(f"reading {run.name}") as progress, following(run, observe, watcher) as viewer:
        while viewer.refresh(ANSWER_SECONDS):
            if viewer.complete:
                return viewer
            progress.update(f"event {viewer.seq:,} of {viewer.head:,}")
    return catch_up(viewer, run)


def may_answer(rendezvous: Rendezvous | None) -> bool:
    """Return whether a server may be there to answer: a closed ipc server leaves no file."""
    if rendezvous is None:
        return False
    return not is_ipc(rendezvous.address) or Path(rendezvous.address.removeprefix("ipc://")).exists()


def find_player(state: LeagueState, name: str) -> Player:
    """Return a player by name; the error on an unknown one names the nearest."""
    if PlayerId(name) in state.population:
        return state.population[PlayerId(name)]
    known = [str(player.id) for player in state.population]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known[:20])}"
    raise ViewError(f"there is no player {name!r}; {hint}")
