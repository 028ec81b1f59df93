"""The settings of matchmaking: what cannot be meant is refused."""

import pytest

from league.matchmaking.config import MatchmakingConfig


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"weighting": "soft"}, "choose one of hard"),
        ({"pfsp": 0.6}, "must be 1"),
        ({"exploited_below": 1.5}, "exploited_below"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        MatchmakingConfig(**wrong)


def test_shares_have_to_sum_to_one_only_where_all_are_used():
    assert MatchmakingConfig(name="pfsp", self_play=0.8).self_play == 0.8
