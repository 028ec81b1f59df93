"""`ludus export`: the same curves from the ledger."""

import pytest
from curve_files import expected, read_csv, read_events

from launch.trackers.exporting import export
from launch.trackers.sink import SinkError


def test_export_is_what_a_tracker_draws_and_is_not_drawn_twice(drawn, rows_of):
    told = []
    assert export(drawn, "csv", notify=told.append) == len(rows_of(drawn))
    folder = drawn.root / "export" / "csv"
    assert read_csv(folder) == expected(rows_of(drawn))
    before = (folder / "points.csv").read_bytes()
    export(drawn, "csv")
    assert (folder / "points.csv").read_bytes() == before
    assert str(folder) in told[0]


FIRST_LOOK = ("charts/episodic_return/main", "charts/episodic_length", "charts/win_rate/main_v_random")


def test_the_curves_that_people_look_for_first_are_in_the_files(drawn, figure):
    """A league of 3,000 env steps has eight points of each at least, over env steps, in both kinds of files."""
    export(drawn, "csv")
    points = [(axis, step, name, value) for _, axis, step, name, value in read_csv(drawn.root / "export" / "csv")]
    export(drawn, "tensorboard")
    events = read_events(drawn.root / "export" / "tensorboard")
    for name in FIRST_LOOK:
        mine = [(step, value) for axis, step, found, value in points if found == name and axis == "league/env_steps"]
        assert len(mine) >= 8, name
        assert [(step, pytest.approx(value, rel=1e-6)) for step, value in mine] == [
            (step, value) for _, step, found, value in events if found == name
        ]
    assert {axis for axis, _, name, _ in points if name.startswith("charts/")} == {"league/env_steps"}
    figure(f"{len(mine)} points of each of {len(FIRST_LOOK)} curves in a league of 3,000 env steps")


def test_export_to_a_place_that_cannot_be_written(drawn, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SinkError, match=r"cannot write to .*file/csv"):
        export(drawn, "csv", tmp_path / "file" / "csv")
