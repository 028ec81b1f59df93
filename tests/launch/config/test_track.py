"""Where the curves of a league go."""

import pytest

from launch.config.track import TrackConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"to": ["diary"]}, "track.to: unknown tracker 'diary'; choose from csv, tensorboard, wandb"),
        ({"to": ["csv", "csv"]}, "names a tracker twice"),
        ({"mode": "later"}, "track.mode: unknown 'later'; choose one of auto, online, offline"),
        ({"every": 0}, "every and payoff_every must be at least 1"),
        ({"videos": -1}, "others not negative"),
    ],
)
def test_what_no_tracker_can_do_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        TrackConfig(**settings)
