"""DDPG: its loss against a slow loop written from the paper, and which parameters each part of it moves."""

import off_policy_papers as papers
import pytest
from off_policy_papers import REACH, decisions, small

from learners.algorithms.ddpg_config import DDPGConfig


def test_the_loss_is_that_of_the_paper():
    algorithm, data = small(DDPGConfig(), REACH), decisions(REACH)
    critic, policy = papers.ddpg(algorithm, data)
    found = algorithm.loss(data)
    assert float(found.loss.detach()) == pytest.approx(critic + policy, rel=1e-4)
    assert float(found.metrics["losses/critic_loss"]) == pytest.approx(critic, rel=1e-4)
    assert float(found.metrics["losses/policy_loss"]) == pytest.approx(policy, rel=1e-4)


def test_the_policy_climbs_and_the_critic_does_not_help_it():
    """The gradient of the critic is that of its own loss alone, though the policy's loss runs through it."""
    algorithm, data = small(DDPGConfig(), REACH), decisions(REACH)
    algorithm.loss(data).loss.backward()
    whole = [parameter.grad.clone() for parameter in algorithm.network.critics.parameters()]
    assert algorithm.network.policy.flat.grad.abs().sum() > 0
    algorithm.network.zero_grad()
    error = algorithm.network.critics(algorithm.observed(data.seen), data.action)[0, :, 0] - target_of(algorithm, data)
    (0.5 * (data.weight * error.square()).mean()).backward()
    for parameter, gradient in zip(algorithm.network.critics.parameters(), whole, strict=True):
        assert gradient.allclose(parameter.grad, rtol=1e-3, atol=1e-6)
    assert all(parameter.grad is None for parameter in algorithm.target.parameters())


def target_of(algorithm, data):
    after = algorithm.observed(data.after)
    action = algorithm.target.policy.outputs(after)[0].tanh()
    return (data.reward + data.discount * algorithm.target.critics(after, action)[0, :, 0]).detach()
