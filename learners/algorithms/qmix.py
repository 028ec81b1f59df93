"""QMIX (Rashid et al. 2018): as VDN, but a small network, the mixer, combines the agents' values.

Its weights depend on the observations of all agents. They are never negative, so the best joint action consists of the
best action of each agent. The mixer is trained with the player but not needed to act, so snapshots do not contain it: a
player that starts from a snapshot, and not from its checkpoint, starts with a fresh mixer.

Legend of shapes: see learners.algorithms.vdn; S numbers of a state, E units.
"""

import math
import zlib

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from league.policies.layout import FloatArray, PolicyConfig, team_size
from league.spec import EnvSpec
from learners.algorithms.qmix_config import QMIXConfig
from learners.algorithms.values import Tensors
from learners.algorithms.vdn import VDN
from learners.algorithms.vdn_config import VDNConfig


class Mixer(nn.Module):
    """A network of two layers over the values of agents, whose weights other networks compute from the state.

    The state is the observations of all agents, and which of them are present.
    """

    def __init__(self, agents: int, observation: int, units: int, hidden: int, scale: float = 1.0) -> None:
        super().__init__()
        self._agents, self._units, self._scale = agents, units, scale
        state = agents * (observation + 1)
        self.weight = nn.Sequential(nn.Linear(state, hidden), nn.ReLU(), nn.Linear(hidden, agents * units))
        self.bias = nn.Linear(state, units)
        self.last_weight = nn.Sequential(nn.Linear(state, hidden), nn.ReLU(), nn.Linear(hidden, units))
        self.last_bias = nn.Sequential(nn.Linear(state, units), nn.ReLU(), nn.Linear(units, 1))

    def forward(self, value_BA: Tensor, seen: Tensors) -> Tensor:
        """Return the joint value: [B]."""
        state_BS = team_state(seen, self._scale)
        weight_BAE = self.weight(state_BS).abs().unflatten(1, (self._agents, self._units))
        hidden_BE = functional.elu(torch.einsum("ba,bae->be", value_BA, weight_BAE) + self.bias(state_BS))
        total: Tensor = (hidden_BE * self.last_weight(state_BS).abs()).sum(1) + self.last_bias(state_BS).squeeze(1)
        return total


def team_state(seen: Tensors, scale: float) -> Tensor:
    """Return the observations of all agents, times a scale, and which of them are present: [B, S]."""
    present_BA1 = seen["present"][:, :, None].float()
    observation_BAX = seen["observation"].flatten(2).float() * scale
    return torch.cat((observation_BAX * present_BA1, present_BA1), dim=2).flatten(1)


def seeded(mixer: nn.Module, flat: FloatArray) -> nn.Module:
    """Return a mixer with fresh weights, seeded by the player's first ones."""
    rng = np.random.default_rng(zlib.crc32(flat.tobytes()))
    for parameter in mixer.parameters():
        limit = 1 / math.sqrt(parameter.shape[-1])
        values = rng.uniform(-limit, limit, tuple(parameter.shape)).astype(np.float32)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values))
    return mixer


class QMIX(VDN):
    """Trains one player, which controls a team. See learners.algorithms.algorithm.Algorithm."""

    def mixer(self, config: VDNConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray) -> nn.Module:
        """Return a fresh mixer, seeded by the player's first weights, so that runs can be repeated."""
        assert isinstance(config, QMIXConfig)
        size = config.mixer_units, config.mixer_hidden
        return seeded(Mixer(team_size(spec), spec.observation.size, *size, scale=policy.scale(spec)), flat)
