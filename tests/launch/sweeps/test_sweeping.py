"""Sweeps: what Hydra hears, what each league is told, and what is refused before anything starts."""

import doctest
import json
import os
import signal
import subprocess
import sys

import pytest

from launch.cli import main
from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.spawn.exit_code import INTERRUPTED
from launch.sweeps import run_names as sweep_names
from launch.sweeps import sweeping
from launch.sweeps.sweeping import plan, split
from launch.viewers.tables import candidate_scores
from launch.viewers.view import read_offline
from league.store.run_directory import RunDirectory

TINY = [
    "experiment=tic_tac_toe", "launch=inline", "policy.hidden=[8]", "league.budget.minutes=null",
    "league.budget.env_steps=600", "league.evaluation.final_games=4", "collector.slots=16", "algo.batch=256",
]  # fmt: skip


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(sweeping).failed == doctest.testmod(sweep_names).failed == 0


def configs(*words):
    swept, _, common = split(words)
    jobs = plan(swept, common)
    assert len({job.name for job in jobs}) == len(jobs)
    return jobs, [compose([*common, *job.overrides, f"name='{job.name}'"]) for job in jobs]


def test_every_combination_is_a_config_with_a_name_of_its_own():
    assert split(["seed=1,2", "hydra.launcher.partition=cpu"])[1] == ["hydra.launcher.partition=cpu"]
    jobs, found = configs("seed=range(1,3)", "league=pfsp,fsp", "name=try")
    assert [(c.seed, c.league.matchmaking.name, c.name) for c in found] == [
        (1, "pfsp", "try.seed=1,league=pfsp"),
        (1, "fsp", "try.seed=1,league=fsp"),
        (2, "pfsp", "try.seed=2,league=pfsp"),
        (2, "fsp", "try.seed=2,league=fsp"),
    ]
    assert [(job.settings, job.seed) for job in jobs] == [
        ("league=pfsp", 1), ("league=fsp", 1), ("league=pfsp", 2), ("league=fsp", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("league=selfplay,pfsp", lambda c: c.league.matchmaking.name),
        pytest.param("algo=a2c,dqn", lambda c: c.algo["name"], marks=pytest.mark.slow),
        ("env=tic_tac_toe,connect_four", lambda c: c.env.name),
        ("policy=mlp,board_conv", lambda c: c.policy.name),
        ("launch=inline,local", lambda c: c.launch.name),
        ("track=csv,none", lambda c: ["none", "csv"][len(c.track.to)]),
        ("experiment=connect_four,rock_paper_scissors", lambda c: c.env.name),
        ("launch=choice(inline,local)", lambda c: c.launch.name),
    ],
)
def test_every_group_can_be_swept(word, told):
    jobs, found = configs(word)
    assert {told(config) for config in found} == set(
        word.partition("=")[2].removeprefix("choice(").strip(")").split(",")
    )
    assert [job.settings for job in jobs] == [job.overrides[0] for job in jobs]


@pytest.mark.slow
def test_options_in_folders_lists_and_new_keys_can_be_swept():
    jobs, found = configs("launch=slurm/small,slurm/cluster", "policy.hidden=[8],[16,16]", "name=x")
    assert [c.policy.hidden for c in found] == [[8], [16, 16], [8], [16, 16]]
    assert jobs[1].name == "x.launch=slurm-small,hidden=16,16"
    jobs, found = configs("+league.players.second.rate=0.25,0.5", "league.players.main.rate=0.1,0.2", "name=x")
    assert [c.league.players["second"].rate for c in found] == [0.25, 0.25, 0.5, 0.5]
    assert jobs[0].name == "x.second.rate=0.25,main.rate=0.1"


@pytest.mark.slow
def test_names_that_are_swept_are_the_names():
    assert [job.name for job in configs("name=a,b")[0]] == ["a", "b"]
    assert [job.name for job in configs("name=a,b", "seed=1,2")[0]] == ["a.seed=1", "a.seed=2", "b.seed=1", "b.seed=2"]


