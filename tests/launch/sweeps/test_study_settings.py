"""What a study is told besides its space."""

import pytest

from launch.config.config import ConfigError
from launch.sweeps.study_settings import settings_of_study


def test_settings_are_read_and_checked():
    found = settings_of_study(["hydra/sweeper=optuna", "hydra.sweeper.n_trials=3", "hydra.sweeper.poll_seconds=0.5"])
    assert (found.n_trials, found.poll_seconds, found.direction) == (3, 0.5, "maximize")


@pytest.mark.parametrize("name", ["a b", "a/b", ".hidden", "../up", "-n", "ü"])
def test_a_study_has_a_name_that_can_be_part_of_those_of_its_runs(name):
    with pytest.raises(ConfigError, match="study_name is the name of a directory in runs/sweeps: letters"):
        settings_of_study([f"hydra.sweeper.study_name={name}"])
    assert settings_of_study(["hydra.sweeper.study_name=first.lr-2_b"]).study_name == "first.lr-2_b"
