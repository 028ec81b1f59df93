"""One process of a league, by its role."""

import pytest

from launch.processes.process import load_runner, run_role
from launch.topology.roles import ROLES


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_a_runner_that_can_be_loaded(role):
    assert callable(load_runner(ROLES[role].runner))


def test_a_role_that_does_not_exist_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        run_role(["--run", "runs/first", "--role", "juggler"])
    assert "juggler" in capsys.readouterr().err
