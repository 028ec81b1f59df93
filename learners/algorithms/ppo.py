"""Proximal policy optimization (Schulman et al. 2017), for segments of any number of agents.

With agents that share one network it is IPPO, with a central critic (`policy.critic`) MAPPO (Yu et al. 2022); with a
memory it learns from whole lanes, starting from the memory that the collector stored.

Legend of shapes: see learners.decisions.
"""

import torch
from torch import Tensor

from league.metrics import APPROX_KL, ENTROPY, POLICY_LOSS, VALUE_LOSS
from league.policies.distribution import Distribution
from learners.algorithms.actor_critic import ActorCritic, Loss
from learners.algorithms.ppo_config import PPOConfig
from learners.decisions import Decisions
from learners.returns import Trajectories


def ppo_loss(actions: Distribution, value_B: Tensor, data: Decisions, config: PPOConfig, entropy_coef: float) -> Loss:
    """Return the loss of a minibatch and its metrics."""
    log_ratio_B = actions.log_prob(data.action) - data.old_log_prob
    ratio_B = log_ratio_B.exp()

    clipped_B = ratio_B.clamp(1 - config.clip, 1 + config.clip)
    policy_loss = -torch.minimum(ratio_B * data.advantage, clipped_B * data.advantage).mean()

    error_B = (value_B - data.target).square()
    if config.value_clip is not None:
        moved_B = (value_B - data.old_value).clamp(-config.value_clip, config.value_clip)
        error_B = torch.maximum(error_B, (data.old_value + moved_B - data.target).square())
    value_loss = 0.5 * error_B.mean()

    entropy = actions.entropy().mean()
    loss = policy_loss + config.value_coef * value_loss - entropy_coef * entropy
    with torch.no_grad():
        metrics = {
            POLICY_LOSS: policy_loss,
            VALUE_LOSS: value_loss,
            ENTROPY: entropy,
            "losses/old_approx_kl": (-log_ratio_B).mean(),
            APPROX_KL: (ratio_B - 1 - log_ratio_B).mean(),
            "losses/clipfrac": ((ratio_B - 1).abs() > config.clip).float().mean(),
        }
    return loss, {name: value.detach() for name, value in metrics.items()}


class PPO(ActorCritic):
    """The policy gradient with a clipped probability ratio."""

    config: PPOConfig

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return lambda-returns and generalised advantages."""
        advantage_LTA = trajectories.advantages(value_LTA, self.config.gamma, self.config.gae_lambda)
        return advantage_LTA + value_LTA, advantage_LTA

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return the clipped loss."""
        return ppo_loss(actions, value_B, data, self.config, entropy_coef)
