"""Twin delayed DDPG (Fujimoto et al. 2018): three remedies for critics that promise too much.

The lower of two critics is believed; noise on the actions of the target policy smooths their values; and the policy and
the targets move after every second step of the critics. Legend of shapes: see learners.algorithms.critics.
"""

import torch
from torch import Tensor

from league.metrics import POLICY_LOSS
from learners.algorithms.off_policy import OffPolicy
from learners.algorithms.td3_config import TD3Config
from learners.algorithms.values import Loss, Minibatch


def td3_loss(value_CB: Tensor, after_CB: Tensor, hoped_CB: Tensor | None, data: Minibatch) -> Loss:
    """Return the loss of the critics and, in every `policy_steps`-th step, of the policy.

    `value_CB` are the values of the actions taken, `after_CB` those of the smoothed target actions that follow, by the
    target critics, and `hoped_CB` those of the policy's actions, whose gradient reaches the policy only; None: not now.
    """
    error_CB = value_CB - (data.reward + data.discount * after_CB.amin(0)).detach()
    loss = 0.5 * (data.weight * error_CB.square()).mean(1).sum()
    metrics = {"losses/critic_loss": loss.detach()}
    if hoped_CB is not None:
        policy_loss = -hoped_CB[0].mean()
        loss, metrics[POLICY_LOSS] = loss + policy_loss, policy_loss.detach()
    return Loss(loss, error_CB.detach().abs().mean(0), value_CB.detach().mean(0), metrics)


def smoothed(action_BA: Tensor, noise_BA: Tensor, deviation: float, most: float) -> Tensor:
    """Return actions of the target policy with clipped noise, within their bounds."""
    return (action_BA + (deviation * noise_BA).clamp(-most, most)).clamp(-1, 1)


class TD3(OffPolicy):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    config: TD3Config

    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""
        seen, after = self.observed(data.seen), self.observed(data.after)
        value_CBN = self.network.critics(seen, data.action)
        with torch.no_grad():
            target_BA = self.target.policy.outputs(after)[0].tanh()
            noise_BA = self.noise(len(target_BA))
            action_BA = smoothed(target_BA, noise_BA, self.config.smoothing, self.config.smoothing_most)
            after_CBN = self.target.critics(after, action_BA)
        hoped_CB = None
        if self._gradient_steps % self.config.policy_steps == 0:
            with self.network.frozen_critics() as critics:
                hoped_CB = critics(seen, self.network.policy.outputs(seen)[0].tanh())[..., 0]
        return td3_loss(value_CBN[..., 0], after_CBN[..., 0], hoped_CB, data)
