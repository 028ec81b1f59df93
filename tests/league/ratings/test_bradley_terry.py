"""The Bradley-Terry fit: anchored, finite, in no order, and as sure as it says."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from simulated_league import SimulatedLeague, spaced

from league.game_counts import GameCounts
from league.ratings.bradley_terry import DRIFT, fit_outcomes
from league.ratings.elo import expected


def bradley_terry(points, anchors, **more):
    """Return the ratings of games that all have a winner, in seats that nobody recorded."""
    won = np.array(points, dtype=float)
    return fit_outcomes(GameCounts.unpaired(won, np.zeros(won.shape)), anchors, **more).ratings


@st.composite
def tables(draw, smallest=2):
    size = draw(st.integers(smallest, 6))
    cell = st.integers(0, draw(st.sampled_from([1, 3, 40])))
    points = np.array(draw(st.lists(cell, min_size=size * size, max_size=size * size)), dtype=float)
    points = points.reshape(size, size)
    np.fill_diagonal(points, 0)
    return points


def joined(points):
    reach = np.eye(len(points)) + points + points.T
    return (np.linalg.matrix_power(reach, len(points)) > 0).all()


def test_a_pair_gets_the_odds_of_its_games():
    fit = bradley_terry([[0, 75], [25, 0]], {1: 100.0}, prior=1e-6)
    assert fit.rating[0] == pytest.approx(100 + 400 * np.log10(3), abs=0.01)
    information = 100 * 0.75 * 0.25
    reach = 1.959964 * 400 / np.log(10) / np.sqrt(information)
    assert fit.high[0] - fit.rating[0] == pytest.approx(reach, rel=0.01)
    assert fit.low[1] == fit.high[1] == 100.0


def test_half_a_virtual_draw_for_each_player():
    fit = bradley_terry([[0, 100], [0, 0]], {1: 0.0}, prior=0.5)
    assert fit.rating[0] == pytest.approx(400 * np.log10(100.25 / 0.25), abs=1e-6)


def test_a_chain_adds_up_and_its_errors_do_too():
    points = np.zeros((3, 3))
    points[0, 1] = points[1, 2] = 300
    points[1, 0] = points[2, 1] = 100
    fit = bradley_terry(points, {2: 0.0}, prior=1e-6)
    one = 400 * np.log10(3)
    assert fit.rating == pytest.approx([2 * one, one, 0.0], abs=0.05)
    widths = fit.high - fit.rating
    assert widths[0] == pytest.approx(np.sqrt(2) * widths[1], rel=1e-3)


def test_a_long_line_of_stronger_players_is_not_pressed_together():
    size, gap = 60, 100.0
    points = np.zeros((size, size))
    for i in range(size - 1):
        points[i + 1, i] = 400 * expected(gap, 0)
        points[i, i + 1] = 400 - points[i + 1, i]
    fit = bradley_terry(points, {0: 0.0})
    assert fit.rating[-1] == pytest.approx(gap * (size - 1), rel=0.005)


@settings(deadline=None, max_examples=80)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_players_does_not_matter(points, random):
    order = list(range(len(points)))
    random.shuffle(order)
    anchor = {0: 50.0}
    fit = bradley_terry(points, anchor)
    moved = bradley_terry(points[np.ix_(order, order)], {order.index(0): 50.0})
    assert moved.rating == pytest.approx(fit.rating[order], abs=1e-4)
    assert moved.low == pytest.approx(fit.low[order], abs=1e-2, rel=1e-6)


@settings(deadline=None, max_examples=80)
@given(tables(3), st.floats(-2000, 2000), st.floats(-2000, 2000))
def test_anchors_stay_exactly_where_they_are_pinned(points, one, two):
    fit = bradley_terry(points, {0: one, 2: two})
    assert fit.rating[0] == fit.low[0] == fit.high[0] == one
    assert fit.rating[2] == fit.low[2] == fit.high[2] == two


@settings(deadline=None, max_examples=80)
@given(tables())
def test_every_rating_is_finite_whoever_won_all(points):
    fit = bradley_terry(points, {0: 0.0})
    assert np.isfinite(fit.rating).all()
    assert (fit.low <= fit.rating).all()
    assert (fit.rating <= fit.high).all()
    assert not np.isnan(fit.low).any()


@settings(deadline=None, max_examples=150)
@given(tables(), st.data())
def test_one_more_win_never_lowers_a_rating(points, data):
    met = np.argwhere(points + points.T > 0)
    assume(len(met))
    i, j = met[data.draw(st.integers(0, len(met) - 1))]
    anchor = {0: 0.0} if joined(points) and 0 not in (i, j) else {}
    more = points.copy()
    more[i, j] += 1
    before, after = bradley_terry(points, anchor), bradley_terry(more, anchor)
    assert after.rating[i] >= before.rating[i] - 1e-5
    assert after.rating[j] <= before.rating[j] + 1e-5
    assert after.rating[i] - after.rating[j] >= before.rating[i] - before.rating[j] - 1e-5


@settings(deadline=None, max_examples=100)
@given(tables(3), st.floats(-5000, 5000), st.floats(-5000, 5000))
def test_the_fit_is_the_likeliest(points, one, two):
    """At the optimum each free player's expected points equal the points it has, virtual ones included."""
    fit = bradley_terry(points, {0: one, 1: two}, prior=0.5)
    met = np.minimum(points + points.T, 1)
    each = 0.125 / np.maximum(met.sum(axis=1), 1)
    won = points + met * (each[:, None] + each[None, :])
    chance = 1 / (1 + 10 ** ((fit.rating[None, :] - fit.rating[:, None]) / 400))
    left_over = (won - (won + won.T) * chance).sum(axis=1)
    assert left_over[2:] == pytest.approx(0.0, abs=1e-6)


