"""The settings of algorithms whose networks output values."""

import numpy as np
import pytest
from small_dqn import POLICY, batch_of, make

from league.policies.layout import describe
from learners.algorithms.value_config import ValueConfig


def test_epsilon_falls_and_travels_with_the_weights(hints, spec):
    settings = {"epsilon_decisions": 64, "epsilon_final": 0.1, "epsilon_spread": 7.0}
    algorithm, rng = make(spec, **settings), np.random.default_rng(0)
    told = []
    for seed in range(3):
        algorithm.update(batch_of(hints(seed)), rng)
        told.append(describe(POLICY, spec).views(algorithm.flat())["exploration"].tolist())
    np.testing.assert_allclose(told, [[0.55, 7], [0.1, 7], [0.1, 7]], rtol=1e-6)


@pytest.mark.parametrize("settings", [{"epsilon": 1.5}, {"epsilon_final": -0.1}])
def test_a_rate_of_exploration_that_cannot_be_is_refused(settings):
    with pytest.raises(ValueError, match="between 0 and 1"):
        ValueConfig(**settings)


def test_slots_cannot_explore_with_more_than_certainty():
    with pytest.raises(ValueError, match=r"algo.epsilon_spread=-3 must not be negative"):
        ValueConfig(epsilon_spread=-3.0)
