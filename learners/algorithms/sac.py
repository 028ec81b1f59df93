"""Soft actor-critic (Haarnoja et al. 2018): the policy is as random as it can be at little cost.

A nat of entropy is worth the *temperature*, which is tuned so that the policy has a given entropy. The policy needs a
standard deviation that depends on the state: `policy.deviation=state`, which `algo=sac` sets.

Legend of shapes: see learners.algorithms.critics.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from league.metrics import ENTROPY, POLICY_LOSS
from league.policies.flat_policy import FlatPolicy
from league.policies.layout import PolicyConfig
from league.policies.module_policy import make_policy
from league.spec import EnvSpec
from learners.algorithms.critics import Critics
from learners.algorithms.off_policy import OffPolicy, PolicyWithCritics
from learners.algorithms.off_policy_config import OffPolicyConfig
from learners.algorithms.sac_config import SACConfig
from learners.algorithms.values import Loss, Minibatch


class SoftNetwork(PolicyWithCritics):
    """The policy, the critics, and the logarithm of the temperature."""

    def __init__(self, policy: FlatPolicy, critics: Critics, temperature: float, tuned: bool) -> None:
        super().__init__(policy, critics)
        self.log_temperature = nn.Parameter(torch.tensor(math.log(temperature)), requires_grad=tuned)


class Sampled(NamedTuple):
    """Actions that the policy samples, not those that were taken."""

    value: Tensor  # [C, B] what critics think of them
    log_prob: Tensor  # [B] their log density


def sac_loss(
    value_CB: Tensor,
    after: Sampled,
    now: Sampled,
    log_temperature: Tensor,
    target_entropy: float | None,
    data: Minibatch,
) -> Loss:
    """Return the loss of the critics, of the policy and of the temperature.

    `value_CB` are the values of the actions taken; `after` are actions in the state that follows, judged by the target
    critics, and `now` those in the state itself, whose gradient reaches the policy only.
    """
    temperature = log_temperature.detach().exp()
    with torch.no_grad():
        target_B = data.reward + data.discount * (after.value.amin(0) - temperature * after.log_prob)
    error_CB = value_CB - target_B
    critic_loss = 0.5 * (data.weight * error_CB.square()).mean(1).sum()
    policy_loss = (temperature * now.log_prob - now.value.amin(0)).mean()
    loss, entropy = critic_loss + policy_loss, -now.log_prob.detach().mean()
    if target_entropy is not None:
        loss = loss + log_temperature * (entropy - target_entropy)
    metrics = {"losses/critic_loss": critic_loss, POLICY_LOSS: policy_loss, ENTROPY: entropy}
    metrics = {name: metric.detach() for name, metric in metrics.items()} | {"charts/temperature": temperature}
    return Loss(loss, error_CB.detach().abs().mean(0), value_CB.detach().mean(0), metrics)


class SAC(OffPolicy):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    config: SACConfig
    network: SoftNetwork
    target: SoftNetwork

    def _networks(self, config: OffPolicyConfig, policy: PolicyConfig, spec: EnvSpec) -> SoftNetwork:
        """Return the trained modules."""
        assert isinstance(config, SACConfig)
        critics = Critics(policy, spec, config.critics, self._rng)
        return SoftNetwork(make_policy(policy, spec), critics, config.temperature, config.target_entropy is not None)

    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""
        seen, after = self.observed(data.seen), self.observed(data.after)
        value_CBN = self.network.critics(seen, data.action)
        with torch.no_grad():
            following = self.network.policy(after, data.after["mask"])[0]
            after_BA, after_log_prob_B = following.sample(self.noise(len(data.reward)))
            after_CBN = self.target.critics(after, after_BA)
        action_BA, log_prob_B = self.network.policy(seen, data.seen["mask"])[0].sample(self.noise(len(data.reward)))
        with self.network.frozen_critics() as critics:
            hoped_CBN = critics(seen, action_BA)
        each = self.config.target_entropy
        return sac_loss(
            value_CBN[..., 0],
            Sampled(after_CBN[..., 0], after_log_prob_B),
            Sampled(hoped_CBN[..., 0], log_prob_B),
            self.network.log_temperature,
            None if each is None else each * self._spec.continuous,
            data,
        )
