"""The settings of algorithms with a replay."""

import numpy as np
import pytest
from small_dqn import batch_of, make

from learners.algorithms.dqn_config import DQNConfig


def test_a_target_network_moves_by_a_share(hints, spec):
    algorithm = make(spec, tau=0.25, target_steps=10**6)
    before = algorithm.target.policy.read()
    algorithm.update(batch_of(hints(0)), np.random.default_rng(0))
    np.testing.assert_array_equal(algorithm.target.policy.read(), before)
    algorithm._follow()
    now = algorithm.flat()
    np.testing.assert_allclose(algorithm.target.policy.read(), before + 0.25 * (now - before), atol=1e-6)
    assert not np.array_equal(now, before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"replay": 100, "batch": 1024}, "a replay of 100 decisions is smaller than algo.batch, which is 1024"),
        ({"replay": 5000, "warmup": 6000}, "smaller than algo.warmup, which is 6000"),
        ({"n_step": 0}, "n_step"),
        ({"priority": 1.5}, "between 0 and 1"),
        ({"tau": 0.0}, "tau"),
        ({"tau": 1.5}, "tau"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        DQNConfig(**settings)
