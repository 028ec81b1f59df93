"""What every fit offers: groups of players, differences with errors, and the payoff that ratings predict."""

import numpy as np
import pytest

from league.game_counts import GameCounts
from league.ratings.bradley_terry import fit_outcomes
from league.ratings.elo import expected
from league.ratings.fits import Estimate, check_anchors, groups, reach
from league.ratings.return_ratings import fit_returns


def test_groups_are_the_players_that_games_join():
    met = np.zeros((6, 6), dtype=bool)
    for i, j in ((0, 3), (3, 5), (1, 2)):
        met[i, j] = met[j, i] = True
    assert [group.tolist() for group in groups(met)] == [[0, 3, 5], [1, 2], [4]]


def test_reach_follows_edges_in_their_direction():
    edges = np.zeros((4, 4), dtype=bool)
    edges[0, 1] = edges[1, 2] = edges[3, 0] = True
    assert reach(edges, np.array([0])).tolist() == [True, True, True, False]
    assert reach(edges.T, np.array([0])).tolist() == [True, False, False, True]


def test_a_difference_is_surer_than_two_ratings_far_from_the_anchor():
    """Two players that met often, and the anchor hardly."""
    wins = np.array([[0, 5, 5], [5, 0, 400], [5, 400, 0]])
    fit = fit_outcomes(GameCounts.unpaired(wins, np.zeros((3, 3))), {0: 0.0})
    gap = fit.difference(1, 2)
    assert gap.value == pytest.approx(0, abs=1e-6)
    assert gap.error < 0.3 * np.sqrt(fit.covariance[1, 1])
    assert fit.difference(1, 1).error == 0
    assert Estimate(3.0, 0.0).surprise == 0.0
    assert Estimate(3.0, 1.5).surprise == 2.0


def test_the_payoff_that_ratings_predict():
    wins = np.array([[0, 75, 0], [25, 0, 50], [0, 50, 0]])
    counts = GameCounts.unpaired(wins, np.zeros((3, 3)))
    fit = fit_outcomes(counts, {2: 0.0})
    rating = fit.ratings.rating
    assert fit.advantage()[0, 2] == pytest.approx(expected(rating[0], rating[2]) - 0.5)
    assert fit.advantage() == pytest.approx(-fit.advantage().T)
    by_return = fit_returns(counts, {2: 0.0})
    assert by_return.advantage()[0, 2] == pytest.approx(0.5, abs=1e-6)


def test_pins_of_nobody_and_at_no_number_are_refused():
    check_anchors({0: 1.0}, 1)
    for bad in ({1: 0.0}, {-1: 0.0}, {0: float("inf")}):
        with pytest.raises(ValueError, match="anchors"):
            check_anchors(bad, 1)
