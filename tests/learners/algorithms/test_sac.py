"""SAC: its losses against slow loops written from the paper, and a temperature that holds the entropy."""

import math

import numpy as np
import off_policy_papers as papers
import pytest
from off_policy_papers import DECISIONS, REACH, decisions, small

from learners.algorithms.sac_config import SACConfig


def noises(seed):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((DECISIONS, 2), dtype=np.float32).tolist() for _ in range(2)]


@pytest.mark.parametrize("target_entropy", [-1.0, None])
def test_the_loss_is_that_of_the_paper(target_entropy):
    config = SACConfig(temperature=0.3, target_entropy=target_entropy)
    algorithm, data = small(config, REACH), decisions(REACH)
    log_temperature = float(algorithm.network.log_temperature.detach())
    critic, policy, entropy = papers.sac(algorithm, data, *noises(5), math.exp(log_temperature))
    algorithm._rng = np.random.default_rng(5)
    found = algorithm.loss(data)
    tuning = 0.0 if target_entropy is None else log_temperature * (entropy - 2 * target_entropy)
    assert float(found.metrics["losses/critic_loss"]) == pytest.approx(critic, rel=1e-4)
    assert float(found.metrics["losses/policy_loss"]) == pytest.approx(policy, rel=1e-4)
    assert float(found.metrics["losses/entropy"]) == pytest.approx(entropy, rel=1e-4)
    assert float(found.loss.detach()) == pytest.approx(critic + policy + tuning, rel=1e-4)


@pytest.mark.parametrize(("target", "sign"), [(20.0, -1), (-20.0, 1), (None, 0)])
def test_the_temperature_rises_if_there_is_too_little_entropy(target, sign):
    algorithm, data = small(SACConfig(target_entropy=target), REACH), decisions(REACH)
    algorithm.loss(data).loss.backward()
    slope = algorithm.network.log_temperature.grad
    assert (0 if slope is None else np.sign(float(slope))) == sign
    assert all(parameter.grad is not None for parameter in algorithm.network.critics.parameters())
    assert algorithm.network.policy.flat.grad.abs().sum() > 0


def test_a_temperature_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="temperature"):
        SACConfig(temperature=0.0)
