"""`ludus export`: rebuild all curves of a run from its ledger, at any time.

export(run, "csv", Path("curves"))          # the same points that a tracker writes while the league plays
"""

from collections.abc import Callable, Collection
from pathlib import Path

from launch.config.config import stored
from launch.matches.filming import Films
from launch.terminal.spinner import Spinner
from launch.trackers.make_sink import check_trackers, make_sink
from launch.trackers.sink import Sink, SinkError, closing_sink
from launch.trackers.tracker import sink_context
from launch.viewers.curves import CurveRow, Curves
from launch.viewers.probe_reports import read_probe_reports
from launch.viewers.view import open_view
from league.store.files import publish
from league.store.regular_file import read_text_of
from league.store.run_directory import RunDirectory


class _RowWriter:
    """Writes rows that the sink does not have yet, and counts all."""

    def __init__(self, sink: Sink, have: int, progress: Spinner) -> None:
        self._sink, self._have, self._progress = sink, have, progress
        self.count = 0

    def __call__(self, row: CurveRow) -> None:
        if row.number >= self._have:
            self._sink.write(row)
        self.count += 1
        self._progress.update(f"match {row.matches:,}")


def _identity(folder: Path, id: str) -> tuple[str, Callable[[str], None]]:
    """Return the id under which an export to this folder was sent, else the given one, and a function that keeps it."""
    path = folder / "id.txt"

    def keep(id: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        publish(path, id.encode())

    return read_text_of(path) if path.exists() else id, keep


def export(
    run: RunDirectory,
    to: str,
    out: Path | None = None,
    notify: Callable[[str], None] = lambda line: None,
    allow: Collection[str] = (),
    id: str = "",
) -> int:
    """Write every point of a run to a sink, but none that is there already; return how many rows it has then.

    The next export to the same folder goes on with the same run of W&B; the first one with that of `id`, if given.
    """
    check_trackers([to])
    config = stored(run)
    folder = out or run.inside(run.root / "export" / to)
    if config.track.videos:
        run.inside(run.videos)  # videos that are there already are sent as they are
    try:
        context = sink_context(config, run, folder, notify, Films(run, allow, notify), *_identity(folder, id))
        with Spinner(f"export to {to}") as progress, closing_sink(make_sink(to, context)) as sink:
            writer = _RowWriter(sink, sink.open(), progress)
            curves = Curves(config.track, writer)
            view = open_view(run, watcher=curves)
            curves.add_probes(read_probe_reports(run), view.seq, view.state)
    except OSError as error:
        raise SinkError(f"cannot write to {folder}: {error.strerror or error}") from error
    notify(f"{writer.count:,} rows of curves in {folder}")
    return writer.count
