"""`ludus run` and `ludus resume`: what they start, and what they refuse."""

import json
import shutil
from pathlib import Path

import pytest
from command_line import TINY, refused, stored

import launch.start
import ludus
from launch.cli import main
from league.errors import InputError
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


@pytest.mark.parametrize("name", ["name=été", "name='été'", "name=a b", "name=latest", "name=../out"])
def test_a_bad_name_gets_the_same_message_whatever_is_wrong_with_it(name, capsys, tmp_path):
    assert "cannot name a run; use letters (a to z), digits and . _ -" in refused(capsys, "run", name)
    assert not (tmp_path / "runs").exists()


def test_a_gpu_that_is_not_there_is_refused_before_there_is_a_run(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    line = refused(capsys, "run", *TINY, "learner.device=cuda")
    assert line.startswith("learner.device=cuda: torch finds no GPU here. Use learner.device=auto")
    assert not (tmp_path / "runs").exists()


def test_overrides_may_stand_on_both_sides_of_options(capsys):
    message = refused(capsys, "run", "env=tic_tac_toe", "--quiet", "algo.lr=fast", "--allow", "mine")
    assert message == "algo.lr=fast: expected a number"


def test_another_config_is_refused_with_the_differences(capsys):
    run = stored()
    before = run.config.read_bytes()
    message = refused(capsys, "run", "name=first", "league.episodes=16", "seed=2", "launch.collectors=3")
    assert "  seed: 1 -> 2\n  league.episodes: 8 -> 16\n" in message
    assert "launch.collectors" not in message
    assert "--accept-changes" in message
    assert run.config.read_bytes() == before


def test_another_layout_is_refused(capsys):
    run = stored()
    run.layout.write_text("999\n")
    assert "layout version '999'" in refused(capsys, "run", "name=first")
    assert "layout version '999'" in refused(capsys, "resume", "first")


def test_a_stored_config_of_another_version_is_refused(capsys):
    run = stored()
    run.write_config({**run.read_config(), "future": 1})
    assert "written by another version of Ludus, or by hand: unknown key 'future'" in refused(capsys, "resume", "first")


@pytest.mark.parametrize("launcher", ["inline", "local", "slurm"])
@pytest.mark.parametrize(("section", "key"), [("matchmaking", "name"), ("promotion", "rule")])
def test_resume_refuses_rules_that_are_not_allowed_before_it_starts_anything(launcher, section, key, capsys):
    run = stored("first", "env=tic_tac_toe", "league=selfplay", f"launch={launcher}")
    config = run.read_config()
    config["league"][section][key] = "my_rules:mine"
    run.write_config(config)
    assert "--allow my_rules" in refused(capsys, "resume", "first")
    with pytest.raises(InputError, match="--allow my_rules"):
        ludus.open("first").resume()
    assert not run.ledger.exists()
    assert not any(run.logs.iterdir())


def test_a_ledger_without_a_config_is_not_a_new_run(capsys):
    run = stored()
    run.config.unlink()
    Ledger.open(run.ledger).close()
    assert "has a file ledger.sqlite, but no file config.json" in refused(capsys, "run", "name=first")


def test_a_start_that_was_cut_off_is_made_again(capsys):
    run = RunDirectory(Path("runs/first")).create()
    for command in ("status", "resume", "verify"):
        assert "the start of runs/first was cut off" in refused(capsys, command, "first")
    (run.root / "notes.txt").write_text("of a human")
    assert "notes.txt, but no file config.json: it is not a whole run" in refused(capsys, "run", *TINY, "name=first")
    (run.root / "notes.txt").unlink()
    assert main(["run", *TINY, "name=first", "--quiet"]) == 0
    assert run.config.exists()


def test_a_directory_without_a_layout_is_not_a_run_and_stays_as_it_is(capsys):
    run = stored()
    run.layout.unlink()
    run.config.write_text("of another program")
    assert "has a file config.json, but no file layout: it is not a whole run" in refused(capsys, "run", "name=first")
    assert run.config.read_text() == "of another program"
    Ledger.open(run.ledger).close()
    assert "has a file ledger.sqlite, but no file layout" in refused(capsys, "run", "name=first")
    assert "is not the directory of a run, or not a whole one: it has no file 'layout'" in refused(
        capsys, "status", "first"
    )
    assert "there is no run 'second'. There are no runs in runs" in refused(capsys, "status", "second")


def test_the_config_does_not_change_beneath_a_running_league(capsys, monkeypatch):
    monkeypatch.setattr(launch.start, "RELEASE_SECONDS", 0.1)
    run = stored()
    before = run.config.read_bytes()
    with Ledger.open(run.ledger):
        assert "is under way already" in refused(capsys, "run", "name=first", "launch.collectors=3", "--quiet")
    assert run.config.read_bytes() == before


def test_run_run_again_resume_and_read(capsys):
    """The whole walk inline: found, stopped by its budget, resumed with more of it, and looked at."""
    assert main(["run", *TINY, "--quiet"]) == 0
    run = RunDirectory.find("tiny")
    first = Ledger.open(run.ledger)
    events = first.head
    first.close()
    assert events > 0
    report = run.root / "report" / "report.html"
    assert not report.exists(), "nobody asked for more than errors"

    capsys.readouterr()
    assert main(["run", *TINY, "league.budget.env_steps=3000"]) == 0
    told = capsys.readouterr().err
    assert "ludus: changed: league.budget.env_steps: 1500 -> 3000" in told
    assert told.endswith("ludus: the report, to look at or to send: runs/tiny/report/report.html\n")
    assert "Standings" in report.read_text()
    assert run.read_config()["league"]["budget"]["env_steps"] == 3000
    with Ledger.open(run.ledger) as second:
        assert second.head > events

    assert main(["run", *TINY, "league.budget.env_steps=3000", "league.episodes=4", "--accept-changes", "--quiet"]) == 0
    assert run.read_config()["league"]["episodes"] == 4
    assert main(["resume", "latest", "--quiet"]) == 0

    shutil.rmtree(report.parent)
    report.parent.touch()
    capsys.readouterr()
    assert main(["resume", "latest"]) == 0, "a league is well, whatever is wrong with its report"
    assert "ludus: no report was written (FileExistsError" in capsys.readouterr().err

    capsys.readouterr()
    assert main(["standings", "tiny", "--json"]) == 0
    assert "main" in json.dumps(json.loads(capsys.readouterr().out))
    assert main(["verify", "tiny"]) == 0
