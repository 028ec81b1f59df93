"""Scores in each variant, from training games."""

import pytest

from league.variant_scores import count_variant, variant_score


def test_games_of_a_free_for_all_count_for_each_pair_and_fade():
    scores = {}
    count_variant(scores, "small", ["a", "b", "c"], (0, 1, 2), [(0, 1, 1), (1, 0, 2)], decay=0.5)
    assert scores["small"]["a"]["b"] == (0.5, 1.5)
    assert scores["small"]["b"]["a"] == (1.0, 1.5)
    assert scores["small"]["b"]["c"] == (1.25, 1.5), "a draw, then a win"
    assert variant_score(scores, "small", "a", "c", 0.5, 0.0) == pytest.approx(1.0)


def test_an_absent_player_has_no_game():
    scores = {}
    count_variant(scores, "small", ["a", "b"], (0, 1), [(0, -1), (0, 1)], decay=1.0)
    assert scores["small"]["a"]["b"] == (1.0, 1.0)


def test_without_games_the_score_is_the_prior():
    assert variant_score({}, "small", "a", "b", prior=0.3, prior_games=4.0) == pytest.approx(0.3)
