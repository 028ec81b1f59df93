"""Sampling of actions in numpy: known answers of the race, and what is a legal action."""

import math

import numpy as np
import pytest

from league.policies.actions import best, legal, race, squashed_log_prob
from league.spec import Array, EnvSpec, Seat

MIXED = EnvSpec("mixed", ("a",), (Seat((0,)),), Array((2,), "float32"), actions=5, choices=(3, 2), continuous=1)


def test_the_race_goes_to_the_legal_action_with_the_largest_quotient():
    logits = np.log(np.array([[1.0], [2.0], [5.0]], np.float32))
    mask = np.array([[True, True, False]])
    for noise, winner in (([1, 1, 1], 1), ([1, 4, 1], 0)):
        action, log_prob = race(logits, mask, np.array(noise, np.float32)[:, None])
        assert action.tolist() == [winner]
        assert math.exp(log_prob[0]) == pytest.approx([1 / 3, 2 / 3][winner])


def test_the_best_action_takes_the_best_legal_options_and_the_means():
    outputs = np.array([[3, 2, 1, 0, 1, 0.5]], np.float32)
    mask = np.array([[False, True, True, True, True]])
    np.testing.assert_allclose(best(MIXED, outputs, mask), [[1, 1, math.tanh(0.5)]], rtol=1e-6)


@pytest.mark.parametrize(
    ("action", "fine"),
    [
        ((0, 1, -1.0), True),
        ((2, 1, 0.0), False),  # masked
        ((0, 2, 0.0), False),  # there is no such option
        ((0.5, 1, 0.0), False),
        ((-1, 1, 0.0), False),
        ((np.nan, 1, 0.0), False),
        ((0, 1, 1.1), False),
        ((0, 1, np.nan), False),
    ],
)
def test_an_action_is_legal_if_every_part_of_it_is(action, fine):
    mask = np.array([[True, True, False, True, True]])
    assert legal(MIXED, np.array([action], np.float32), mask).tolist() == [fine]


def test_a_number_in_the_middle_has_the_density_of_the_gaussian():
    zero = np.zeros((1, 1), np.float32)
    assert float(squashed_log_prob(zero, zero, zero[0])[0, 0]) == pytest.approx(-0.5 * math.log(2 * math.pi))
