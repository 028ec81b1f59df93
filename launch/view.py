"""What a reader knows of a run: the fold of its events, asked from a living coordinator or read from a copy.

    view = open_view(run)                       # one look, whether the run is alive or not
    with following(run) as viewer:              # a look again and again
        while viewer.refresh(timeout=0.5): ...

All viewers fold the same events with the same code; none of them opens the ledger itself.
"""

import difflib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from launch.config import from_plain
from launch.progress import Progress
from league import events
from league.events import Event
from league.ids import PlayerId
from league.player import Player
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply
from league.store.ledger import LedgerError, Measured, open_copy
from league.store.run_directory import Rendezvous, RunDirectory
from league.wire.addresses import is_ipc
from league.wire.keys import load_client_keys
from league.wire.messages import Follow, Page, Refused, Role, Worker
from league.wire.ports import Client
from league.wire.sockets import Sockets

PATIENCE = 1.0  # seconds without an answer after which a coordinator counts as gone, or is asked again
PAGE_LIMIT = 1 << 30  # bytes: a page of results with all their actions is far larger than other messages

Observe = Callable[[int, Event, LeagueState], None]
"""Sees every event with its number, and the state just before it is applied."""


class Watcher(Protocol):
    """Is told of everything that happened, in order: what a tracker is to a view."""

    def event(self, seq: int, event: Event, state: LeagueState) -> None:
        """See an event, and the state just after it."""

    def metrics(self, row: Measured, state: LeagueState) -> None:
        """See a row of metrics, and the state as it was when it was measured."""


def see_nothing(seq: int, event: Event, state: LeagueState) -> None:
    """Observe events that only the fold needs."""


class ViewError(ValueError):
    """A run that cannot be looked at; the message says why."""


class View:
    """The league as far as it is known here: the state after `seq` of `head` events, and who works on it.

    With a `watcher` it also reads the metrics, each row just after the events that it was measured after.
    """

    def __init__(self, config: LeagueConfig, observe: Observe = see_nothing, watcher: Watcher | None = None) -> None:
        self.state = LeagueState(config)
        self.seq = 0
        self.measured = 0  # the newest row of metrics that was told
        self.notes: dict[str, str] = {}  # of trackers, known if metrics are read
        self.head = 0
        self.workers: tuple[Worker, ...] = ()
        self.elapsed = 0.0
        self.seconds_left: float | None = None
        self.live = False
        self.broken = ""  # why the coordinator cannot write now
        self._observe, self._watcher = observe, watcher

    @property
    def measures(self) -> bool:
        """Whether somebody wants the metrics."""
        return self._watcher is not None

    def begin_at(self, state: LeagueState, seq: int, measured: int = 0) -> None:
        """Go on from a state that somebody folded before."""
        self.state, self.seq, self.measured = state, seq, measured

    @property
    def term(self) -> int:
        """The term of the newest coordinator."""
        return self.state.term

    def fold(self, seq: int, body: bytes) -> None:
        """Take in the next event."""
        try:
            event = events.decode(body)
        except msgspec.DecodeError as error:
            raise ViewError(
                f"event {seq} cannot be read ({error}): another version of Ludus wrote it, or it is damaged; "
                "`ludus verify` tells more"
            ) from error
        self._observe(seq, event, self.state)
        apply(self.state, event)
        self.seq = seq
        if self._watcher is not None:
            self._watcher.event(seq, event, self.state)

    def take_in(self, bodies: Iterable[tuple[int, bytes]], metrics: Iterable[Measured]) -> None:
        """Take in the next events, and each row of metrics in its place among them."""
        rows = [row for row in reversed(list(metrics)) if row.id > self.measured]
        for seq, body in bodies:
            while rows and rows[-1].seq < seq:
                self._tell(rows.pop())
            self.fold(seq, body)
        while rows:
            self._tell(rows.pop())

    def _tell(self, row: Measured) -> None:
        if self._watcher is not None:
            self._watcher.metrics(row, self.state)
        self.measured = row.id


