"""A network that remembers: an LSTM whose state is its memory."""

from dataclasses import dataclass

import torch
from torch import nn

from league.policies.network import NetworkInput, NetworkOutput, NetworkShape


@dataclass(kw_only=True)
class RecurrentConfig:
    """The settings."""

    units: int = 32  # of the LSTM


class Recurrent(nn.Module):
    """Remembers: `memory` declares what, and `forward` returns what comes next."""

    Config = RecurrentConfig

    def __init__(self, config: RecurrentConfig, shape: NetworkShape) -> None:
        super().__init__()
        self.units = config.units
        self.cell = nn.LSTMCell(torch.Size(shape.observation.shape).numel(), config.units)
        self.policy, self.value = nn.Linear(config.units, shape.outputs), nn.Linear(config.units, 1)

    def memory(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return one agent's memory: any tensors, in any structure. It is zero when an episode begins."""
        return torch.zeros(self.units), torch.zeros(self.units)

    def forward(self, seen: NetworkInput) -> NetworkOutput:
        """Return outputs, value, and the memory after each decision."""
        state, cell = self.cell(seen.observation.flatten(1), seen.memory)
        return NetworkOutput(self.policy(state), self.value(state).squeeze(1), memory=(state, cell))
