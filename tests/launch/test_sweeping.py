"""Sweeps: what Hydra hears, what each league is told, and what is refused before anything starts."""

import doctest
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from launch import sweeping
from launch.cli import main
from launch.compose import compose
from launch.config import ConfigError
from launch.sweeping import combinations, named, split
from launch.view import read_offline
from league.store.run_directory import RunDirectory

TINY = [
    "experiment=tic_tac_toe", "launch=inline", "policy.hidden=[8]", "league.budget.minutes=null",
    "league.budget.env_steps=600", "league.evaluation.final_games=4", "collector.slots=16", "algo.batch=256",
]  # fmt: skip


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(sweeping).failed == 0


def test_every_combination_is_a_config_with_a_name_of_its_own():
    swept, own, common = split(["seed=range(1,3)", "league=pfsp,fsp", "name=try", "hydra.launcher.partition=cpu"])
    assert own == ["hydra.launcher.partition=cpu"]
    configs = [compose([*common, *mine, *named(common, mine)]) for mine in combinations(swept)]
    assert [(c.seed, c.league.matchmaking.name, c.name) for c in configs] == [
        (1, "pfsp", "try.seed=1,league=pfsp"),
        (1, "fsp", "try.seed=1,league=fsp"),
        (2, "pfsp", "try.seed=2,league=pfsp"),
        (2, "fsp", "try.seed=2,league=fsp"),
    ]


def test_lists_and_odd_values_can_be_swept():
    mine = next(combinations(["policy.hidden=[8],[16,16]"]))
    assert compose(mine).policy.hidden == [8]
    assert compose([*mine, *named([], mine)]).name == "league.hidden=-8-"
    assert named(["name=x"], ["name=a"]) == [], "names that are swept are the names"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["seed=1"], "write e.g. seed=1,2,3"),
        (["seed=1,2", "algo.lrr=0.1,0.2"], "unknown key 'algo.lrr'"),
        (["seed=1,none"], "expected"),
        (["+league.players.a.rate=1,2"], "cannot be swept"),
        (["seed=1,,2"], "cannot read"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_one_line(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "-m", *words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert message in said
    assert not list(tmp_path.iterdir()), "nothing was started"


def test_a_missing_launcher_is_told_with_its_remedy(monkeypatch):
    monkeypatch.setattr(sweeping, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'ludus\[sweep\]'"):
        sweeping.sweep(["seed=1,2", "hydra/launcher=submitit_slurm"])


LEAGUE = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # as `ludus run`; whoever starts us may ignore it
ready, written = map(Path, sys.argv[1:])
try:
    ready.touch()
    time.sleep(60)
except KeyboardInterrupt:
    written.touch()
"""


def test_a_league_writes_down_what_it_has_when_its_job_is_requeued(tmp_path, patiently):
    """Before a time limit Slurm signals all processes of a job; submitit requeues it, and ends."""
    ready, written = tmp_path / "ready", tmp_path / "written"
    league = sweeping.start([sys.executable, "-c", LEAGUE, str(ready), str(written)])
    patiently(ready.exists, 30, "the start of the league")
    league.send_signal(signal.SIGUSR2)
    wait, before = league.wait, signal.signal(signal.SIGUSR2, lambda *_: sys.exit(-1))

    def signalled():
        league.wait = wait
        os.kill(os.getpid(), signal.SIGUSR2)
        return wait()

    league.wait = signalled
    try:
        with pytest.raises(SystemExit):
            sweeping.finish(league)
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert written.exists()


@pytest.mark.slow
def test_a_sweep_on_this_machine_plays_each_league(tmp_path):
    command = [sys.executable, "-m", "launch", "run", "-m", "seed=1,2", *TINY, "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for seed in (1, 2):
        state = read_offline(RunDirectory(tmp_path / "runs" / f"league.seed={seed}")).state
        assert (state.seed, state.phase) == (seed, "over")
    assert list(Path(tmp_path / "runs" / "sweeps").glob("*/0/.hydra/overrides.yaml"))