def test_a_player_without_games_has_an_infinite_interval():
    fit = bradley_terry([[0, 5, 0], [5, 0, 0], [0, 0, 0]], {0: 300.0})
    assert fit.rating[2] == 300.0
    assert (fit.low[2], fit.high[2]) == (-np.inf, np.inf)
    assert np.isfinite(fit.low[:2]).all()


def test_a_group_that_no_game_joins_to_an_anchor_says_so():
    points = np.zeros((4, 4))
    points[0, 1] = points[1, 0] = 5
    points[2, 3] = 9
    fit = bradley_terry(points, {0: 100.0})
    assert np.isfinite(fit.rating).all()
    assert fit.rating[2:].mean() == pytest.approx(100.0)
    assert fit.rating[2] > fit.rating[3]
    assert np.isinf(fit.low[2:]).all()
    assert np.isinf(fit.high[2:]).all()


def test_without_anchors_a_group_is_centred_and_relative_to_its_mean():
    fit = bradley_terry([[0, 75], [25, 0]], {}, prior=1e-6)
    gap = 400 * np.log10(3)
    assert fit.rating == pytest.approx([gap / 2, -gap / 2], abs=0.01)
    pinned = bradley_terry([[0, 75], [25, 0]], {1: 0.0}, prior=1e-6)
    half = (pinned.high[0] - pinned.rating[0]) / 2
    assert fit.high - fit.rating == pytest.approx([half, half], rel=1e-3)


def test_games_that_have_faded_away_join_nobody():
    fit = bradley_terry([[0, 1e-9], [0, 0]], {1: 0.0})
    assert (fit.rating[0], fit.low[0]) == (0.0, -np.inf)


def test_anchors_that_contradict_the_games_do_no_harm():
    fit = bradley_terry([[0, 0, 9], [9, 0, 0], [0, 9, 0]], {0: 3000.0, 2: -3000.0})
    assert fit.rating[[0, 2]] == pytest.approx([3000, -3000])
    assert np.isfinite(fit.rating[1])


def test_known_ratings_are_recovered_within_the_interval_19_times_of_20():
    rng = np.random.default_rng(5)
    inside = []
    for _ in range(120):
        true = rng.normal(0, 300, 8)
        true[0] = 0.0
        points = np.zeros((8, 8))
        for i in range(8):
            for j in range(i):
                points[i, j] = rng.binomial(30, expected(true[i], true[j]))
                points[j, i] = 30 - points[i, j]
        fit = bradley_terry(points, {0: 0.0})
        inside.append(((fit.low <= true) & (true <= fit.high))[1:])
    assert 0.92 < np.mean(inside) < 0.98


def test_an_empty_league_has_no_ratings():
    assert len(bradley_terry(np.zeros((0, 0)), {}).rating) == 0


def test_the_fit_refuses_what_it_cannot_fit():
    with pytest.raises(ValueError, match="square"):
        bradley_terry(np.zeros((2, 3)), {})
    with pytest.raises(ValueError, match="nan"):
        bradley_terry([[0, float("nan")], [1, 0]], {})
    with pytest.raises(ValueError, match="not negative"):
        bradley_terry([[0, -1], [1, 0]], {})
    with pytest.raises(ValueError, match="prior"):
        bradley_terry([[0, 1], [1, 0]], {}, prior=0.0)
    with pytest.raises(ValueError, match="anchors"):
        bradley_terry([[0, 1], [1, 0]], {2: 0.0})
    with pytest.raises(ValueError, match="anchors"):
        bradley_terry([[0, 1], [1, 0]], {0: float("nan")})


