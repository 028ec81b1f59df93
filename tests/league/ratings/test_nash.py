"""Nash averaging: known answers, and what holds for every payoff."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_league import SimulatedLeague

from league.ratings.bradley_terry import fit_outcomes
from league.ratings.nash import max_entropy_nash, nash_view

CIRCLE = np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])


def test_rock_paper_scissors_is_uniform():
    assert max_entropy_nash(CIRCLE) == pytest.approx([1 / 3] * 3, abs=1e-6)


def test_an_uneven_circle_has_its_known_mixture():
    payoff = np.array([[0.0, 2, -1], [-2, 0, 1], [1, -1, 0]])
    assert max_entropy_nash(payoff) == pytest.approx([0.25, 0.25, 0.5], abs=1e-5)


def test_clones_share_their_mass():
    twice = [0, 0, 1, 2]
    assert max_entropy_nash(CIRCLE[np.ix_(twice, twice)]) == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-5)
    ties = np.array([[0.0, 0, 1], [0, 0, 1], [-1, -1, 0]])
    assert max_entropy_nash(ties) == pytest.approx([0.5, 0.5, 0], abs=1e-5)


def test_who_is_dominated_has_no_share():
    payoff = np.zeros((4, 4))
    payoff[:3, :3] = CIRCLE
    payoff[:3, 3], payoff[3, :3] = 0.1, -0.1
    assert max_entropy_nash(payoff)[3] == 0.0
    line = np.subtract.outer(np.arange(5.0), np.arange(5.0))
    assert max_entropy_nash(line) == pytest.approx([0, 0, 0, 0, 1])


def test_nobody_better_than_anybody_is_uniform():
    assert max_entropy_nash(np.zeros((4, 4))) == pytest.approx([0.25] * 4)
    assert max_entropy_nash(np.zeros((1, 1))).tolist() == [1.0]
    assert len(max_entropy_nash(np.zeros((0, 0)))) == 0


@st.composite
def payoffs(draw):
    size = draw(st.integers(2, 9))
    values = draw(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=size**2, max_size=size**2))
    upper = np.triu(np.array(values).reshape(size, size), 1)
    return upper - upper.T


@settings(deadline=None, max_examples=60)
@given(payoffs(), st.floats(0.01, 100.0))
def test_nobody_gains_against_the_mixture(payoff, scale):
    shares = max_entropy_nash(scale * payoff)
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert (payoff @ shares).max() < 1e-3


@settings(deadline=None, max_examples=30)
@given(payoffs(), st.randoms(use_true_random=False))
def test_the_order_of_players_does_not_matter(payoff, random):
    order = list(range(len(payoff)))
    random.shuffle(order)
    assert max_entropy_nash(payoff[np.ix_(order, order)]) == pytest.approx(max_entropy_nash(payoff)[order], abs=2e-3)


def test_a_league_of_a_thousand_takes_no_time_and_leaves_nobody_out():
    rng, size = np.random.default_rng(0), 1000
    payoff = np.zeros((size, size))
    weak = np.sort(rng.uniform(0.5, 3, size - 60))
    payoff[60:, 60:] = np.tanh(weak[:, None] - weak[None, :])
    payoff[:60, 60:] = np.tanh(0.1 + weak[::-1])
    payoff[60:, :60] = -payoff[:60, 60:].T
    for i in range(60):  # the best are rock, paper and scissors, twenty times each
        for j in range(60):
            payoff[i, j] = CIRCLE[i % 3, j % 3]
    order = rng.permutation(size)
    began = time.perf_counter()
    shares = max_entropy_nash(payoff[np.ix_(order, order)], rating=rng.normal(size=size))
    assert time.perf_counter() - began < 5
    assert shares[order < 60] == pytest.approx([1 / 60] * 60, abs=1e-4)
    assert shares[order >= 60].sum() < 1e-3


def test_cells_of_players_that_have_not_met_are_filled_by_the_ratings():
    pairs = np.full((4, 4), 200)
    pairs[0, 1] = pairs[1, 0] = 0
    pairs[3, :] = pairs[:, 3] = 0
    counts = SimulatedLeague(np.array([0.0, 200.0, 100.0, 0.0]), pairs=pairs).play(np.random.default_rng(1))
    fit = fit_outcomes(counts, {0: 0.0})
    view = nash_view(fit, counts)
    assert np.argwhere(view.filled).tolist() == [[0, 1], [1, 0]], "the one without games is not rated"
    assert view.payoff[0, 1] == pytest.approx(fit.advantage()[0, 1])
    assert view.payoff == pytest.approx(-view.payoff.T)
    assert view.shares == pytest.approx([0, 1, 0, 0])
    assert (view.entropy, view.diversity) == (0.0, 0.0)
    assert nash_view(fit, counts, members=1).shares == pytest.approx([1, 0, 0, 0])


def test_entropy_and_diversity_of_a_circle():
    residual = 200.0 * CIRCLE
    counts = SimulatedLeague(np.zeros(3), residual=residual, pairs=4000).play(np.random.default_rng(2))
    view = nash_view(fit_outcomes(counts, {0: 0.0}), counts)
    assert view.entropy == pytest.approx(np.log(3), abs=0.01)
    gain = 1 / (1 + 10**-0.5) - 0.5
    assert view.diversity == pytest.approx(3 * gain / 9, rel=0.05)
