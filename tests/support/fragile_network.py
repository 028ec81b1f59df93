"""A network that passes the rehearsal before a league, and divides by zero on boards with three stones."""

from dataclasses import dataclass

import torch
from torch import nn

from league.policies.network import NetworkOutput


@dataclass(kw_only=True)
class FragileConfig:
    width: int = 16


class Fragile(nn.Module):
    Config = FragileConfig

    def __init__(self, config, shape):
        super().__init__()
        size = torch.Size(shape.observation.shape).numel()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(size, config.width), nn.Tanh())
        self.policy, self.value = nn.Linear(config.width, shape.outputs), nn.Linear(config.width, 1)

    def forward(self, seen):
        stones = seen.observation.flatten(1).sum(1, keepdim=True)
        x = self.body(seen.observation) / torch.where(stones == 3, 0.0, 1.0)
        return NetworkOutput(self.policy(x), self.value(x).squeeze(1))
