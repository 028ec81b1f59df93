"""A disk that is really full: one clear line, and nothing that was recorded is lost."""

import pytest

from launch.cli import main
from launch.config.config import stored
from launch.matches.filming import Films
from launch.trackers.exporting import export
from launch.trackers.make_sink import make_sink
from launch.trackers.sink import closing_sink
from launch.trackers.tracker import sink_context

pytestmark = pytest.mark.slow


@pytest.fixture
def disk(mount, tmp_path):
    return mount(tmp_path / "disk", size=12)


@pytest.mark.parametrize(
    "words",
    [
        ["report", "--out"],
        ["export", "--to", "csv", "--out"],
        ["export", "--to", "tensorboard", "--out"],
        ["export", "--to", "wandb", "--out"],
        ["record", "main", "random", "--out"],
    ],
    ids=lambda words: "-".join(words[:3]),
)
def test_commands_say_so_in_one_line_and_work_when_there_is_room(drawn, disk, words, capsys, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    command, *more = words
    disk.fill(leave=4096)
    assert main([command, str(drawn.root), *more, str(disk.path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert "No space left on device" in said
    assert str(disk.path) in said
    disk.clear()
    assert main([command, str(drawn.root), *more, str(disk.path / "out")]) == 0


@pytest.mark.parametrize("name", ["csv", "tensorboard"])
def test_a_tracker_breaks_and_the_next_one_writes_every_row_once(drawn, rows_of, disk, name, tmp_path):
    rows, folder = rows_of(drawn), disk.path / "track"

    def sink_there():
        return closing_sink(make_sink(name, sink_context(stored(drawn), drawn, folder, print, Films(drawn))))

    def write_until_full():
        with sink_there() as sink:
            assert sink.open() == 0
            for row in rows:
                if row.number == 5:
                    disk.fill()
                sink.write(row)
                sink.flush()

    with pytest.raises(OSError, match="No space left on device"):
        write_until_full()
    disk.clear()
    with sink_there() as sink:
        have = sink.open()
        assert 4 <= have < len(rows), "some fitted into the last block"
        for row in rows[have:]:
            sink.write(row)
    export(drawn, name, tmp_path / "whole")
    assert _numbers(name, folder) == _numbers(name, tmp_path / "whole") == [row.number for row in rows]


def _numbers(name, folder):
    if name == "csv":
        lines = (folder / "points.csv").read_text().splitlines()[1:]
        return sorted({int(line.partition(",")[0]) for line in lines})
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    events = [event for path in sorted(folder.glob("events*")) for event in LegacyEventFileLoader(str(path)).Load()]
    return [int(value.simple_value) for event in events for value in event.summary.value if value.tag == "ludus/row"]
