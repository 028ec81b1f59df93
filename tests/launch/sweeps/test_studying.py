"""Studies: what is refused before anything starts, pruning, and a real study of some leagues."""

import json
import os
import signal
import subprocess
import sys

import pytest

from launch.cli import main
from launch.config.compose import compose
from launch.config.config import ConfigError, stored
from launch.sweeps import studying
from launch.sweeps.study_settings import StudySettings
from launch.sweeps.study_space import spaces_of
from launch.sweeps.study_terms import agree, terms_of
from launch.sweeps.studying import open_study, spent, study, swept_league
from launch.viewers.view import read_offline
from league.store.run_directory import RunDirectory

TINY = [
    "experiment=tic_tac_toe", "launch=inline", "policy.hidden=[8]", "league.budget.minutes=null",
    "league.budget.env_steps=600", "league.evaluation.final_games=4", "collector.slots=16", "algo.batch=256",
]  # fmt: skip
SPACE = "algo.lr=tag(log,interval(1e-4,1e-2))"
INVALID = "algo.gamma=interval(0.9999999,3.0)"  # its lower end is a discount, hardly anything else is


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([SPACE, "hydra.sweeper.trials=3"], "trials"),
        ([SPACE, "hydra.sweeper.n_trials=many"], "n_trials"),
        ([SPACE, "hydra.sweeper.direction=up"], "maximize or minimize"),
        ([SPACE, "hydra/launcher=submitit_slurm"], "one after the other"),
        (["seed=1,2"], "nothing to optimise"),
        (["algo.lrr=interval(0.1,1)"], "unknown key 'algo.lrr'"),
        ([SPACE, "league.budget.env_steps=null"], "equal budgets"),
    ],
)
def test_what_no_study_can_do_is_refused_in_one_line(words, why, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "-m", "hydra/sweeper=optuna", *TINY, *words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert why in said
    assert not list(tmp_path.iterdir()), "nothing was started"


def test_without_optuna_the_remedy_is_told(monkeypatch):
    monkeypatch.setattr(studying, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'ludus-league\[optuna\]'"):
        study(["hydra/sweeper=optuna", SPACE])


def test_a_league_below_the_median_is_pruned_after_its_warmup(tmp_path):
    """The rule itself, with made-up scores: four good trials, then a poor one."""
    found = open_study(StudySettings(n_startup_trials=2, warmup=30), tmp_path)
    for _ in range(4):
        trial = found.ask()
        for step in (20, 40, 60):
            trial.report(0.8, step)
        found.tell(trial, 0.8)
    poor = found.ask()
    poor.report(0.1, 20)
    assert not poor.should_prune(), "too early to judge"
    poor.report(0.1, 40)
    assert poor.should_prune()
    again = open_study(StudySettings(), tmp_path)
    assert len(again.trials) == 5, "the journal has them"


def test_a_study_that_goes_on_suggests_other_values(tmp_path):
    """The sampler starts again with every process; it must not start with the same numbers."""
    found = []
    for _ in range(4):
        begun = open_study(StudySettings(), tmp_path)
        trial = begun.ask()
        found.append(trial.suggest_float("algo.lr", 0.0, 1.0))
        begun.tell(trial, 0.5)
    assert len(set(found)) == 4


def start(*words):
    """Begin a study in this process, or go on with it."""
    return main(["run", "-m", "hydra/sweeper=optuna", *TINY, "hydra.sweeper.study_name=wrong", "--quiet", *words])


def trials(place):
    found = open_study(StudySettings(), place / "runs" / "sweeps" / "wrong").get_trials()
    return [(trial.state.name, "ended" in trial.user_attrs) for trial in found]


def test_values_that_make_no_config_fail_their_trials_and_the_study_goes_on(capsys, tmp_path, monkeypatch):
    """No league is played: nearly all of the interval is refused."""
    monkeypatch.chdir(tmp_path)
    assert start(INVALID, "hydra.sweeper.n_trials=2") == 1
    said = capsys.readouterr().err
    assert said.count("failed: algo.gamma must lie between 0 and 1") == 2
    assert said.count("failed with exit code 2: tic_tac_toe.study=wrong,gamma=") == 2
    assert start(INVALID, "hydra.sweeper.n_trials=3") == 1
    said = capsys.readouterr().err
    assert "trial 3 of 3" in said
    assert "trial 2 of" not in said, "two were there"
    assert trials(tmp_path) == [("FAIL", True)] * 3
    summary = json.loads((tmp_path / "runs" / "sweeps" / "wrong" / "summary.json").read_text())
    assert [one["status"] for one in summary["runs"]] == ["failed"] * 3


def test_trials_that_were_killed_before_they_had_values_do_not_stop_a_study(tmp_path, monkeypatch):
    """One was asked for, and had no value yet; the try of another, whose league was killed, was never begun."""
    monkeypatch.chdir(tmp_path)
    assert start(INVALID, "hydra.sweeper.n_trials=1") == 1
    killed = open_study(StudySettings(), tmp_path / "runs" / "sweeps" / "wrong")
    killed.ask()
    killed.enqueue_trial({"algo.gamma": 2.5})
    assert start(INVALID, "hydra.sweeper.n_trials=2") == 1
    assert trials(tmp_path) == [("FAIL", True), ("FAIL", False), ("FAIL", True)]


def test_an_interrupted_trial_whose_values_make_no_config_fails(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert start(INVALID, "hydra.sweeper.n_trials=1") == 1
    killed = open_study(StudySettings(), tmp_path / "runs" / "sweeps" / "wrong")
    killed.ask().suggest_float("algo.gamma", 0.9999999, 3.0)
    (value,) = killed.trials[1].params.values()
    capsys.readouterr()
    assert start(INVALID, "hydra.sweeper.n_trials=2") == 1
    assert f"trial 2: failed: algo.gamma must lie between 0 and 1, got {value:.6g}" in capsys.readouterr().err
    assert trials(tmp_path) == [("FAIL", True), ("FAIL", False), ("FAIL", True)]


def test_a_study_goes_on_only_with_what_it_was_begun_with(capsys, tmp_path, monkeypatch):
    others = {
        "with algo.gamma=interval(0.9999999,3.0) and without": ["algo.gamma=interval(0.9999999,0.99999999)"],
        "without algo.gamma=0.9,0.99": ["algo.gamma=0.9,0.99"],
        "begun without algo.epochs=1,2:": [INVALID, "algo.epochs=1,2"],
        "with hydra.sweeper.direction=maximize and without": [INVALID, "hydra.sweeper.direction=minimize"],
        "without hydra.sweeper.objective=score/main": [INVALID, "hydra.sweeper.objective=score/main_v_random"],
        "begun without league.budget.env_steps=900:": [INVALID, "league.budget.env_steps=900"],
    }
    monkeypatch.chdir(tmp_path)
    assert start(INVALID, "hydra.sweeper.n_trials=1") == 1
    capsys.readouterr()
    for why, words in others.items():
        assert start(*words, "hydra.sweeper.n_trials=2") == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert why in said
        assert "or choose another hydra.sweeper.study_name" in said
    assert len(trials(tmp_path)) == 1, "nothing was asked"
    assert start(INVALID, "hydra.sweeper.n_trials=2") == 1, "with the same words it goes on"
    assert len(trials(tmp_path)) == 2


def test_runs_have_the_name_of_their_study():
    config = compose(TINY)
    mine = ["algo.epochs=2", "policy.hidden=[8,8]"]
    league = swept_league(config, mine, "first")
    assert league.name == "tic_tac_toe.study=first,epochs=2,hidden=8,8"
    assert league.settings == "epochs=2, hidden=8,8"
    assert compose([f"name='{league.name}'"]).name == league.name
    long = [swept_league(config, mine, f"{'x' * 200}{end}").name for end in "ab"]
    assert long[0] != long[1]


def run(place, *words, check=True):
    command = [sys.executable, "-m", "launch", "run", "-m", "hydra/sweeper=optuna", *TINY, *words]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=check)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_study_plays_its_trials_goes_on_by_name_and_is_compared(tmp_path):
    words = [SPACE, "algo.epochs=1,2", "hydra.sweeper.study_name=first", "name=try", "--quiet"]
    done = run(tmp_path, *words, "hydra.sweeper.n_trials=2")
    again = run(tmp_path, *words, "hydra.sweeper.n_trials=3")
    assert "trial 2 of 2" in done.stderr
    assert "trial 3 of 3" in again.stderr
    assert "trial 2 of" not in again.stderr, "two were there"
    place = tmp_path / "runs" / "sweeps" / "first"
    summary = json.loads((place / "summary.json").read_text())
    assert [one["status"] for one in summary["runs"]] == ["over"] * 3
    values = [one["value"] for one in summary["study"]["trials"]]
    assert summary["study"]["best"]["value"] == max(values)
    for one, value in zip(summary["runs"], values, strict=True):
        assert one["figures"]["elo/main"]["value"] == pytest.approx(value)
        view = read_offline(RunDirectory(tmp_path / "runs" / one["name"]))
        assert spent(view) == 100
    command = [sys.executable, "-m", "launch", "compare", str(place), "--games", "20", "--probe-steps", "0"]
    compared = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stderr
    assert "lr=" in compared.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_studies_that_try_the_same_values_play_leagues_of_their_own(tmp_path):
    words = ["algo.epochs=choice(1)", "hydra.sweeper.n_trials=1", "--quiet"]
    for name, games in (("first", 4), ("second", 8)):
        run(tmp_path, *words, f"hydra.sweeper.study_name={name}", f"league.evaluation.final_games={games}")
    played = [RunDirectory(tmp_path / "runs" / f"tic_tac_toe.study={name},epochs=1") for name in ("first", "second")]
    assert [stored(one).league.evaluation.final_games for one in played] == [4, 8]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_trial_that_does_worse_is_ended_early_and_an_interrupted_study_goes_on(tmp_path, patiently):
    """Earlier trials are made up to be better than any league can be, so the first real one is pruned."""
    place = tmp_path / "runs" / "sweeps" / "second"
    place.mkdir(parents=True)
    long = "league.budget.env_steps=100_000_000"
    before = open_study(StudySettings(), place)
    agree(before, terms_of("maximize", "score/main_v_random", spaces_of([SPACE]), [*TINY, "name=long", long]))
    for _ in range(3):
        trial = before.ask()
        trial.suggest_float("algo.lr", 1e-4, 1e-2, log=True)
        for step in range(101):
            trial.report(2.0, step)
        trial.set_user_attr("ended", True)
        before.tell(trial, 2.0)
    words = ["hydra.sweeper.study_name=second", "hydra.sweeper.objective=score/main_v_random", "name=long"]
    words += ["hydra.sweeper.n_startup_trials=1", "hydra.sweeper.warmup=0", "hydra.sweeper.poll_seconds=0.2", "--quiet"]
    done = run(tmp_path, SPACE, *words, "hydra.sweeper.n_trials=4", long, check=False)
    assert "trial 4: pruned" in done.stderr, done.stderr
    summary = json.loads((place / "summary.json").read_text())
    assert [one["status"] for one in summary["runs"]].count("pruned") == 1
    command = [sys.executable, "-m", "launch", "run", "-m", "hydra/sweeper=optuna", *TINY, SPACE, *words, long]
    command += ["hydra.sweeper.n_trials=5", "hydra.sweeper.pruner=none"]
    studies = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    pattern = "long.*/snapshots/*.safetensors"  # of two leagues: the one that was pruned, and the one that plays
    patiently(lambda: len({file.parent for file in (tmp_path / "runs").glob(pattern)}) == 2, 90, "another league")
    os.killpg(studies.pid, signal.SIGINT)
    _, said = studies.communicate(timeout=60)
    assert studies.returncode == 130, said
    assert "hydra.sweeper.study_name=second goes on" in said
