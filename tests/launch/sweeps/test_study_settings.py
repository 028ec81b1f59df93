"""What a study is told besides its space."""

from launch.sweeps.study_settings import settings_of_study


def test_settings_are_read_and_checked():
    found = settings_of_study(["hydra/sweeper=optuna", "hydra.sweeper.n_trials=3", "hydra.sweeper.poll_seconds=0.5"])
    assert (found.n_trials, found.poll_seconds, found.direction) == (3, 0.5, "maximize")
