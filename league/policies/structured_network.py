"""The network `policy=structured`: a sub-network for each part of a Dict or Tuple observation, joined.

It follows the contract of league.policies.network, as a network of your own would.
"""

from dataclasses import dataclass, field

import torch
from torch import nn

from league.policies.network import NetworkInput, NetworkOutput, NetworkShape, leaves_of
from league.policies.part_encoder import LARGEST_WIDTH, MOST_DEEP, PartsEncoder


@dataclass(kw_only=True)
class StructuredConfig:
    """The settings of `policy=structured`: `policy.kwargs.width=128` changes one."""

    width: int = 64  # numbers that each part of the observation becomes
    hidden: int = 128  # units of the layer that joins them
    filters: list[list[int]] = field(default_factory=list)  # channels, kernel, stride of each convolution; []: by size
    agent_id: bool = False  # one more part: which agent of its seat it acts for

    def __post_init__(self) -> None:
        """Raise ValueError for impossible sizes."""
        if not 1 <= min(self.width, self.hidden) <= max(self.width, self.hidden) <= LARGEST_WIDTH:
            raise ValueError(f"width {self.width} and hidden {self.hidden} must lie between 1 and {LARGEST_WIDTH:,}")
        if len(self.filters) > MOST_DEEP:
            raise ValueError(f"at most {MOST_DEEP} convolutions are possible, not {len(self.filters)}")


class Structured(nn.Module):
    """Images by convolutions, vectors by an MLP, choices by embeddings; joined, then the heads."""

    Config = StructuredConfig

    def __init__(self, config: StructuredConfig, shape: NetworkShape) -> None:
        super().__init__()
        agents = shape.agents if config.agent_id else 0
        self.parts = PartsEncoder(leaves_of(shape.observation), config.width, config.filters, agents)
        self.joined = nn.Sequential(nn.ReLU(), nn.Linear(self.parts.size, config.hidden), nn.ReLU())
        self.policy, self.value = nn.Linear(config.hidden, shape.outputs), nn.Linear(config.hidden, 1)
        with torch.no_grad():
            self.policy.weight.mul_(0.01)  # play starts almost uniform

    def forward(self, seen: NetworkInput) -> NetworkOutput:
        """Return the outputs and the value of each decision."""
        features = self.joined(self.parts(leaves_of(seen.observation), seen.agent))
        return NetworkOutput(self.policy(features), self.value(features).squeeze(1))
