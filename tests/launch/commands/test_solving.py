"""`ludus solve` from the command line."""

import json

import pytest

from launch.cli import main

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


def test_kuhn_poker_is_solved_by_exact_best_responses(capsys):
    assert main(["solve", "experiment=kuhn", "--iterations", "12", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == {"iteration": 1, "nash_conv": pytest.approx(11 / 12)}
    assert rows[-1]["nash_conv"] <= 0.02
    assert len(rows) <= 12


def test_what_cannot_be_solved_is_one_line(capsys):
    assert main(["solve", "env=openspiel", "env.id=connect_four"]) == 2
    assert main(["solve", "experiment=kuhn", "--iterations", "0"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "--iterations must be at least 1" in lines[1]
