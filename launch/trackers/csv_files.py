"""`track=csv`: one file of points, and the payoff tables, family trees and videos beside it.

row,axis,step,elapsed,name,value
0,league/matches,20,,elo/main,12.5
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from launch.trackers.sink import SinkContext
from launch.viewers.curves import CurveRow
from league import limits
from league.standings import PayoffTable
from league.store.files import publish
from league.store.regular_file import open_regular, read_regular

HEAD = b"row,axis,step,elapsed,name,value\n"
BLOCK = 1 << 20  # bytes from the end in which the last row begins


class CsvFiles:
    """Points in the order in which they were measured; the last row is written again if it was cut."""

    id = ""

    def __init__(self, context: SinkContext) -> None:
        self._folder, self._film = context.folder, context.film
        self._file: IO[bytes] | None = None

    def open(self) -> int:
        """Open the file; cut off the last row, which may be torn."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / "points.csv"
        if not path.exists():
            path.write_bytes(HEAD)
        have, end = _whole(path)
        self._file = path.open("r+b")
        self._file.truncate(end)
        self._file.seek(end)
        return have

    def write(self, row: CurveRow) -> None:
        """Write all points of a row at once."""
        assert self._file is not None
        text = io.StringIO()
        elapsed = "" if row.elapsed is None else f"{row.elapsed:.3f}"
        lines = [(row.number, axis, step, elapsed, name, repr(value)) for axis, step, name, value in row.points()]
        csv.writer(text, lineterminator="\n").writerows(lines)
        self._file.write(text.getvalue().encode())
        if row.payoff is not None:
            self._tables(row, row.payoff)
        if row.recorded is not None and (video := self._film(row.recorded)) is not None:
            path = self._folder / "videos" / f"{row.matches}-{video.name}"
            path.parent.mkdir(exist_ok=True)
            publish(path, read_regular(video, limits.WEIGHTS_FILE))

    def _tables(self, row: CurveRow, payoff: PayoffTable) -> None:
        lines = zip(payoff.players, payoff.cells, strict=True)
        scores = [(player, *("" if cell is None else cell.score for cell in cells)) for player, cells in lines]
        _table(self._folder / "payoff" / f"{row.matches}.csv", ("player", *payoff.players), scores)
        family = [(a.player, a.kind, a.parent or "", a.snapshot or "") for a in row.lineage]
        _table(self._folder / "lineage.csv", ("player", "kind", "parent", "snapshot"), family)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        assert self._file is not None
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _table(path: Path, head: Sequence[str], lines: Sequence[tuple[object, ...]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *lines])
    path.parent.mkdir(parents=True, exist_ok=True)
    publish(path, text.getvalue().encode())


def _whole(path: Path) -> tuple[int, int]:
    """Return how many rows are surely whole, and where they end: the last one may lack points."""
    size = path.stat().st_size
    with open_regular(path) as file:
        file.seek(start := max(0, size - BLOCK))
        block = file.read()
    lines = block.split(b"\n")[:-1]  # what has no end is torn
    last = lines[-1].partition(b",")[0] if lines else b""
    if not last.isdigit():
        return 0, len(HEAD)
    at = len(block) - len(block.rpartition(b"\n")[2])
    for line in reversed(lines):
        if line.partition(b",")[0] != last:
            break
        at -= len(line) + 1
    return int(last), start + at
