"""What a tracker writes to.

    with closing_sink(make_sink("csv", context)) as sink:
        have = sink.open()                      # how many rows are there already, from earlier trackers
        for row in rows:
            if row.number >= have:
                sink.write(row)

The sink itself knows what is there already, not the tracker that wrote last: it may be killed between writing a
row and noting that it did.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from launch.config.track import TrackConfig
from launch.viewers.alarms import Alarm
from launch.viewers.curves import CurveRow, RecordedEpisode
from league.errors import InputError


class SinkError(InputError):
    """A sink that cannot be written to; the message says why, in one line."""


class Sink(Protocol):
    """Takes rows in the order of their numbers."""

    @property
    def id(self) -> str:
        """The name under which it can be opened again; empty if its folder is enough."""

    def open(self) -> int:
        """Open it and return how many rows are there; raise SinkError if it cannot be opened."""

    def write(self, row: CurveRow) -> None:
        """Write the next row."""

    def flush(self) -> None:
        """Hand what was written to the operating system: it survives the death of this process."""

    def close(self) -> None:
        """Finish in order."""


@runtime_checkable
class HasAlerts(Protocol):
    """A sink that can call somebody: it gets each alarm of a league once."""

    def alert(self, alarm: Alarm) -> None:
        """Pass an alarm on; a failure is reported to the user, and raises nothing."""


@contextmanager
def closing_sink(sink: Sink) -> Iterator[Sink]:
    """Close a sink in the end. If it broke, the first error is raised, and nothing that is left in it is written."""
    try:
        yield sink
    except BaseException:
        with suppress(Exception):
            sink.close()
        raise
    sink.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkContext:
    """What a sink works with: where to write, which run it is, and how to notify the user."""

    folder: Path
    run: str
    track: TrackConfig
    config: dict[str, Any]
    snapshots: Path
    notify: Callable[[str], None]
    film: Callable[[RecordedEpisode], Path | None]  # makes a video, if it can
    id: str = ""  # its name from an earlier tracker
    keep: Callable[[str], None] = lambda id: None  # called with a new id, before anything is made under it
