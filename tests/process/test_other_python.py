"""A real league on a game of an old PettingZoo and an old numpy, in a virtual environment made for it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from launch.cli import main
from launch.verify.verify import verify
from launch.viewers.view import read_offline
from league.store.run_directory import RunDirectory

OLD = ("pettingzoo==1.22.3", "numpy<2", "pygame")
HAVE_WHEELS = ("3.8", "3.9", "3.10", "3.11", "3.12")  # of numpy below 2
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def interpreter():
    """Return the oldest Python here for which numpy below 2 is made; this one, if it is the only one."""
    for version in HAVE_WHEELS:
        named = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), shutil.which(f"python{version}")]
        for python in filter(None, named):
            if not subprocess.run(
                [python, "-c", "import venv, ensurepip"], capture_output=True, check=False
            ).returncode:
                return str(python)
    return sys.executable


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """The python of a virtual environment with an old PettingZoo."""
    place = tmp_path_factory.mktemp("venvs") / "old"
    subprocess.run([interpreter(), "-m", "venv", str(place)], check=True)
    quiet = ("-q", "--disable-pip-version-check", "--only-binary", ":all:")
    subprocess.run([str(place / "bin" / "pip"), "install", *quiet, *OLD], check=True)
    return place / "bin" / "python"


def test_a_league_plays_a_game_of_an_old_pettingzoo(old, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    game = ["env=pettingzoo", "env.id=classic/tictactoe_v3", f"env.python={old}", "league=selfplay", "launch=inline"]
    small = [
        "league.budget.env_steps=2000",
        "league.evaluation.final_games=4",
        "collector.slots=8",
        "policy.hidden=[16]",
    ]
    assert main(["run", *game, *small, "name=old", "--quiet"]) == 0
    run = RunDirectory.find("old")
    assert read_offline(run).state.env_steps >= 2000
    assert verify(run) == 0
    assert main(["duel", "old", "main", "random", "--games", "4"]) == 0
    assert main(["check-env", "classic/rps_v2", f"env.python={old}"]) == 0
    capsys.readouterr()
