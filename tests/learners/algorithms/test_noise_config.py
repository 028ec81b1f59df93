"""Noise on actions: it falls, and travels with the weights."""

import numpy as np
import pytest
from off_policy_papers import REACH, small

from league.policies.layout import describe
from learners.algorithms.ddpg_config import DDPGConfig
from learners.algorithms.noise_config import NoiseConfig


def test_the_noise_falls_and_travels_with_the_weights():
    algorithm = small(DDPGConfig(noise=0.8, noise_final=0.2, noise_decisions=100, noise_spread=2.0), REACH)
    layout, told = describe(algorithm.network.policy._config, REACH), []
    for algorithm.decisions in (0, 50, 100, 1000):
        metrics = algorithm._explore()
        told.append(layout.views(algorithm.flat())["exploration"].tolist())
        assert metrics["charts/noise"] == pytest.approx(told[-1][0])
    np.testing.assert_allclose(told, [[0.8, 2], [0.5, 2], [0.2, 2], [0.2, 2]], rtol=1e-6)


def test_noise_that_is_negative_is_refused():
    with pytest.raises(ValueError, match="noise"):
        NoiseConfig(noise_final=-0.1)
