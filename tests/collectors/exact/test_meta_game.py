import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_games import random_policy, spiel_tree

from collectors.exact.best_response import exploitability
from collectors.exact.meta_game import equilibrium, payoff_matrix
from collectors.exact.tree_policy import mixed, uniform


def test_payoffs_are_expected_returns_over_both_seats():
    tree = spiel_tree("matrix_rps")
    pure = [np.tile(np.eye(3)[action], (2, 1)) for action in range(3)]
    assert payoff_matrix(tree, pure).tolist() == [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]


def test_who_beats_everybody_is_played_alone():
    assert equilibrium(np.array([[0, 1, 1], [-1, 0, 5], [-1, -5, 0.0]])).tolist() == [1, 0, 0]
    assert equilibrium(np.zeros((1, 1))).tolist() == [1]


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_nothing_beats_an_equilibrium(size, seed):
    rng = np.random.default_rng(seed)
    half = np.round(rng.normal(size=(size, size)), rng.integers(0, 4))  # rounded ones have ties
    payoff = half - half.T
    weights = equilibrium(payoff)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert (payoff @ weights).max() <= 1e-9


def test_the_nash_mixture_of_rock_paper_and_scissors_is_an_equilibrium_of_the_game():
    tree = spiel_tree("matrix_rps")
    pure = [np.tile(np.eye(3)[action], (2, 1)) for action in range(3)]
    mixture = mixed(tree.sets, pure, equilibrium(payoff_matrix(tree, pure)).tolist())
    assert exploitability(tree, mixture).nash_conv == pytest.approx(0, abs=1e-9)


def test_a_mixture_may_use_few_of_many():
    tree, rng = spiel_tree("kuhn_poker"), np.random.default_rng(0)
    policies = [random_policy(tree, rng) for _ in range(20)] + [uniform(tree.sets)]
    payoff = payoff_matrix(tree, policies)
    assert payoff == pytest.approx(-payoff.T)
    assert (payoff @ equilibrium(payoff)).max() <= 1e-9
