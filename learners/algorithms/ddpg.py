"""Deep deterministic policy gradient (Lillicrap et al. 2016): the policy climbs the slope of its critic.

Target networks follow the policy and the critic slowly. Noise is added where players act, by collectors; frozen players
have none. Legend of shapes: see learners.algorithms.critics.
"""

import torch
from torch import Tensor

from league.metrics import POLICY_LOSS
from learners.algorithms.ddpg_config import DDPGConfig
from learners.algorithms.off_policy import OffPolicy
from learners.algorithms.values import Loss, Minibatch


def ddpg_loss(value_B: Tensor, after_B: Tensor, hoped_B: Tensor, data: Minibatch) -> Loss:
    """Return the loss of the critic and of the policy.

    `value_B` are the values of the actions taken, `after_B` those of the target policy's actions that follow, by the
    target critic, and `hoped_B` those of the policy's actions, whose gradient reaches the policy only.
    """
    error_B = value_B - (data.reward + data.discount * after_B).detach()
    critic_loss = 0.5 * (data.weight * error_B.square()).mean()
    policy_loss = -hoped_B.mean()
    metrics = {"losses/critic_loss": critic_loss.detach(), POLICY_LOSS: policy_loss.detach()}
    return Loss(critic_loss + policy_loss, error_B.detach(), value_B.detach(), metrics)


class DDPG(OffPolicy):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    config: DDPGConfig

    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""
        seen, after = self.observed(data.seen), self.observed(data.after)
        value_CBN = self.network.critics(seen, data.action)
        with torch.no_grad():
            after_CBN = self.target.critics(after, self.target.policy.outputs(after)[0].tanh())
        with self.network.frozen_critics() as critics:
            hoped_CBN = critics(seen, self.network.policy.outputs(seen)[0].tanh())
        return ddpg_loss(value_CBN[0, :, 0], after_CBN[0, :, 0], hoped_CBN[0, :, 0], data)