class Viewer(View):
    """A view that is asked from a coordinator, over the wire; the coordinator may die and come back."""

    def __init__(
        self,
        client: Client,
        config: LeagueConfig,
        observe: Observe = see_nothing,
        clock: Callable[[], float] = time.monotonic,
        watcher: Watcher | None = None,
    ) -> None:
        super().__init__(config, observe, watcher)
        self._client, self._clock = client, clock
        self._request = 0
        self._asked_at: float | None = None
        self._newest_term = self._newest_row = 0

    @property
    def complete(self) -> bool:
        """Whether all events that the coordinator told of are folded, and all metrics read."""
        return self.live and self.seq >= self.head and self.measured >= self._newest_row

    def refresh(self, timeout: float) -> bool:
        """Ask for what is new and wait up to `timeout` seconds for it; False if no answer came.

        It returns as soon as the view is complete. If time is up before, the next call goes on.
        """
        deadline, answered = self._clock() + timeout, False
        now = self._clock()
        if self._asked_at is None or now - self._asked_at >= PATIENCE:
            self._ask(now)
        while True:
            for message, _ in self._client.receive(max(0.0, deadline - self._clock())):
                if isinstance(message, Refused):
                    raise ViewError(f"the coordinator refused: {message.reason}")
                if isinstance(message, Page) and message.term >= self._newest_term:
                    self._take(message)
                    answered = True
            if (answered and self.complete) or self._clock() >= deadline:
                self.live = answered
                return answered

    def _ask(self, now: float) -> None:
        self._request += 1
        self._asked_at = now
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
        if not self.complete:
            self._ask(self._clock())

    def close(self) -> None:
        """Close the wire."""
        self._client.close()


def read_rules(run: RunDirectory) -> LeagueConfig:
    """Return the rules of the league of a run."""
    return from_plain(run.read_config()).league


def read_offline(run: RunDirectory, observe: Observe = see_nothing, watcher: Watcher | None = None) -> View:
    """Fold a copy of the ledger: for a run that no coordinator serves."""
    return catch_up(View(read_rules(run), observe, watcher), run)


def catch_up(view: View, run: RunDirectory) -> View:
    """Fold what the view has not seen yet from a copy of the ledger."""
    try:
        with Progress(f"reading {run.name}") as progress, open_copy(run.ledger) as ledger:
            view.head = ledger.head
            while page := ledger.read(view.seq, 10_000):
                view.take_in(page, ledger.metrics(view.measured, page[-1][0]) if view.measures else [])
                progress.tell(f"event {view.seq:,} of {view.head:,}")
            if view.measures:
                view.take_in([], ledger.metrics(view.measured, view.head))
            view.notes = ledger.notes()
            view.elapsed = float(ledger.meta("elapsed") or 0.0)
    except LedgerError as error:
        raise ViewError(f"the run {run.name} cannot be read: {error}") from error
    minutes = view.state.config.budget.minutes
    view.seconds_left = None if minutes is None else max(0.0, minutes * 60 - view.elapsed)
    view.live, view.workers, view.broken = False, (), ""
    return view


@contextmanager
def following(run: RunDirectory, observe: Observe = see_nothing, watcher: Watcher | None = None) -> Iterator[Viewer]:
    """Open a viewer of a run's coordinator, which need not answer yet."""
    found = run.read_rendezvous()
    if found is None:
        raise ViewError(f"no coordinator of the run {run.name} has started yet")
    keys = None if is_ipc(found.address) else load_client_keys(run.keys, Role.VIEWER)
    with Sockets(PAGE_LIMIT) as sockets:
        viewer = Viewer(sockets.connect(found.address, keys), read_rules(run), observe, watcher=watcher)
        try:
            yield viewer
        finally:
            viewer.close()


def open_view(run: RunDirectory, observe: Observe = see_nothing, watcher: Watcher | None = None) -> View:
    """Return the run as it is now: from its coordinator if one answers, else from a copy of its ledger.

    The ledger only grows, so a coordinator may fall silent in the middle: the copy goes on from there.
    """
    if not _may_answer(run.read_rendezvous()):
        return read_offline(run, observe, watcher)
    with Progress(f"reading {run.name}") as progress, following(run, observe, watcher) as viewer:
        while viewer.refresh(PATIENCE):
            if viewer.complete:
                return viewer
            progress.tell(f"event {viewer.seq:,} of {viewer.head:,}")
    return catch_up(viewer, run)


def _may_answer(rendezvous: Rendezvous | None) -> bool:
    """Return whether it is worth while to wait for a coordinator: a closed ipc server leaves no file."""
    if rendezvous is None:
        return False
    return not is_ipc(rendezvous.address) or Path(rendezvous.address.removeprefix("ipc://")).exists()


def find_player(state: LeagueState, name: str) -> Player:
    """Return a player by name; an unknown one is answered with the nearest."""
    if PlayerId(name) in state.population:
        return state.population[PlayerId(name)]
    known = [str(player.id) for player in state.population]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known[:20])}"
    raise ViewError(f"there is no player {name!r}; {hint}")
