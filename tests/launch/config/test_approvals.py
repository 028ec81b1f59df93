"""Programs that play environments (`env.python`): the user's own words name them, now or before; a run never does."""

import shutil
import stat
import sys
from pathlib import Path

import pytest

import ludus
from launch.cli import main
from launch.config.approvals import PROGRAMS, marks_file, note, noted, remember, with_given, with_programs
from launch.config.compose import compose
from launch.config.config import to_plain
from league.store.run_directory import RunDirectory

SMALL = ["env=pettingzoo", "env.id=classic/rps_v2", "env.kwargs.max_cycles=2", "league=selfplay", "launch=inline"]
SMALL += ["league.budget.env_steps=40", "league.evaluation.final_games=2", "collector.slots=2", "policy.hidden=[8]"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Let the user's own state be elsewhere than the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def program(tmp_path):
    """A program that leaves a sign when it runs, and is a Python all the same."""
    place = tmp_path / "bin" / "python"
    place.parent.mkdir()
    place.write_text(f'#!/bin/sh\ntouch {tmp_path}/ran\nexec {sys.executable} "$@"\n')
    place.chmod(0o755)
    return place


def test_what_is_noted_belongs_to_the_user():
    note("/venvs/with space/bin/python", PROGRAMS)
    note("/venvs/with space/bin/python", PROGRAMS)
    assert noted(PROGRAMS) == ["/venvs/with space/bin/python"]
    assert with_programs(["mine"]) == ["mine", "/venvs/with space/bin/python"]
    assert stat.S_IMODE(marks_file(PROGRAMS).stat().st_mode) == 0o600
    marks_file(PROGRAMS).chmod(0o666)
    assert with_programs(["mine"]) == ["mine"], "a file that others may write says nothing"


def test_the_program_of_ones_own_words_is_allowed():
    env = compose([*SMALL, "env.python=bin/python"]).env
    assert with_given(env, ["mine"]) == ["mine", str(Path("bin/python").absolute())]
    assert with_given(compose(SMALL).env, ["mine"]) == ["mine"]
    remember(compose(SMALL).env)
    assert not marks_file(PROGRAMS).exists()


def stranger(program):
    run = RunDirectory(Path("runs/stranger")).create()
    run.write_config(to_plain(compose([*SMALL, "name=stranger", f"env.python={program}"])))
    return run


@pytest.mark.slow
def test_ones_own_league_plays_there_and_goes_on_without_a_question(program, tmp_path, capsys):
    assert main(["run", *SMALL, "name=mine", "env.python=bin/python", "--quiet"]) == 0
    assert (tmp_path / "ran").exists()
    assert noted(PROGRAMS) == [str(program)]
    assert main(["duel", "mine", "main", "random", "--games", "2"]) == 0
    assert main(["resume", "mine", "--quiet"]) == 0
    assert str(program) not in RunDirectory.find("mine").env.read_text()
    assert ludus.open("mine").play("main", "random", episodes=2)
    capsys.readouterr()


def test_a_dry_run_remembers_nothing(program, capsys):
    assert main(["run", *SMALL, "name=dry", f"env.python={program}", "--dry-run"]) == 0
    assert noted(PROGRAMS) == []
    capsys.readouterr()


def test_a_strangers_program_does_not_run(program, tmp_path, capsys, figure):
    run = stranger(program)
    commands = {
        "resume": ["resume", "stranger", "--quiet"],
        "resume with a package": ["resume", "stranger", "--quiet", "--allow", "pettingzoo"],
        "run anew": ["probe", "stranger", "main", "--inline", "--quiet"],
    }
    for name, words in commands.items():
        assert main(words) == 2, name
        told = capsys.readouterr().err
        assert not (tmp_path / "ran").exists(), name
        if name.startswith("resume"):
            assert f"If you trust it, add --allow {program} to the command" in told
    assert noted(PROGRAMS) == []
    assert run.root.exists()
    figure(f"0 of {len(commands)} commands on a stranger's run executed its program")


@pytest.mark.slow
def test_it_runs_for_who_trusts_it_and_is_known_from_then_on(program, tmp_path, capsys):
    stranger(program)
    assert main(["resume", "stranger", "--quiet", "--allow", str(program)]) == 0
    assert noted(PROGRAMS) == [], "leave for one call"
    (tmp_path / "ran").unlink()
    shutil.rmtree("runs")
    stranger(program)
    assert main(["resume", "stranger", "--quiet", "--trust"]) == 0
    assert (tmp_path / "ran").exists()
    assert noted(PROGRAMS) == [str(program)]
    capsys.readouterr()


def test_check_env_takes_it_from_the_command_line(program, tmp_path, capsys):
    assert main(["check-env", "classic/rps_v2", "max_cycles=2", f"env.python={program}"]) == 0
    assert "fit for a league" in capsys.readouterr().out
    assert (tmp_path / "ran").exists()
    assert noted(PROGRAMS) == []
