"""A tracker process: follows the replica and feeds one sink. It may die, hang or lag: nobody waits for it.

It pulls. What it has not written yet is in the ledger, so it needs no queue, drops nothing, and an unreachable
server costs the league nothing. It notes its position in the ledger.
"""

import logging
import time
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from launch.config.config import Config, to_plain
from launch.matches.filming import Films
from launch.topology.endpoints import Endpoints
from launch.trackers.make_sink import make_sink
from launch.trackers.sink import HasAlerts, Sink, SinkContext, SinkError, closing_sink
from launch.viewers.alarms import Bell, RatingPoint, RatingTrail, find_alarms
from launch.viewers.curves import CurveRow, Curves, Position
from launch.viewers.live import signs_of
from launch.viewers.view import ANSWER_SECONDS, Viewer
from league.metrics import ELO, MARGIN
from league.rulebook import LeagueConfig
from league.state import LeagueState
from league.store.fold import read_fold
from league.store.run_directory import RunDirectory
from league.wire.messages import Done, Follow, Note, Page, Refused
from league.wire.ports import Client
from league.wire.sockets import PAGE_LIMIT

log = logging.getLogger("ludus.tracker")

REFRESH_SECONDS = 1.0  # between two requests for new events
ALARM_SECONDS = 30.0  # between two looks for alarms
NOTE_SECONDS = 5.0  # between two notes of the position
NEVER = 1 << 60  # an event that never happens: asking for what comes after it is asking for the notes alone


class Kept(msgspec.Struct, frozen=True):
    """What a tracker keeps in the ledger."""

    id: str = ""
    position: Position = Position()


def track(
    config: Config, run: RunDirectory, index: int, stopped: Callable[[], bool], allow: Collection[str] = ()
) -> None:
    """Feed the sink with this index until it is time to stop; then send what is left."""
    name = config.track.to[index]
    with Endpoints(run, f"tracker-{index}", config.launch.transport, PAGE_LIMIT) as endpoints:
        link = endpoints.replica()
        kept = ask_kept(link, name, stopped)
        if kept is None:
            return
        films = Films(run, allow, print_line, stopped)
        context = sink_context(config, run, run.track / name, print_line, films, kept.id, keeper(link, name, stopped))
        with closing_sink(make_sink(name, context)) as sink:
            tracker = Tracker(name, sink, link, config, run.fold, kept)
            while not stopped():
                tracker.step(REFRESH_SECONDS)
            tracker.finish(config.track.seconds / 2)


def print_line(line: str) -> None:
    """Show the user a line, through the process that started this one."""
    print(line, flush=True)  # noqa: T201  (standard output is the way to it)


def sink_context(
    config: Config,
    run: RunDirectory,
    folder: Path,
    notify: Callable[[str], None],
    films: Films,
    id: str = "",
    keep: Callable[[str], None] = lambda id: None,
) -> SinkContext:
    """Return what the sink of a run works with."""
    return SinkContext(
        folder=folder,
        run=config.name,
        track=config.track,
        config=to_plain(config),
        snapshots=run.snapshots,
        notify=notify,
        film=films.make,
        id=id,
        keep=keep,
    )


def ask_kept(link: Client, name: str, stopped: Callable[[], bool]) -> Kept | None:
    """Ask the replica what this tracker kept; None if it is time to stop before it answers."""
    while not stopped():
        link.send(Follow(request=0, since=NEVER, measured=NEVER))
        for message, _ in link.receive(ANSWER_SECONDS):
            if isinstance(message, Page):
                text = message.notes.get(name)
                return Kept() if text is None else msgspec.json.decode(text, type=Kept)
    return None


def keeper(link: Client, name: str, stopped: Callable[[], bool]) -> Callable[[str], None]:
    """Return a function that keeps the id of a sink in the ledger, and returns when it is durable there."""

    def keep(id: str) -> None:
        while not stopped():
            link.send(Note(request=0, name=name, text=_text(Kept(id))))
            for message, _ in link.receive(ANSWER_SECONDS):
                if isinstance(message, Refused):
                    raise SinkError(f"the replica refused to keep the id of the run: {message.reason}")
                if isinstance(message, Done) and message.request == 0:
                    return
        raise SinkError("it was time to stop before the id of the run was in the ledger")

    return keep


