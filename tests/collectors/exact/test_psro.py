"""PSRO with exact best responses: known answers of Kuhn poker and rock-paper-scissors."""

import numpy as np
import pytest

from collectors.envs.adapters.openspiel import builder
from collectors.envs.adapters.openspiel_tree import enumerate_openspiel
from collectors.exact.best_response import best_response, exploitability, profile_value
from collectors.exact.psro import psro, pure
from collectors.exact.tree_policy import uniform


@pytest.fixture(scope="module")
def kuhn():
    return enumerate_openspiel(builder("kuhn_poker")())


def test_kuhn_poker_is_solved_within_twelve_iterations(kuhn):
    steps = list(psro(kuhn, iterations=12))
    assert steps[0].nash_conv == pytest.approx(11 / 12), "the first pool is uniform play"
    assert steps[-1].nash_conv <= 0.02
    assert profile_value(kuhn, steps[-1].policy) == pytest.approx(-1 / 18)


def test_what_it_reports_is_the_nash_conv_of_its_policy(kuhn):
    for step in psro(kuhn, iterations=5):
        assert step.nash_conv == pytest.approx(exploitability(kuhn, step.policy).nash_conv)


def test_the_first_equilibrium_of_rock_paper_scissors_is_uniform_play():
    tree = enumerate_openspiel(builder("matrix_rps")())
    (only,) = psro(tree, iterations=50)
    assert only.nash_conv == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(only.policy, np.full((2, 3), 1 / 3))
    assert only.weights.tolist() == [1]


def test_a_pure_response_earns_its_values(kuhn):
    play = uniform(kuhn.sets)
    first, second = (best_response(kuhn, play, seat) for seat in (0, 1))
    found, seat = pure(kuhn, first, second), kuhn.sets.seat[:, None]
    assert profile_value(kuhn, np.where(seat == 0, found, play)) == pytest.approx(first.value)
    assert -profile_value(kuhn, np.where(seat == 1, found, play)) == pytest.approx(second.value)
