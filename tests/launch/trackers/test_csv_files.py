"""`track=csv`: every point once, whatever happened to the writer."""

from collections import Counter

import pytest
from curve_files import expected, read_csv, sink_at

from launch.viewers.curves import CurveRow


@pytest.mark.parametrize("torn", [0, 1, 40, 400])
def test_csv_that_was_torn_is_whole_again(drawn, rows_of, tmp_path, torn):
    rows, folder = rows_of(drawn), tmp_path / "csv"
    for part in (rows[:5], rows):
        sink = sink_at(drawn, "csv", folder)
        have = sink.open()
        for row in part:
            if row.number >= have:
                sink.write(row)
        sink.flush()
        if part is not rows:
            with (folder / "points.csv").open("r+b") as file:
                file.truncate((folder / "points.csv").stat().st_size - torn)
        sink.close()
    assert read_csv(folder) == expected(rows)
    assert (folder / "lineage.csv").read_text().startswith("player,kind,parent,snapshot\nmain,main,,\n")
    assert list((folder / "payoff").glob("*.csv"))


def test_csv_keeps_odd_names(drawn, tmp_path):
    row = CurveRow(
        number=0, seq=1, measured=0, axis="league/matches", matches=3, env_steps=9, elapsed=None,
        values={'elo/a,"b"': 0.1},
    )  # fmt: skip
    sink = sink_at(drawn, "csv", tmp_path)
    assert sink.open() == 0
    sink.write(row)
    sink.close()
    assert read_csv(tmp_path) == [(0, "league/matches", 3, 'elo/a,"b"', 0.1)]


def test_a_full_disk_costs_no_point(drawn, rows_of, tmp_path):
    """The sink breaks in the middle of a row; whoever opens it again finds what is whole, and goes on."""
    rows, folder = rows_of(drawn), tmp_path / "csv"
    sink = sink_at(drawn, "csv", folder)
    sink.open()
    for row in rows[:6]:
        sink.write(row)
    sink.flush()
    whole = (folder / "points.csv").read_bytes()
    sink.close()
    (folder / "points.csv").write_bytes(whole + b"6,league/matches,24,,elo/ma")
    sink = sink_at(drawn, "csv", folder)
    have = sink.open()
    assert have == 5, "the last row is written again: nobody knows whether it was whole"
    for row in rows[have:]:
        sink.write(row)
    sink.close()
    assert Counter(read_csv(folder)) == Counter(expected(rows))