def _text(kept: Kept) -> str:
    return msgspec.json.encode(kept).decode()


def beginning(kept: Position, have: int, fold: Path, rules: LeagueConfig) -> tuple[Position, LeagueState | None, int]:
    """Return from where to go on: the position that was kept, if the sink has all up to it, else the beginning.

    A checkpoint of the fold saves folding from the first event on, unless episodes before it are still to be gathered,
    or the environment has variants: their curves are made of all events.
    """
    start = kept if kept.number <= have else Position()
    found = read_fold(fold, rules)
    if found is None or found[1] > start.gathered or (found[0].env is not None and found[0].env.variants):
        return start, None, 0
    return start, *found


class Tracker:
    """Between a viewer and a sink."""

    def __init__(self, name: str, sink: Sink, link: Client, config: Config, fold: Path, kept: Kept) -> None:
        self._name, self._sink, self._link = name, sink, link
        self._have = sink.open()
        start, state, seq = beginning(kept.position, self._have, fold, config.league)
        self._rows: list[CurveRow] = []
        curves = Curves(config.track, self._rows.append, start)
        self._viewer = Viewer(link, config.league, watcher=curves)
        if state is not None:
            self._viewer.begin_at(state, seq, start.measured)
        self._request = 0
        self._noted_at = self._rang_at = float("-inf")
        self._folder, self._bell, self._trails = fold.parent, Bell(), dict[str, RatingTrail]()
        self._last: CurveRow | None = None
        log.info("%s has %d rows; going on from event %d", name, self._have, start.seq)

    def step(self, timeout: float) -> bool:
        """Look once, and write what is new; True if all that happened is written."""
        before = time.monotonic()
        answered = self._viewer.refresh(timeout)
        for row in self._rows:
            self._follow_ratings(row)
            if row.number >= self._have:
                self._sink.write(row)
        if self._rows:
            self._last = self._rows[-1]
            self._rows.clear()
            self._sink.flush()
        self._note()
        if answered and self._viewer.complete:
            self._ring()
            time.sleep(max(0.0, timeout - (time.monotonic() - before)))
        return answered and self._viewer.complete

    def _ring(self) -> None:
        """Pass on the alarms that are new, if the sink can call somebody."""
        now = time.monotonic()
        if not isinstance(self._sink, HasAlerts) or now - self._rang_at < ALARM_SECONDS:
            return
        self._rang_at = now
        signs = signs_of(self._viewer, {player: trail.points for player, trail in self._trails.items()}, self._folder)
        for alarm in self._bell.new(find_alarms(self._viewer.state, signs)):
            self._sink.alert(alarm)

    def _follow_ratings(self, row: CurveRow) -> None:
        """Keep the course of the ratings of mains, as it is drawn."""
        for player in self._viewer.state.mains():
            for scale in (ELO, MARGIN):
                found = [row.values.get(f"{scale}{player.id}{end}") for end in ("", "_low", "_high")]
                if None not in found:
                    rating, low, high = (value for value in found if value is not None)
                    point = RatingPoint(row.env_steps, rating, low, high)
                    self._trails.setdefault(player.id, RatingTrail()).note(point)

    def _note(self) -> None:
        now = time.monotonic()
        if self._last is None or now - self._noted_at < NOTE_SECONDS:
            return
        row, self._last, self._noted_at = self._last, None, now
        self._request += 1
        kept = Kept(self._sink.id, Position(row.number + 1, row.seq, row.measured, row.filmed, row.gathered))
        self._link.send(Note(request=self._request, name=self._name, text=_text(kept)))

    def finish(self, seconds: float) -> None:
        """Write what happened until now, as far as time allows."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self.step(0.2):
            pass
        self._noted_at = float("-inf")
        self._note()
