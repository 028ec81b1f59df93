"""Trackers of a real league: killed with -9, in trouble with their server, and no point is lost or told twice."""

import csv
import os
import random
import signal
import time

import pytest
from fake_wandb import served

from launch.trackers.exporting import export
from launch.trackers.readback import history
from launch.verify.verify import verify

SMALL = [
    "experiment=tic_tac_toe",
    "league.budget.minutes=30",
    "launch.collectors=1",
    "collector.slots=32",
    "track.to=[csv,wandb]",
    "track.seconds=60",
]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def numbers(path):
    """Return the number of each row, in the order in which they stand; a row has many lines."""
    if not path.exists():
        return []
    with path.open() as file:
        lines = [int(line["row"]) for line in csv.DictReader(file)]
    return [n for i, n in enumerate(lines) if not i or lines[i - 1] != n]


def sent(server):
    """Return the number of each row that the server has of the one run that it knows, if it knows one yet."""
    assert len(server.history) <= 1, "one league is one run"
    return [row["_step"] for name in [*server.history] for row in server.rows(name)]


def test_kill_trackers_and_every_point_is_there_once(start, patiently, monkeypatch, tmp_path):
    with served() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
        league = start(*SMALL)
        patiently(league.results, 90, "the first result")
        rng = random.Random(3)
        for _ in range(5):
            time.sleep(rng.uniform(1.0, 5.0))
            for role in ("tracker", rng.choice(["replica", "tracker"])):
                pids = patiently(lambda role=role: league.children()[role], 60, f"a {role}")
                os.kill(rng.choice(pids), signal.SIGKILL)
        points = league.run.track / "csv" / "points.csv"
        patiently(lambda: numbers(points) and sent(server), 120, "the first rows")
        before, rows = league.results(), len(numbers(points))
        os.kill(league.children()["coordinator"][0], signal.SIGKILL)
        patiently(lambda: league.results() > before + 20, 60, "play going on")
        patiently(lambda: len(numbers(points)) > rows, 120, "curves going on")
        patiently(lambda: len(sent(server)) > rows, 120, "curves on the server going on")
        assert league.interrupt(150) == 130, league.log.read_text()
        run = league.run
        assert verify(run) == 0
        export(run, "csv", tmp_path / "whole")
        whole = numbers(tmp_path / "whole" / "points.csv")
        live = numbers(points)
        assert live == whole[: len(live)]
        assert len(whole) - len(live) <= 2, "what was measured after the tracker had ended"
        steps = sent(server)
        assert steps == whole[: len(steps)]
        assert len(whole) - len(steps) <= 2


def test_a_hanging_server_never_stops_play(start, patiently, monkeypatch):
    with served("hang") as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
        monkeypatch.setenv("WANDB_SERVICE", "3-1-unix-/gone")  # as if the launcher used wandb for something else
        league = start(*SMALL[:-2], "track=wandb", "track.seconds=5")
        patiently(league.results, 90, "the first result")
        patiently(lambda: "recording offline" in league.log.read_text(), 90, "the line that says so")
        before = league.results()
        patiently(lambda: league.results() > before + 50, 60, "play going on")
        folder = league.run.track / "wandb"
        patiently(lambda: [row for path in folder.glob("offline-run-*/*.wandb") for row in history(path)], 150, "rows")
        assert league.interrupt(60) == 130
        assert league.log.read_text().count("recording offline") == 1


def test_no_key_is_one_line_and_play_goes_on(start, patiently, monkeypatch, tmp_path):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "nobody"))
    league = start(*SMALL[:-2], "track=wandb", "track.mode=online", "track.seconds=20")
    patiently(lambda: "there is no key" in league.log.read_text(), 120, "the line that says so")
    before = league.results()
    patiently(lambda: league.results() > before + 50, 60, "play going on")
    folder = league.run.track / "wandb"
    patiently(lambda: [row for path in folder.glob("offline-run-*/*.wandb") for row in history(path)], 150, "rows")
    assert league.interrupt(60) == 130
    told = [line for line in league.log.read_text().splitlines() if "wandb" in line]
    assert len(told) == 1, told
    assert (
        "there is no key (WANDB_API_KEY, or `wandb login`); recording offline, send it later with: wandb sync"
        in told[0]
    )
