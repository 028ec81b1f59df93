"""A disk is full: the league waits, or plays on without its trackers, and nothing is missing or double in the end."""

import csv

import pytest

from launch.topology.endpoints import Endpoints
from launch.trackers.exporting import export
from launch.trackers.readback import history
from launch.verify.verify import verify
from launch.viewers.view import open_view
from league.wire.messages import Follow, Page

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SMALL = [
    "experiment=tic_tac_toe",
    "league.budget.minutes=30",
    "launch.collectors=1",
    "collector.slots=32",
    "track.to=[csv,wandb]",
    "track.every=20",
    "track.seconds=60",
]


@pytest.fixture
def disk(mount, tmp_path):
    """Return the directory of the trackers, which is a small file system of its own."""
    return mount(tmp_path / "runs" / "league" / "track", size=8)


def counted(run):
    return sum(open_view(run).state.results.values())


def numbers(path):
    with path.open() as file:
        return sorted({int(line["row"]) for line in csv.DictReader(file)})


def test_trackers_on_a_full_disk_are_told_once_and_catch_up(start, patiently, disk, monkeypatch, tmp_path):
    monkeypatch.setenv("WANDB_MODE", "offline")
    league = start(*SMALL)
    csv_file = disk.path / "csv" / "points.csv"
    patiently(lambda: csv_file.exists() and numbers(csv_file), 120, "the first rows")
    patiently(lambda: list(disk.path.glob("wandb/offline-run-*/*.wandb")), 60, "the files of wandb")
    disk.fill()

    def told(name):
        return league.log.read_text().count(f"{name} is tried again later, play goes on: ")

    for name in ("tracker-0", "tracker-1"):
        patiently(lambda name=name: told(name), 90, f"the line of {name}")
    before, failed = league.results(), league.run.log("tracker", 0).read_text().count("No space left")
    patiently(lambda: league.run.log("tracker", 0).read_text().count("No space left") > failed, 60, "another try")
    patiently(lambda: league.results() > before + 20, 60, "play going on")
    assert (told("tracker-0"), told("tracker-1")) == (1, 1)
    disk.clear()
    rows = len(numbers(csv_file))
    patiently(lambda: len(numbers(csv_file)) > rows, 60, "rows after there is room again")
    patiently(lambda: len(list(disk.path.glob("wandb/offline-run-*/*.wandb"))) > 1, 60, "wandb's next life")
    assert league.interrupt(150) == 130, league.log.read_text()
    assert verify(league.run) == 0
    export(league.run, "csv", tmp_path / "whole")
    whole = numbers(tmp_path / "whole" / "points.csv")
    sent = {row["_step"] for path in disk.path.glob("wandb/offline-run-*/*.wandb") for row in history(path)}
    for live in (numbers(csv_file), sorted(sent)):
        assert live == whole[: len(live)]
        assert len(whole) - len(live) <= 2, "what was measured after the tracker had ended"


def test_a_coordinator_on_a_full_disk_serves_viewers_and_counts_each_result_once(
    serve, ask, work_honestly, patiently, mount, tmp_path
):
    """The whole run directory is on that disk, with the log of the coordinator."""
    disk = mount(tmp_path / "disk", size=8)
    process, run = serve(disk.path / "run")
    honest = work_honestly(run, "ipc")
    patiently(lambda: honest.report(5) and honest.counted >= 10, 30, "the first results")
    disk.fill()
    patiently(lambda: not honest.report(2), 60, "silence: nothing is told that was not written")
    before = honest.counted
    with Endpoints(run, "viewer", "ipc") as doors:
        viewer = doors.replica()
        for number in range(20):
            patiently(lambda n=number: isinstance(ask(viewer, Follow(request=n, since=0)), Page), 20, "an answer")
            assert not honest.report(0.2)
            assert process.poll() is None
    view = patiently(lambda: (found := open_view(run)).live and found, 20, "an answer")
    assert "the ledger cannot be written" in view.broken
    assert sum(view.state.results.values()) == before
    disk.clear()
    patiently(lambda: honest.report(5) and honest.counted >= before + 10, 60, "results after there is room again")
    patiently(lambda: honest.report(5) and counted(run) == honest.counted, 30, "one count for each result")
    assert open_view(run).broken == ""
    assert process.poll() is None
