"""Files that a tracker writes: every point once, whatever happened to the writer."""

import csv
from collections import Counter

import pytest

from launch.config.config import stored
from launch.matches.filming import Films
from launch.trackers.exporting import export
from launch.trackers.make_sink import check_trackers, make_sink
from launch.trackers.sink import SinkError
from launch.trackers.tracker import sink_context
from launch.viewers.curves import CurveRow


def read_csv(folder):
    with (folder / "points.csv").open() as file:
        return [(int(r["row"]), r["axis"], int(r["step"]), r["name"], float(r["value"])) for r in csv.DictReader(file)]


def read_events(folder):
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    found = []
    for path in sorted(folder.glob("events.out*")):
        for event in LegacyEventFileLoader(str(path)).Load():
            values = {v.tag: v.simple_value for v in event.summary.value if v.HasField("simple_value")}
            if values:
                number = int(values.pop("ludus/row"))
                found += [(number, event.step, name, value) for name, value in values.items()]
    return found


def expected(rows):
    return [(row.number, *point) for row in rows for point in row.points()]


def sink_at(run, name, folder, **more):
    say = more.pop("say", print)
    return make_sink(name, sink_context(stored(run), run, folder, say, Films(run, notify=say), **more))


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


def test_tensorboard_has_every_point_once_though_its_writer_died(drawn, rows_of, tmp_path):
    rows, folder = rows_of(drawn), tmp_path / "tensorboard"
    for count in (4, 9, len(rows)):
        sink = sink_at(drawn, "tensorboard", folder)
        have = sink.open()
        for row in rows[:count]:
            if row.number >= have:
                sink.write(row)
        sink.flush()
        files = sorted(folder.glob("events.out*"))
        if count == 9:
            with files[-1].open("ab") as file:
                file.write(b"\x10\x00\x00\x00torn")
        sink.close()
    got = sorted(
        (number, step, name, pytest.approx(value, rel=1e-6)) for number, step, name, value in read_events(folder)
    )
    assert got == sorted((number, step, name, value) for number, _, step, name, value in expected(rows))


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
    """A league of 3,000 env steps has ten points of each at least, over env steps, in both kinds of files."""
    export(drawn, "csv")
    points = [(axis, step, name, value) for _, axis, step, name, value in read_csv(drawn.root / "export" / "csv")]
    export(drawn, "tensorboard")
    events = read_events(drawn.root / "export" / "tensorboard")
    for name in FIRST_LOOK:
        mine = [(step, value) for axis, step, found, value in points if found == name and axis == "league/env_steps"]
        assert len(mine) >= 10, name
        assert [(step, pytest.approx(value, rel=1e-6)) for step, value in mine] == [
            (step, value) for _, step, found, value in events if found == name
        ]
    assert {axis for axis, _, name, _ in points if name.startswith("charts/")} == {"league/env_steps"}
    figure(f"{len(mine)} points of each of {len(FIRST_LOOK)} curves in a league of 3,000 env steps")


def test_export_to_a_place_that_cannot_be_written(drawn, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SinkError, match=r"cannot write to .*file/csv"):
        export(drawn, "csv", tmp_path / "file" / "csv")


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


def test_a_tracker_that_is_not_installed_is_refused(monkeypatch):
    monkeypatch.setattr("launch.trackers.make_sink.find_spec", lambda name: None)
    check_trackers(["csv"])
    with pytest.raises(SinkError, match="pip install tensorboard"):
        check_trackers(["csv", "tensorboard"])
