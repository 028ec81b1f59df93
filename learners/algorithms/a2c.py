"""Advantage actor-critic (Mnih et al. 2016, without threads): one plain policy gradient step for each batch.

It does not correct for the age of its data, which must therefore be fresh: see `max_lag`.

Legend of shapes: see learners.decisions.
"""

from torch import Tensor

from league.metrics import APPROX_KL, ENTROPY, POLICY_LOSS, VALUE_LOSS
from league.policies.distribution import Distribution
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.actor_critic import ActorCritic, Loss
from learners.algorithms.config import ActorCriticConfig
from learners.decisions import Decisions
from learners.returns import Trajectories


def actor_critic_loss(
    actions: Distribution, value_B: Tensor, data: Decisions, config: ActorCriticConfig, entropy_coef: float
) -> Loss:
    """Return the loss of a batch and its metrics."""
    log_prob_B = actions.log_prob(data.action)
    policy_loss = -(log_prob_B * data.advantage).mean()
    value_loss = 0.5 * (value_B - data.target).square().mean()
    entropy = actions.entropy().mean()
    loss = policy_loss + config.value_coef * value_loss - entropy_coef * entropy
    log_ratio_B = log_prob_B.detach() - data.old_log_prob
    metrics = {
        POLICY_LOSS: policy_loss,
        VALUE_LOSS: value_loss,
        ENTROPY: entropy,
        APPROX_KL: (log_ratio_B.exp() - 1 - log_ratio_B).mean(),
    }
    return loss, {name: value.detach() for name, value in metrics.items()}


class A2C(ActorCritic):
    """The policy gradient with generalised advantages."""

    config: A2CConfig

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return lambda-returns and generalised advantages."""
        advantage_LTA = trajectories.advantages(value_LTA, self.config.gamma, self.config.gae_lambda)
        return advantage_LTA + value_LTA, advantage_LTA

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return the loss of the policy gradient, the values and the entropy."""
        return actor_critic_loss(actions, value_B, data, self.config, entropy_coef)
