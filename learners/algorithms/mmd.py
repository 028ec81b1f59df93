"""Magnetic mirror descent (Sokolov et al. 2023) as an actor-critic: steps that stay near the last policy and a magnet.

    loss = - mean(r A) + mean(KL(policy || last)) / step_size + magnet_coef * mean(KL(policy || magnet)) + ...

with r = policy(a) / last(a). Self-play with a fixed magnet converges to the equilibrium of the regularised game, and
with a magnet whose weight falls to that of the game itself. The divergence from the last policy is estimated from the
sampled actions by r log r - r + 1, which is never negative and has its mean; learners.algorithms.magnet adds the other
one, exactly.

Legend of shapes: see learners.decisions.
"""

from torch import Tensor

from league.metrics import APPROX_KL, ENTROPY, POLICY_LOSS, VALUE_LOSS
from league.policies.distribution import Distribution
from learners.algorithms.actor_critic import ActorCritic, Loss
from learners.algorithms.mmd_config import MMDConfig
from learners.decisions import Decisions
from learners.returns import Trajectories


def mmd_loss(actions: Distribution, value_B: Tensor, data: Decisions, config: MMDConfig, entropy_coef: float) -> Loss:
    """Return the loss of a minibatch, without the pull of the magnet, and its metrics."""
    log_ratio_B = actions.log_prob(data.action) - data.old_log_prob
    ratio_B = log_ratio_B.exp()

    divergence = (ratio_B * log_ratio_B - ratio_B + 1).mean()
    policy_loss = -(ratio_B * data.advantage).mean() + divergence / config.step_size
    value_loss = 0.5 * (value_B - data.target).square().mean()
    entropy = actions.entropy().mean()

    loss = policy_loss + config.value_coef * value_loss - entropy_coef * entropy
    metrics = {POLICY_LOSS: policy_loss, VALUE_LOSS: value_loss, ENTROPY: entropy, APPROX_KL: divergence}
    return loss, {name: value.detach() for name, value in metrics.items()}


class MMD(ActorCritic):
    """The policy gradient with two divergences instead of a clip."""

    config: MMDConfig

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return lambda-returns and generalised advantages."""
        advantage_LTA = trajectories.advantages(value_LTA, self.config.gamma, self.config.gae_lambda)
        return advantage_LTA + value_LTA, advantage_LTA

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return the loss of mirror descent."""
        return mmd_loss(actions, value_B, data, self.config, entropy_coef)
