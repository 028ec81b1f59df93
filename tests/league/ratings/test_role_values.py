"""Value over replacement: known answers, an uneven schedule, and intervals that cover the truth."""

import numpy as np
import pytest

from league.ratings.role_values import SeatedReturns, fit_role_values


def league(values, concedes, games, rng=None, noise=0.0):
    """Return the games of players with these values against opponents that concede this much."""
    games = np.array(games, float)
    mean = np.add.outer(values, concedes)
    if rng is None:
        return SeatedReturns(games, games * mean, games * mean**2)
    sums, squares = np.zeros_like(games), np.zeros_like(games)
    for i, j in np.argwhere(games > 0):
        drawn = rng.normal(mean[i, j], noise, int(games[i, j]))
        sums[i, j], squares[i, j] = drawn.sum(), (drawn**2).sum()
    return SeatedReturns(games, sums, squares)


EVERYBODY = np.ones(5, bool)
VALUES = np.array([0.0, 1.0, 2.0, 4.0, 8.0])


def test_values_are_those_over_the_median_player():
    found = fit_role_values(league(VALUES, [10.0, -10.0], np.full((5, 2), 6.0)), EVERYBODY)
    assert found.over == pytest.approx(VALUES - 2.0)
    assert found.mean == pytest.approx(VALUES)


def test_an_easy_schedule_gains_nothing():
    """The weakest meets mostly those who concede most: its mean is the best, its value the worst."""
    games = [[1, 90], [30, 30], [30, 30], [30, 30], [90, 1]]
    found = fit_role_values(league(VALUES, [-20.0, 20.0], games), EVERYBODY)
    assert found.mean.argmax() == 0
    assert found.over == pytest.approx(VALUES - 2.0)


def test_the_pool_decides_whose_median_is_the_replacement():
    pool = np.array([True, True, False, False, True])
    found = fit_role_values(league(VALUES, [0.0], np.full((5, 1), 4.0)), pool)
    assert found.over == pytest.approx(VALUES - 1.0)
    two = fit_role_values(league(VALUES, [0.0], np.full((5, 1), 4.0)), np.array([True, False, False, False, True]))
    assert two.over == pytest.approx(VALUES - 4.0), "of two it is the mean"


def test_players_without_a_common_opponent_are_not_compared():
    games = np.zeros((5, 2))
    games[:3, 0], games[3:, 1] = 5.0, 5.0
    found = fit_role_values(league(VALUES, [0.0, 0.0], games), EVERYBODY)
    assert found.over == pytest.approx([-1.0, 0.0, 1.0, -2.0, 2.0]), "each group has a median of its own"
    games[4] = 0.0
    lone = fit_role_values(league(VALUES, [0.0, 0.0], games), EVERYBODY)
    assert np.isnan(lone.over[3:]).all()
    assert np.isnan(lone.mean[4])
    nobody = fit_role_values(league(VALUES, [0.0, 0.0], np.zeros((5, 2))), EVERYBODY)
    assert np.isnan(nobody.over).all()


@pytest.mark.parametrize("cyclic", [0.0, 2.0])
def test_intervals_cover_the_truth(cyclic):
    """With pairs that deviate from any values the intervals include that."""
    rng, covered, cases = np.random.default_rng(1), 0, 0
    for _ in range(150):
        values, concedes = rng.normal(size=8), rng.normal(scale=5.0, size=12)
        games = rng.integers(4, 40, size=(8, 12)).astype(float)
        seen = league(values, concedes, games, rng, noise=3.0)
        off = rng.normal(scale=cyclic, size=games.shape)
        sums = seen.sums + games * off
        squares = seen.squares + 2 * off * seen.sums + games * off**2
        found = fit_role_values(SeatedReturns(games, sums, squares), np.ones(8, bool))
        median = int(np.argsort(found.over)[3]), int(np.argsort(found.over)[4])
        truth = values - (values[median[0]] + values[median[1]]) / 2
        covered += int((np.abs(found.over - truth) <= found.reach * found.error).sum())
        cases += 8
    assert 0.92 < covered / cases < 0.98, covered / cases