def test_a_value_that_is_given_twice_is_played_once():
    assert len(configs("seed=1,1,2")[0]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["seed=1"], "write e.g. seed=1,2,3"),
        (["seed=1,2", "algo.lrr=0.1,0.2"], "unknown key 'algo.lrr'"),
        (["league=pfsp,psfp"], "unknown league 'psfp'. Did you mean 'pfsp'?"),
        (["seed=1,none"], "expected"),
        (["+league.playres.a.rate=1,2"], "unknown key 'league.playres.a.rate'"),
        (["seed=1,,2"], "cannot read"),
        (["league=glob(*)"], "cannot sweep over 'league=glob(*)'"),
        (["seed=1,2", "hydra/sweeper=nevergrad"], "every combination"),
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
    with pytest.raises(ConfigError, match=r"pip install 'ludus-league\[sweep\]'"):
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


def test_a_league_that_is_preempted_before_it_listens_was_interrupted():
    league = sweeping.start([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"])
    assert sweeping.finish(league) == INTERRUPTED


def swept(place, *words):
    command = [sys.executable, "-m", "launch", "run", "-m", *words, *TINY]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    (summary,) = (place / "runs" / "sweeps").glob("*/summary.json")
    return done, json.loads(summary.read_text())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_sweep_over_a_group_and_seeds_plays_each_league_and_compares_them(tmp_path):
    done, summary = swept(tmp_path, "league=selfplay,pfsp", "seed=range(1,3)", "--json", "name=try")
    assert done.returncode == 0, done.stdout + done.stderr
    names = [f"try.league={league},seed={seed}" for league in ("selfplay", "pfsp") for seed in (1, 2)]
    assert [(run["name"], run["status"]) for run in summary["runs"]] == [(name, "over") for name in names]
    for name, run in zip(names, summary["runs"], strict=True):
        state = read_offline(RunDirectory(tmp_path / "runs" / name)).state
        assert (state.seed, state.phase) == (run["seed"], "over")
        score, low, high, _ = candidate_scores(state, "main")["random"]
        assert run["figures"]["score/main_v_random"] == {"value": score, "low": low, "high": high}
    assert [(row["settings"], row["measured"], row["runs"]) for row in summary["rows"]] == [
        ("league=selfplay", 2, 2),
        ("league=pfsp", 2, 2),
    ]
    for row, pair in zip(summary["rows"], (summary["runs"][:2], summary["runs"][2:]), strict=True):
        values = [run["figures"]["elo/main"]["value"] for run in pair]
        assert row["means"]["elo/main"]["mean"] == pytest.approx(sum(values) / 2)
        assert "charts/SPS" not in row["means"], "the clock of inline leagues is logical"
    assert json.loads(done.stdout.splitlines()[-1]) == summary
    assert list((tmp_path / "runs" / "sweeps").glob("*/0/.hydra/overrides.yaml"))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_league_that_fails_is_listed_and_the_others_go_on(tmp_path):
    """The kernel of board_conv is larger than this board: that league is refused when it starts."""
    done, summary = swept(tmp_path, "policy=board_conv,mlp", "seed=7", "--plain")
    assert done.returncode == 1
    assert [run["status"] for run in summary["runs"]] == ["failed", "over"]
    assert [run["exit_code"] for run in summary["runs"]] == [2, 0]
    assert "ludus: failed with exit code 2: tic_tac_toe.policy=board_conv\n" in done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith(" policy=")}
    assert rows["policy=board_conv"] == ["0", "of", "1", "-", "-"]
    assert rows["policy=mlp"][0] == "1"
    assert "±" in rows["policy=mlp"][2], "one run has the interval of its own games"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_sweep_that_is_interrupted_says_what_is_not_over(tmp_path, patiently):
    """Ctrl-C reaches all processes of a terminal: the league that plays ends, and no other is started."""
    words = ["run", "-m", "seed=1,2", *TINY, "league.budget.env_steps=100_000_000", "name=long", "--quiet"]
    sweep = subprocess.Popen(
        [sys.executable, "-m", "launch", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    first = RunDirectory(tmp_path / "runs" / "long.seed=1")
    patiently(lambda: list(first.snapshots.glob("*.safetensors")), 90, "the first candidate")
    os.killpg(sweep.pid, signal.SIGINT)
    _, said = sweep.communicate(timeout=60)
    assert sweep.returncode == 130, said
    assert "ludus: the same command again goes on with all leagues that are not over" in said
    (file,) = (tmp_path / "runs" / "sweeps").glob("*/summary.json")
    assert [run["status"] for run in json.loads(file.read_text())["runs"]] == ["interrupted", "not finished"]
    assert not (tmp_path / "runs" / "long.seed=2").exists()
