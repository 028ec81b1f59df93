"""QPLEX (Wang et al. 2021): the joint value is one of the state and an advantage of the joint action, a duplex duel.

With the value Q of each agent's action, V of its best one and A = Q - V, which is never positive,

    joint value = sum(w Q + b) + sum((lambda - 1) w A),   w > 0, lambda > 0

where w and b depend on the state and lambda on the joint action, too. As lambda is positive, the best joint action
consists of the best action of each agent; as it may be anything else, every joint value with that property can be
learned, and not only those that are monotone in each agent's value. No gradient flows through A of the second sum.

Legend of shapes: see learners.algorithms.qmix; K kernels of lambda.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from league.policies.layout import FloatArray, PolicyConfig, team_size
from league.spec import EnvSpec
from learners.algorithms.qmix import seeded, team_state
from learners.algorithms.qplex_config import QPLEXConfig
from learners.algorithms.values import Tensors
from learners.algorithms.vdn import VDN, TeamNetwork
from learners.algorithms.vdn_config import VDNConfig

SMALLEST = 1e-10  # added to what must be positive


class DuplexMixer(nn.Module):
    """Networks that compute the weights of agents from the state and, for lambda, from the joint action."""

    def __init__(self, agents: int, observation: int, options: int, kernels: int, hidden: int, scale: float) -> None:
        super().__init__()
        self._agents, self._options, self._kernels, self._scale = agents, options, kernels, scale
        state = agents * (observation + 1)

        def network(inputs: int, outputs: int) -> nn.Sequential:
            return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))

        self.weight, self.bias = network(state, agents), network(state, agents)
        self.key, self.agent = network(state, kernels), network(state, agents * kernels)
        self.action = network(state + agents * options, agents * kernels)

    def forward(self, value_BA: Tensor, best_BA: Tensor, action_BA: Tensor, seen: Tensors) -> Tensor:
        """Return the joint value, from the values of the actions taken and of the best ones: [B]."""
        present_BA, state_BS = seen["present"], team_state(seen, self._scale)
        weight_BA = self.weight(state_BS).abs() + SMALLEST
        advantage_BA = (weight_BA * (value_BA - best_BA)).detach()
        each_BA = weight_BA * value_BA + self.bias(state_BS)
        joint_BA = each_BA + (self.importance(action_BA, present_BA, state_BS) - 1) * advantage_BA
        total: Tensor = (joint_BA * present_BA).sum(1)
        return total

    def importance(self, action_BA: Tensor, present_BA: Tensor, state_BS: Tensor) -> Tensor:
        """Return lambda, which is positive, of each agent: [B, A]."""
        taken_BAN = functional.one_hot(action_BA, self._options) * present_BA[:, :, None]
        both_BX = torch.cat((state_BS, taken_BAN.flatten(1).float()), dim=1)
        shape = self._agents, self._kernels
        agent_BAK = self.agent(state_BS).sigmoid().unflatten(1, shape)
        action_BAK = self.action(both_BX).sigmoid().unflatten(1, shape)
        key_BK: Tensor = self.key(state_BS).abs() + SMALLEST
        importance_BA: Tensor = (key_BK[:, None] * agent_BAK * action_BAK).sum(2)
        return importance_BA


class DuplexNetwork(TeamNetwork):
    """The network of the agents, and the mixer that needs their best values, too."""

    def joint_value(self, each_BAN: Tensor, action_BA: Tensor, seen: Tensors) -> Tensor:
        """Return the joint value of these actions, from the values of each agent's actions: [B]."""
        value_BA = each_BAN.gather(2, action_BA[:, :, None]).squeeze(2)
        best_BA = each_BAN.masked_fill(~seen["mask"], -math.inf).amax(2)
        best_BA = torch.where(seen["present"], best_BA, value_BA)  # who is absent has no legal action
        total: Tensor = self.mixer(value_BA, best_BA, action_BA, seen)
        return total


class QPLEX(VDN):
    """Trains one player, which controls a team. See learners.algorithms.algorithm.Algorithm."""

    network_kind = DuplexNetwork

    def mixer(self, config: VDNConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray) -> nn.Module:
        """Return a fresh mixer, seeded by the player's first weights, so that runs can be repeated."""
        assert isinstance(config, QPLEXConfig)
        size = config.kernels, config.mixer_hidden
        return seeded(
            DuplexMixer(team_size(spec), spec.observation.size, spec.actions, *size, policy.scale(spec)), flat
        )
