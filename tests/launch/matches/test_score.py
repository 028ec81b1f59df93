"""The score of one player against another."""

import pytest

from launch.matches.score import Score


def test_a_draw_is_half_a_point():
    score = Score(wins=8, draws=1, losses=1)
    assert (score.games, score.score) == (10, 0.85)


def test_the_interval_counts_episodes_and_not_their_games():
    """Known answer: Wilson's interval of 5 of 10 at 95 % is 0.2366 to 0.7634."""
    assert Score(wins=5, draws=0, losses=5).interval == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert Score(wins=10, draws=0, losses=10, episodes=10).interval == pytest.approx((0.2366, 0.7634), abs=1e-4)
