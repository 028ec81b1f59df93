"""The vanilla policy gradient: REINFORCE (Williams 1992) with a baseline, one gradient step for each batch.

    loss = - mean((G - b) log p(a)) + value_coef * mean((V - G)^2) / 2 - entropy * mean(H)

with G the discounted rewards from a decision to the end of its episode, and b the baseline: the value V of the network,
the mean of the batch, or nothing. Where a segment ends before its episode does, the value of the tail takes the place
of the rewards that are missing; with a larger `collector.ticks` that is rare.

Legend of shapes: see learners.decisions.
"""

from torch import Tensor

from league.policies.distribution import Distribution
from learners.algorithms.a2c import actor_critic_loss
from learners.algorithms.actor_critic import ActorCritic, Loss
from learners.algorithms.vpg_config import VPGConfig
from learners.decisions import Decisions
from learners.returns import Trajectories


class VPG(ActorCritic):
    """The policy gradient with whole returns."""

    config: VPGConfig

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return all later rewards, and by how much they exceed the baseline."""
        return_LTA = trajectories.lambda_returns(value_LTA, self.config.gamma, 1.0)
        if self.config.baseline == "value":
            return return_LTA, return_LTA - value_LTA
        if self.config.baseline == "mean":
            mean, _ = self._moments_of(return_LTA[trajectories.present])
            return return_LTA, (return_LTA - mean) * trajectories.present
        return return_LTA, return_LTA

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return the loss of the policy gradient, the values and the entropy."""
        return actor_critic_loss(actions, value_B, data, self.config, entropy_coef)
