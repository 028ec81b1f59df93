"""Ratings by return: the potential of margins, and the order of chips where wins say the opposite."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.game_counts import GameCounts
from league.ratings.return_ratings import DRIFT_GAMES, fit_returns


def counted(margins, units, spread=1.0):
    """Return counts of single games with these mean margins."""
    means, games = np.array(margins, dtype=float), np.array(units, dtype=float)
    zeros, half = np.zeros_like(games), games / 2
    return GameCounts(
        wins=half, draws=zeros, losses=zeros, pairs=games, pair_squares=half,
        margins=means * games, margin_squares=games * (means**2 + spread**2),
    )  # fmt: skip


def potential(rating):
    return np.subtract.outer(rating, rating)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-50, 50), min_size=2, max_size=6), st.floats(-5, 5))
def test_a_potential_is_recovered_exactly(rating, pin):
    true = np.array(rating)
    games = 10.0 * (1 - np.eye(len(true)))
    fit = fit_returns(counted(potential(true), games), {0: pin})
    assert fit.ratings.rating == pytest.approx(true - true[0] + pin, abs=1e-5)
    assert fit.ratings.low[0] == fit.ratings.high[0] == pin
    assert fit.dispersion.spread == 0


def test_least_squares_weigh_by_games():
    """Three cells that no ratings describe: the rating is between what two ways to the anchor say."""
    margins = np.array([[0, 0, 1.0], [0, 0, 2], [-1, -2, 0]])
    games = np.array([[0, 30.0, 10], [30, 0, 20], [10, 20, 0]])
    fit = fit_returns(counted(margins, games), {2: 0.0})
    weights = np.array([[40.0, -30], [-30, 50]])
    assert fit.ratings.rating[:2] == pytest.approx(np.linalg.solve(weights, [10.0, 40.0]))


def test_an_interval_is_that_of_a_mean():
    fit = fit_returns(counted([[0, 0.5], [-0.5, 0]], [[0, 400.0], [400, 0]], spread=3.0), {1: 0.0})
    assert fit.ratings.high[0] - 0.5 == pytest.approx(1.96 * 3 / 20, rel=0.01)


def test_pairs_that_always_end_alike_are_known_exactly():
    """A game of luck: both games of a pair have the same start, so what one loses in a seat it wins in the other."""
    games = 400.0 * (1 - np.eye(3))
    for margins in (np.zeros((3, 3)), potential(np.array([2.0, 1.0, 0.0]))):
        fit = fit_returns(counted(margins, games, spread=0.0), {2: 0.0})
        assert fit.ratings.rating == pytest.approx(margins[:, 2])
        assert fit.ratings.high - fit.ratings.low == pytest.approx(0.0, abs=1e-6)


def test_who_wins_seldom_and_much_is_above_who_wins_often_and_little():
    """The first loses two hands of three by one chip and wins the third by five."""
    games = np.array([[0, 300.0], [300, 0]])
    fit = fit_returns(counted([[0, 1.0], [-1, 0]], games, spread=2.8), {1: 0.0})
    assert fit.ratings.low[0] > 0


def test_players_that_no_game_joins_to_an_anchor_have_no_interval():
    games = np.zeros((5, 5))
    games[0, 1] = games[1, 0] = games[2, 3] = games[3, 2] = 10
    fit = fit_returns(counted(potential(np.arange(5.0)), games), {0: 0.0})
    assert fit.joined.tolist() == [True, True, False, False, False]
    assert np.isinf(fit.ratings.high[2:]).all()
    assert np.isfinite(fit.ratings.rating).all()
    free = fit_returns(counted(potential(np.arange(5.0)), games), {})
    assert free.joined.tolist() == [True, True, True, True, False]
    assert free.ratings.rating[:2] == pytest.approx([-0.5, 0.5])


def test_a_candidate_without_games_has_its_predecessors_rating_and_a_wide_interval():
    games = np.array([[0, 400.0, 0], [400, 0, 0], [0, 0, 0]])
    fit = fit_returns(counted(potential(np.array([0.0, 0.5, 0.0])), games, spread=3.0), {0: 0.0}, {2: 1})
    rating, reach = fit.ratings.rating, fit.ratings.high - fit.ratings.rating
    assert rating.tolist() == pytest.approx([0.0, 0.5, 0.5], abs=1e-6)
    assert reach[2] == pytest.approx(np.sqrt(4 * reach[1] ** 2 + (1.96 * 3) ** 2 / DRIFT_GAMES), rel=0.01)
    assert fit.joined.all()


def test_own_games_take_over_from_the_predecessor():
    games = np.array([[0, 400.0, 400], [400, 0, 0], [400, 0, 0]])
    fit = fit_returns(counted(potential(np.array([0.0, 0.5, 1.5])), games, spread=3.0), {0: 0.0}, {2: 1})
    assert fit.ratings.rating[1:] == pytest.approx([0.5, 1.5], abs=0.03)


def test_no_games_and_games_of_one_unit_are_no_error():
    assert len(fit_returns(counted(np.zeros((0, 0)), np.zeros((0, 0))), {}).ratings.rating) == 0
    assert fit_returns(counted(np.zeros((2, 2)), np.zeros((2, 2))), {}, {0: 1}).ratings.rating.tolist() == [0.0, 0.0]
    one = fit_returns(counted([[0, 2.0], [-2, 0]], [[0, 1.0], [1, 0]], spread=0.0), {1: 0.0})
    assert one.ratings.rating[0] == pytest.approx(2)
    assert np.isfinite(one.ratings.high[0])
    with pytest.raises(ValueError, match="anchors"):
        fit_returns(counted([[0, 2.0], [-2, 0]], [[0, 1.0], [1, 0]]), {7: 0.0})


# --- roles ---------------------------------------------------------------------------------------------------


def hunted(strength, lead, games=40):
    """Return exact counts of a league with two roles: 0 is in both, the first half of the others tigers, the rest deer.

    The tiger has the first seat, and returns `lead` more than the deer, whoever plays.
    """
    size = len(strength)
    tigers, deer = range(1, 1 + (size - 1) // 2), range(1 + (size - 1) // 2, size)
    table = {name: np.zeros((size, size)) for name in ("wins", "draws", "losses", "pairs", "squares", "margins", "own")}
    met = [(t, d) for t in (0, *tigers) for d in (0, *deer) if t != d]
    for t, d in met:
        margin = strength[t] - strength[d] + lead
        table["wins"][t, d] = games
        table["pairs"][t, d] = table["pairs"][d, t] = games
        table["squares"][t, d] = games
        table["margins"][t, d], table["margins"][d, t] = games * margin, -games * margin
        table["own"][t, d] = table["own"][d, t] = games * (margin**2 + 1.0)
    return GameCounts(
        wins=table["wins"],
        draws=table["draws"],
        losses=table["losses"],
        pairs=table["pairs"],
        pair_squares=table["squares"],
        margins=table["margins"],
        margin_squares=table["own"],
    )


def test_a_role_that_returns_more_says_nothing_about_its_players():
    strength = [0.0, 2.0, -1.0, 3.0, -2.0]  # random, two tigers, two deer
    counts = hunted(strength, lead=50.0)
    found = fit_returns(counts, {0: 0.0}, asymmetric=True)
    assert found.ratings.rating == pytest.approx(strength, abs=1e-6)
    assert found.seat.value == pytest.approx(50.0, abs=1e-6)
    assert found.cells.predicted == pytest.approx(found.cells.observed)
    without = fit_returns(counts, {0: 0.0}).ratings.rating
    assert without[1:3].min() > without[3:].max() + 50, "the seat was rated, not the player"


def test_without_roles_nothing_changes_where_seats_are_swapped():
    rng = np.random.default_rng(2)
    won = rng.integers(1, 30, size=(5, 5)).astype(float)
    counts = GameCounts.unpaired(won, np.zeros((5, 5)))
    plain, roles = (fit_returns(counts, {0: 0.0}, {4: 3}, asymmetric=flag) for flag in (False, True))
    assert roles.ratings.rating == pytest.approx(plain.ratings.rating, abs=1e-6)
    assert roles.ratings.low[1:] == pytest.approx(plain.ratings.low[1:], abs=1e-4)
    assert roles.seat.value == pytest.approx(0.0, abs=1e-6)


def test_intervals_of_players_of_a_role_cover_the_truth():
    rng, covered = np.random.default_rng(5), 0
    for _ in range(200):
        strength = np.concatenate([[0.0], rng.normal(size=6)])
        exact = hunted(strength, lead=20.0, games=60)
        noise = np.triu(rng.normal(scale=np.sqrt(60), size=exact.margins.shape), 1)
        margins = np.where(exact.margins != 0, exact.margins + noise - noise.T, 0.0)
        noisy = replace(exact, margins=margins, margin_squares=exact.pairs * ((margins / 60) ** 2 + 1.0))
        found = fit_returns(noisy, {0: 0.0}, asymmetric=True).ratings
        covered += int(((found.low <= strength) & (strength <= found.high))[1:].sum())
    assert 0.92 < covered / 1200 < 0.985, covered / 1200
