"""The commands that play outside the league's schedule."""

import json

import pytest

from launch.cli import main

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


def test_check_env(capsys):
    assert main(["check-env", "rock_paper_scissors", "max_cycles=3"]) == 0
    assert "fit for a league" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["watch", "main", "random"], ["replay", "1"]])
def test_a_delay_is_not_negative(run, words, capsys):
    assert main([words[0], str(run.root), *words[1:], "--delay", "-1"]) == 2
    assert "--delay must be 0 or more seconds, got -1" in capsys.readouterr().err


def test_check_env_takes_settings_as_run_does(capsys):
    words = ["env.sides=[a,a]", "env.max_steps=3", "--episodes", "2", "--seconds", "9", "--json"]
    assert main(["check-env", "classic/rps_v2", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [seat["side"] for seat in found["spec"]["seats"]] == ["a", "a"]
    assert (found["episodes"], found["length"]) == (2, [6.0, 6])


@pytest.mark.parametrize("word", ["--episodes", "--seconds", "--hang-seconds"])
def test_check_env_refuses_a_number_that_is_not_positive(word, capsys):
    assert main(["check-env", "rock_paper_scissors", word, "0"]) == 2
    assert f"{word} must be more than 0, got 0" in capsys.readouterr().err


def test_check_env_as_json(capsys):
    assert main(["check-env", "rock_paper_scissors", "max_cycles=3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["fit"], found["problems"]) == ("rock_paper_scissors", True, [])
    assert found["spec"]["agents"] == ["player_0", "player_1"]
    assert found["length"] == [6.0, 6], "decisions of both players"
    assert main(["check-env", "rock_paper_scissors", "max_cycles=1000000", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["fit"]
    assert found["problems"][0]["what"] == "no episode ended within 10,000 steps"
