"""`ludus list`: the runs of a directory."""

import json
import os
import shutil

import pytest
from command_line import TINY, stored

from launch.cli import main
from launch.config.compose import compose
from launch.processes.inline import play

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


def test_list_shows_all_runs_the_newest_first(run, capsys, tmp_path):
    assert main(["list"]) == 2
    assert "there is no directory 'runs'" in capsys.readouterr().err
    shutil.copytree(run.root, tmp_path / "runs" / "old")
    stored("fresh")
    damaged = stored("damaged")
    damaged.layout.write_text("99")
    for age, name in enumerate(("damaged", "fresh", "old")):
        os.utime(tmp_path / "runs" / name / "config.json", (1000 - age, 1000 - age))
    assert main(["list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["state"]) for one in told] == [
        ("damaged", "unreadable"),
        ("fresh", "not started"),
        ("old", "over"),
    ]
    old = told[-1]
    assert (old["game"], old["env_steps"] >= 3000, old["players"] > 3) == ("tic_tac_toe", True, True)
    rated = {row["player"]: row for row in rows_of_standings(capsys, "old") if row["player"] != "random"}
    assert old["best"]["rating"] == max(row["rating"] for row in rated.values() if row["rating"] is not None)
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert "over" in text
    assert f"{old['best']['player']}, Elo" in text
    assert "layout version '99'" in " ".join(text.split())


def test_list_does_not_break_the_names_of_a_sweep(run, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    name = "compare.league=selfplay,seed=12"
    shutil.copytree(run.root, tmp_path / "runs" / name)
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert f" {name} " in text
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def rows_of_standings(capsys, name):
    assert main(["standings", name, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_list_tells_a_run_that_is_stopped(capsys):
    play(compose([*TINY, "name=half"]), stored("half", *TINY[:-1]), on_round=lambda state: state.env_steps < 500)
    assert main(["list", "runs", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["name"], one["state"], one["why"]) == ("half", "stopped", "")
    assert 0 <= one["age"] < 3600
