"""The settings of algorithms with a replay."""

import numpy as np
import pytest
from small_dqn import POLICY, batch_of, make

from league.policies.layout import describe
from learners.algorithms.dqn_config import DQNConfig


def test_epsilon_falls_and_travels_with_the_weights(hints, spec):
    settings = {"epsilon_decisions": 64, "epsilon_final": 0.1, "epsilon_spread": 7.0}
    algorithm, rng = make(spec, **settings), np.random.default_rng(0)
    told = []
    for seed in range(3):
        algorithm.update(batch_of(hints(seed)), rng)
        told.append(describe(POLICY, spec).views(algorithm.flat())["exploration"].tolist())
    np.testing.assert_allclose(told, [[0.55, 7], [0.1, 7], [0.1, 7]], rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"replay": 100, "batch": 1024}, "a replay of 100 decisions is smaller than algo.batch, which is 1024"),
        ({"replay": 5000, "warmup": 6000}, "smaller than algo.warmup, which is 6000"),
        ({"n_step": 0}, "n_step"),
        ({"epsilon": 1.5}, "between 0 and 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        DQNConfig(**settings)
