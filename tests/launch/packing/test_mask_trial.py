"""Whether a game has illegal actions."""

from contextlib import closing

import pytest

from collectors.envs.config import EnvConfig, make_environment
from launch.packing.mask_trial import has_masks
from launch.packing.packing import spaces_of


@pytest.mark.parametrize(
    ("name", "masks"),
    [("tic_tac_toe", True), ("connect_four", True), ("rock_paper_scissors", False), ("simple_tag", False)],
)
def test_a_short_random_play_shows_illegal_actions(name, masks):
    with closing(make_environment(EnvConfig(name=name), 1)) as env:
        assert has_masks(env, spaces_of(env)) == masks
