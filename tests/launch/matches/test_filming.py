"""Videos of evaluation episodes: each is what was played, is drawn once, and stops nothing if it cannot be drawn."""

import io
import os
import time

import pytest
from PIL import Image

from launch.config.config import stored, to_plain
from launch.matches.filming import Films
from launch.matches.recording import thinned
from launch.trackers.exporting import export
from launch.viewers.curves import Curves
from launch.viewers.view import read_offline


@pytest.fixture
def run(run):
    config = stored(run)
    config.track.every, config.track.videos = 50, 20
    run.write_config(to_plain(config))
    return run


def recordings_of(run):
    rows = []
    curves = Curves(stored(run).track, rows.append)
    read_offline(run, watcher=curves)
    return [row.recorded for row in rows if row.recorded is not None]


def test_a_scene_becomes_a_video_once(run):
    recorded, *_ = recordings_of(run)
    path = Films(run).make(recorded)
    assert path == run.root / "videos" / f"match-{recorded.name}.gif"
    with Image.open(path) as video:
        assert 6 <= video.n_frames <= 11  # tic-tac-toe has 5 to 9 moves, the first position and the outcome
    made = path.stat().st_mtime_ns
    assert Films(run).make(recorded) == path
    assert path.stat().st_mtime_ns == made


@pytest.mark.slow
def test_export_takes_the_videos_along(run, tmp_path):
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    names = [recorded.name for recorded in recordings_of(run)]
    assert names
    export(run, "csv", tmp_path / "csv")
    found = sorted((tmp_path / "csv" / "videos").glob("*.gif"), key=lambda path: int(path.name.partition("-")[0]))
    assert [path.name.partition("match-")[2] for path in found] == [f"{name}.gif" for name in names]
    export(run, "tensorboard", tmp_path / "board")
    (path,) = (tmp_path / "board").glob("events*")
    values = [value for event in LegacyEventFileLoader(str(path)).Load() for value in event.summary.value]
    videos = [value.image for value in values if value.tag == "video"]
    assert [video.encoded_image_string for video in videos] == [path.read_bytes() for path in found]
    with Image.open(io.BytesIO(videos[0].encoded_image_string)) as video:
        assert video.size == (videos[0].width, videos[0].height)


@pytest.mark.slow
def test_what_cannot_be_drawn_is_told_once_and_its_points_are_there(run, tmp_path):
    config = stored(run)
    config.env.name = "connect_four"  # it was another game
    run.write_config(to_plain(config))
    told = []
    assert export(run, "csv", tmp_path, told.append) > len(recordings_of(run)) >= 1
    left_out = [line for line in told if "videos are left out" in line]
    assert len(left_out) == 1
    assert "does not play as it did" in left_out[0]
    assert not (tmp_path / "videos").exists()


def test_an_environment_that_hangs_costs_its_video_only(run, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import time; time.sleep(600)\n")  # whoever starts Python here hangs
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    told, recorded = [], recordings_of(run)[0]
    began = time.monotonic()
    assert Films(run, notify=told.append, seconds=0.3).make(recorded) is None
    assert Films(run, notify=told.append, stopped=lambda: time.monotonic() - began > 1).make(recorded) is None
    assert time.monotonic() - began < 20
    assert [line.partition(": ")[2] for line in told] == ["it took longer than 0.3 s"], "to stop is no trouble"


def test_long_episodes_are_thinned():
    for length in (1, 5, 8, 9, 1000):
        kept = thinned(range(length), most=8)
        assert kept[0] == 0
        assert kept[-1] == length - 1
        assert len(kept) <= 9


def test_a_video_that_is_not_made_always_has_a_reason(run, monkeypatch, caplog):
    recorded = recordings_of(run)[0]
    assert Films(run, stopped=lambda: True).make(recorded) is None
    (run.root / "videos").write_text("a file where a directory should be")
    assert Films(run).make(recorded) is None
    reasons = [record.message.removeprefix(f"no video of match {recorded.name}: ") for record in caplog.records]
    assert reasons[0] == "the tracker had to stop before it was rendered; ludus export makes it"
    assert all(reason.strip() for reason in reasons)
    assert len(reasons) > 1
