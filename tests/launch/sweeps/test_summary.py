"""The end of a sweep."""

import json

import pytest

from launch.spawn.exit_code import FAILED, INTERRUPTED
from launch.sweeps.studying import publish_code
from launch.sweeps.summary import SweptLeague, conclude, exit_file, outcome


def league(name, runs):
    return SweptLeague(name=name, runs=str(runs), seed=1, settings="league=pfsp", overrides=("seed=1",))


@pytest.mark.parametrize(
    ("code", "status"), [(None, "not finished"), (INTERRUPTED, "interrupted"), (2, "failed"), (0, "under way")]
)
def test_how_a_league_ended_follows_from_its_exit_code(code, status, tmp_path):
    file = exit_file(tmp_path, "try")
    file.parent.mkdir()
    if code is not None:
        file.write_text(str(code))
    assert outcome(league("try", tmp_path), file).status == status


def test_a_league_that_is_over_has_figures(run, tmp_path):
    file = tmp_path / "exit"
    file.write_text("0")
    found = outcome(league(run.name, run.root.parent), file)
    assert found.status == "over"
    assert "elo/main" in found.figures


@pytest.mark.parametrize(("study", "again"), [(None, True), ({"trials": []}, False)])
def test_only_a_sweep_tries_a_failed_league_again(study, again, tmp_path, capsys):
    publish_code(exit_file(tmp_path, "try"), 2)
    assert conclude([league("try", tmp_path)], tmp_path, ["--quiet"], study) == FAILED
    assert ("the same command again goes on" in capsys.readouterr().err) == again


def test_a_failed_league_is_named_and_fails_the_sweep(tmp_path, capsys):
    file = exit_file(tmp_path, "try")
    file.parent.mkdir()
    file.write_text("2")
    assert conclude([league("try", tmp_path)], tmp_path, ["--quiet"]) == FAILED
    assert "ludus: failed with exit code 2: try\n" in capsys.readouterr().err
    (written,) = json.loads((tmp_path / "summary.json").read_text())["runs"]
    assert (written["name"], written["status"], written["exit_code"]) == ("try", "failed", 2)
