"""Value decomposition networks (Sunehag et al. 2018): a team learns the value of joint actions.

Each agent has values for its own actions, so that it can act alone; the joint value, here the sum of the values of the
actions taken, is trained on the team's reward. Agents that are dead or do not act add nothing.

Legend of shapes: B joint steps of a minibatch, A agents of the seat, N options, X numbers of an observation.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from league.policies.flat_policy import FlatPolicy, Observed
from league.policies.layout import FloatArray, PolicyConfig
from league.policies.module_policy import make_policy
from league.spec import EnvSpec
from learners.algorithms.values import Loss, Minibatch, Tensors, ValueLearning, ValueNetwork
from learners.algorithms.vdn_config import VDNConfig
from learners.distributed import ALONE, Group


class Sum(nn.Module):
    """The mixer of VDN."""

    def forward(self, value_BA: Tensor, seen: Tensors) -> Tensor:
        """Return the joint value: [B]."""
        return value_BA.sum(1)


class TeamNetwork(ValueNetwork):
    """The network of the agents, and the mixer that combines their values."""

    def __init__(self, policy: FlatPolicy, mixer: nn.Module) -> None:
        super().__init__(policy)
        self.mixer = mixer

    def joint_value(self, each_BAN: Tensor, action_BA: Tensor, seen: Tensors) -> Tensor:
        """Return the joint value of these actions, from the values of each agent's actions: [B]."""
        value_BA = each_BAN.gather(2, action_BA[:, :, None]).squeeze(2)
        total: Tensor = self.mixer(value_BA * seen["present"], seen)
        return total


def team_loss(total_B: Tensor, after_B: Tensor, data: Minibatch) -> Loss:
    """Return the squared loss of a minibatch, from the joint values of its steps and of the following ones.

    It is not a Huber loss: at best a sum of values learns the mean over the actions of team-mates.
    """
    error_B = total_B - (data.reward + data.discount * after_B).detach()
    return Loss(0.5 * (data.weight * error_B.square()).mean(), error_B.detach(), total_B.detach())


class VDN(ValueLearning):
    """Trains one player, which controls a team. See learners.algorithms.algorithm.Algorithm."""

    network_kind: ClassVar[type[TeamNetwork]] = TeamNetwork
    config: VDNConfig
    network: TeamNetwork
    target: TeamNetwork

    def __init__(
        self, config: VDNConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        mixer = self.mixer(config, policy, spec, flat)
        super().__init__(config, self.network_kind(make_policy(policy, spec), mixer), flat, group)
        self._needs_place = policy.agent_id or not policy.ours

    def mixer(self, config: VDNConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray) -> nn.Module:
        """Return the module that combines the values of agents."""
        return Sum()

    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""
        total_B = self.network.joint_value(self._values(self.network, data.seen), data.action, data.seen)
        with torch.no_grad():
            judged_BAN = self._values(self.target, data.after)
            next_BAN = self._values(self.network, data.after) if self.config.double else judged_BAN
            best_BA = next_BAN.masked_fill(~data.after["mask"], -math.inf).argmax(2)
            after_B = self.target.joint_value(judged_BAN, best_BA, data.after)
        return team_loss(total_B, after_B, data)

    def _values(self, network: ValueNetwork, seen: Tensors) -> Tensor:
        steps, agents = seen["present"].shape
        each, _ = network.policy.outputs(self.observed(seen))
        return each.view(steps, agents, -1)

    def observed(self, seen: Tensors) -> Observed:
        """Return the agents of all steps in line."""
        steps, agents = seen["present"].shape
        observation = seen["observation"].flatten(0, 1)
        place = torch.arange(agents, device=observation.device).repeat(steps) if self._needs_place else None
        return Observed(observation, place, mask=seen["mask"].flatten(0, 1))
