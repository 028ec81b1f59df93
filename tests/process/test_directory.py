"""No process of a league imports from the current directory, unless the user allowed a module by name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launch.viewers.view import open_view
from league.store.run_directory import RunDirectory

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
TINY = [
    "experiment=tic_tac_toe", "policy.hidden=[8]", "league.budget.minutes=null", "league.budget.env_steps=600",
    "league.evaluation.final_games=4", "collector.slots=16", "algo.batch=256", "launch.collectors=1",
]  # fmt: skip
SHADOWS = ("zmq", "numpy", "msgspec", "league", "learners", "torch", "pettingzoo", "hydra", "rich", "conf", "random")

OWN = """
from pettingzoo.classic.rps.rps import parallel_env

def env(**kwargs):
    return parallel_env(**kwargs)
"""


@pytest.fixture
def folder(tmp_path):
    """A directory in which modules lie that are called like ours, or like what we import; each tells that it ran."""
    for name in SHADOWS:
        told = f"with open({str(tmp_path / 'ran')!r}, 'a') as file: file.write('{name}\\n')\nraise SystemExit(3)\n"
        (tmp_path / f"{name}.py").write_text(told)
    (tmp_path / "own_env.py").write_text(OWN)
    return tmp_path


def ludus(folder, *words):
    """Run `ludus` as a user does who is in this folder; return how it ended, and what of the folder ran."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    start = "import sys; sys.path.append(sys.argv.pop(1)); from launch.cli import main; sys.exit(main())"
    command = [sys.executable, "-P", "-c", start, str(ROOT), *words]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    ran = folder / "ran"
    return done, set(ran.read_text().split()) if ran.exists() else set()


KINDS = {
    "inline": ["launch=inline"],
    "local with trackers and videos": ["launch=local", "track.to=[csv]", "track.videos=1"],
    "ranks": ["launch=local", "launch.ranks=2"],
    "central": ["launch=local", "collector.inference=central"],
    "a foreign environment": ["launch=inline", "env=pettingzoo", "env.id=classic/rps_v2"],
    "sweep": ["launch=inline", "-m", "seed=1,2"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_child_imports_what_lies_in_the_directory(kind, folder, figure):
    done, ran = ludus(folder, "run", "--plain", "name=x", *TINY, *KINDS[kind])
    assert ran == set()
    assert done.returncode == 0, done.stderr[-3000:]
    figure(f"{len(ran)} of {len(SHADOWS)} modules of the directory ran, launched as: {kind}")


def test_python_m_launch_leaves_the_directory(folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "launch", "run", "--plain", "name=x", *TINY, "launch=local"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not (folder / "ran").exists(), (folder / "ran").read_text()
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("launch", ["inline", "local"])
def test_an_allowed_module_is_found_there_and_hides_nothing(launch, folder):
    own = ["env=pettingzoo", "env.id=own_env:env", f"launch={launch}", "--allow", "own_env"]
    done, ran = ludus(folder, "run", "--plain", "name=x", *TINY, *own)
    assert ran == set()
    assert done.returncode == 0, done.stderr[-3000:]
    assert sum(open_view(RunDirectory(folder / "runs" / "x")).state.results.values()) > 0
    done, ran = ludus(folder, "watch", "x", "main", "random", "--delay", "0")
    assert (done.returncode, ran) == (2, set())
    assert "--allow own_env" in done.stderr
