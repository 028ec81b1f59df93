"""Commands on a run that is under way, or is not."""

import math
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from launch import operating
from launch.cli import main
from launch.viewers.view import open_view
from league.store.run_directory import RunDirectory


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = RunDirectory(tmp_path / "runs" / "first").create()
    made.write_config({})
    made.log("coordinator", 0).write_text("one\ntwo\nthree\n")
    made.log("collector", 10).write_text("ten\n")
    return made


def test_logs_of_all_of_a_role_and_of_one(run, capsys):
    assert main(["logs", "first", "-n", "2"]) == 0
    assert capsys.readouterr().out == "collector-10: ten\ncoordinator-0: two\ncoordinator-0: three\n"
    for role in ("collector", "collector-10"):
        assert main(["logs", "first", role]) == 0
        assert capsys.readouterr().out == "collector-10: ten\n"
    assert main(["logs", "first", "collector-1"]) == 2
    assert "there is no log of 'collector-1'; there are: collector-10, coordinator-0" in capsys.readouterr().err


def test_logs_are_followed_by_whole_lines(run, capsys, monkeypatch):
    monkeypatch.setattr(operating, "REFRESH_SECONDS", 0.01)

    class Enough(Exception):  # noqa: N818
        pass

    seen = []

    def listen(line):
        seen.append(line)
        if line.endswith("whole"):
            raise Enough

    def write():
        with run.log("collector", 10).open("a") as file:
            for text in ("ha", "lf\n", "who", "le\n"):
                file.write(text)
                file.flush()
                time.sleep(0.03)

    monkeypatch.setattr(operating, "print_line", listen)
    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(Enough):
        operating.logs(run, "collector", follow=True)
    writer.join()
    assert seen == ["collector-10: ten", "collector-10: half", "collector-10: whole"]


@pytest.mark.parametrize("text", ["collectors", "collectors=many", "learners=2", "collectors=-1"])
def test_only_collectors_can_be_scaled(run, text, capsys):
    assert main(["scale", "first", text]) == 2
    assert "write collectors=NUMBER" in capsys.readouterr().err


def test_a_run_that_is_not_on_slurm_cannot_be_scaled(played, capsys):
    assert main(["scale", str(played[0].root), "collectors=2"]) == 2
    assert "was not launched on Slurm" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["pause", "unpause"])
def test_a_run_that_nobody_serves_cannot_be_paused(played, command, capsys):
    assert main([command, str(played[0].root)]) == 2
    assert "no coordinator of the run" in capsys.readouterr().err


def test_a_run_that_nobody_serves_cannot_be_stopped(played, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("launch.topology.endpoints.drain", lambda config, run: asked.append(run))
    assert not played[0].rendezvous.exists()
    assert main(["stop", str(played[0].root)]) == 2
    assert "no coordinator of the run" in capsys.readouterr().err
    assert asked == [], "nobody is waited for if nobody listens"


def test_attach_to_a_league_that_is_over_says_so_and_ends(played, capsys, monkeypatch):
    monkeypatch.setattr(operating, "RECHECK_SECONDS", math.inf)  # nobody listens, so nobody is waited for
    monkeypatch.setattr(operating, "REFRESH_SECONDS", 0.01)
    assert main(["attach", str(played[0].root), "--plain"]) == 0
    assert "is over" in capsys.readouterr().out


@pytest.fixture
def served(played, tmp_path, patiently):
    """Return a copy of a league that is over, with a coordinator that answers."""
    copy = RunDirectory(Path(shutil.copytree(played[0].root, tmp_path / "served")))
    command = [sys.executable, "-m", "launch.processes", "--run", str(copy.root), "--role", "coordinator"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    coordinator = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    patiently(copy.rendezvous.exists, 60, "the coordinator's address")
    yield copy
    coordinator.communicate()  # the end of its standard input is its own


def test_a_run_is_paused_and_goes_on(served, capsys):
    assert main(["pause", str(served.root)]) == 0
    assert "it goes on with: ludus unpause served" in capsys.readouterr().out
    assert open_view(served).state.paused
    assert main(["unpause", str(served.root)]) == 0
    assert "served goes on" in capsys.readouterr().out
    assert not open_view(served).state.paused


def test_attach_quietly_prints_only_how_it_ends(served, capsys):
    assert main(["attach", str(served.root), "--plain"]) == 0
    line, _, report = capsys.readouterr().out.partition("\n")
    assert "env steps" in line
    assert report.startswith("served is over: ")
    assert main(["attach", str(served.root), "--quiet"]) == 0
    assert capsys.readouterr().out == report
