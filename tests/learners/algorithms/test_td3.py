"""TD3: its loss against a slow loop written from the paper; the policy moves in every second step."""

import numpy as np
import off_policy_papers as papers
import pytest
from off_policy_papers import DECISIONS, REACH, decisions, small

from learners.algorithms.td3_config import TD3Config


def noise(seed):
    return np.random.default_rng(seed).standard_normal((DECISIONS, 2), dtype=np.float32)


@pytest.mark.parametrize("smoothing", [0.25, 0.6])
def test_the_loss_is_that_of_the_paper(smoothing):
    algorithm, data = small(TD3Config(smoothing=smoothing), REACH), decisions(REACH)
    algorithm._rng = np.random.default_rng(5)
    critic, policy = papers.td3(algorithm, data, noise(5).tolist())
    found = algorithm.loss(data)
    assert float(found.metrics["losses/critic_loss"]) == pytest.approx(critic, rel=1e-4)
    assert float(found.loss.detach()) == pytest.approx(critic + policy, rel=1e-4)
    assert 0 < (np.abs(smoothing * noise(5)) > 0.5).sum() < DECISIONS * 2, "both sides of the bound are met"


def test_the_policy_rests_in_every_second_step():
    algorithm, data = small(TD3Config(policy_steps=2), REACH), decisions(REACH)
    moved = []
    for step in range(4):
        algorithm._gradient_steps = step
        algorithm.network.zero_grad()
        algorithm.loss(data).loss.backward()
        moved.append(algorithm.network.policy.flat.grad is not None)
        assert all(parameter.grad is not None for parameter in algorithm.network.critics.parameters())
    assert moved == [True, False, True, False]


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="policy_steps"):
        TD3Config(policy_steps=0)