def test_the_first_seat_is_worth_what_was_planted_and_ratings_are_free_of_it():
    league = SimulatedLeague(np.array([0.0, 150.0, 300.0]), pairs=4000, seat=120.0)
    counts = league.play(np.random.default_rng(0))
    fit = fit_outcomes(counts, {0: 0.0})
    assert abs(fit.seat.value - 120) < 4 * fit.seat.error < 20
    assert fit.ratings.rating == pytest.approx(league.strength, abs=12)
    blind = fit_outcomes(GameCounts.unpaired(counts.points, np.zeros((3, 3))), {0: 0.0})
    assert blind.ratings.rating[2] < 290, "whoever ignores the seat takes players to be closer than they are"


def test_seats_that_are_not_balanced_do_not_move_a_rating():
    """One of two equals always has the first seat, which wins three games of four."""
    wins, zeros = np.array([[0, 0, 300.0], [0, 0, 150], [100, 50, 0]]), np.zeros((3, 3))
    losses = np.array([[0, 0, 100.0], [0, 0, 50], [300, 150, 0]]) * [[1, 1, 1], [1, 1, 1], [0, 1, 0]]
    wins[2, 0] = 0
    wins[2, 1], losses[2, 1] = 150, 50
    games = wins + losses
    units = games + games.T
    counts = GameCounts(
        wins=wins, draws=zeros, losses=losses, pairs=units, pair_squares=units / 2, margins=zeros, margin_squares=zeros
    )
    fit = fit_outcomes(counts, {2: 0.0})
    assert fit.ratings.rating == pytest.approx([0, 0, 0], abs=15)
    assert fit.seat.value == pytest.approx(400 * np.log10(3), abs=10)


def test_draws_that_are_modelled_make_an_interval_narrower():
    drawn = np.array([[0, 80.0], [80, 0]])
    fit = fit_outcomes(GameCounts.unpaired([[0, 10], [10, 0]], drawn), {1: 0.0})
    lively = fit_outcomes(GameCounts.unpaired([[0, 50], [50, 0]], 0 * drawn), {1: 0.0})
    assert fit.ratings.rating[0] == pytest.approx(0, abs=1e-6)
    assert fit.ratings.high[0] == pytest.approx(lively.ratings.high[0] * np.sqrt(0.2), rel=0.1)
    assert fit.draw_odds == pytest.approx(8, rel=0.2), "80 draws, 10 wins, 10 losses"


def test_pairs_that_go_together_make_an_interval_wider():
    alone = SimulatedLeague(np.zeros(4), pairs=200).play(np.random.default_rng(1))
    both = SimulatedLeague(np.zeros(4), pairs=200, together=1.0).play(np.random.default_rng(1))
    widths = [np.mean((f.high - f.low)[1:]) for f in (fit_outcomes(c, {0: 0.0}).ratings for c in (alone, both))]
    assert widths[1] == pytest.approx(widths[0] * np.sqrt(2), rel=0.1)


def test_a_candidate_without_games_has_its_predecessors_rating_and_a_wide_interval():
    counts = SimulatedLeague(np.array([0.0, 200.0, 0.0]), pairs=np.array([[0, 300, 0], [300, 0, 0], [0, 0, 0]]))
    fit = fit_outcomes(counts.play(np.random.default_rng(2)), {0: 0.0}, {2: 1})
    rating, reach = fit.ratings.rating, fit.ratings.high - fit.ratings.rating
    assert rating[2] == pytest.approx(rating[1])
    assert reach[2] == pytest.approx(np.sqrt(4 * reach[1] ** 2 + (1.96 * DRIFT) ** 2), rel=0.01)
    assert fit.joined.all()


def test_a_candidate_that_improves_is_hardly_held_back_by_its_predecessor():
    strength, bias = np.array([0.0, 50.0, 100.0, 130.0]), []
    pairs = np.full((4, 4), 60)
    pairs[2, 3] = pairs[3, 2] = 0
    rng = np.random.default_rng(3)
    for _ in range(60):
        fit = fit_outcomes(SimulatedLeague(strength, pairs=pairs).play(rng), {0: 0.0}, {3: 2})
        bias.append(fit.ratings.rating[3] - 130)
    assert abs(np.mean(bias)) < 6, "30 Elo a candidate: with half of the older games it was 31 below"


def test_a_large_league_is_fitted_at_once():
    rng, size = np.random.default_rng(4), 300
    strength = spaced(size, rng, gap=3.0)
    pairs = np.triu(rng.random((size, size)) < 0.1, 1) * 40
    fit = fit_outcomes(SimulatedLeague(strength, pairs=pairs + pairs.T).play(rng), {0: 0.0})
    off = (fit.ratings.rating - strength)[1:]
    error = np.sqrt(np.diag(fit.covariance))[1:]
    assert np.std(off) < np.mean(error), "the anchor's own luck moves everybody by the same"
    assert abs(np.mean(off)) < 3 * np.mean(error)
    assert fit.dispersion.misfit == pytest.approx(1, abs=0.1)
