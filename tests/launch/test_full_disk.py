"""A disk that is really full: one clear line, and nothing that was recorded is lost."""

import subprocess

import pytest

from launch.cli import main
from launch.config import to_plain
from launch.exporting import export
from launch.filming import Films
from launch.start import stored
from launch.trackers.points import Curves
from launch.trackers.sink import ending, make_sink
from launch.trackers.tracker import place_of
from launch.view import read_offline

pytestmark = pytest.mark.slow

SIZE = 12 << 20


class Disk:
    """A small file system that can be filled."""

    def __init__(self, path):
        self.path = path

    def fill(self, leave=0):
        with (self.path / "rest").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                file.truncate(max(0, file.tell() - leave))

    def clear(self):
        (self.path / "rest").unlink()


@pytest.fixture
def disk(tmp_path):
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small file system (root)")
    yield Disk(path)
    subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.fixture
def run(run):
    config = stored(run)
    config.track.every = 4
    run.write_config(to_plain(config))
    return run


def rows_of(run):
    rows = []
    curves = Curves(stored(run).track, rows.append)
    read_offline(run, curves.observe, curves)
    return rows


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
def test_commands_say_so_in_one_line_and_work_when_there_is_room(run, disk, words, capsys, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    command, *more = words
    disk.fill(leave=4096)
    assert main([command, str(run.root), *more, str(disk.path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert "No space left on device" in said
    assert str(disk.path) in said
    disk.clear()
    assert main([command, str(run.root), *more, str(disk.path / "out")]) == 0


@pytest.mark.parametrize("name", ["csv", "tensorboard"])
def test_a_tracker_breaks_and_the_next_one_writes_every_row_once(run, disk, name, tmp_path):
    rows, folder = rows_of(run), disk.path / "track"

    def sink_there():
        return ending(make_sink(name, place_of(stored(run), run, folder, print, Films(run))))

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
    export(run, name, tmp_path / "whole")
    assert _numbers(name, folder) == _numbers(name, tmp_path / "whole") == [row.number for row in rows]


def _numbers(name, folder):
    if name == "csv":
        lines = (folder / "points.csv").read_text().splitlines()[1:]
        return sorted({int(line.partition(",")[0]) for line in lines})
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    events = [event for path in sorted(folder.glob("events*")) for event in LegacyEventFileLoader(str(path)).Load()]
    return [int(value.simple_value) for event in events for value in event.summary.value if value.tag == "ludus/row"]
