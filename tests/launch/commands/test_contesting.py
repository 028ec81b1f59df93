"""The commands that play outside the league's schedule."""

import pytest

from launch.cli import main

pytestmark = pytest.mark.usefixtures("in_an_empty_directory")


def test_check_env(capsys):
    assert main(["check-env", "rock_paper_scissors", "max_cycles=3"]) == 0
    assert "fit for a league" in capsys.readouterr().out
