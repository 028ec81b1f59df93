"""A network from nothing: attention over the squares of a board; and the same with a pretrained encoder."""

from dataclasses import dataclass

import torch
from safetensors.torch import load_file
from torch import nn

from league.policies.network import NetworkInput, NetworkOutput, NetworkShape


@dataclass(kw_only=True)
class SquaresConfig:
    """The settings: `policy.kwargs.width=64` changes one."""

    width: int = 32  # numbers for each square
    heads: int = 4  # of the attention
    encoder: str = ""  # a safetensors file with weights of the encoder; "": it starts at random


class Squares(nn.Module):
    """Sees a board (height, width, planes) as a set of squares that attend to one another."""

    Config = SquaresConfig

    def __init__(self, config: SquaresConfig, shape: NetworkShape) -> None:
        super().__init__()
        height, width, planes = shape.observation.shape  # with a Dict observation: shape.observation["board"].shape
        self.config = config
        self.encoder = nn.Linear(planes, config.width)
        self.place = nn.Parameter(0.1 * torch.randn(height * width, config.width))
        self.attention = nn.MultiheadAttention(config.width, config.heads, batch_first=True)
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(height * width * config.width, 64), nn.ReLU())
        self.policy = nn.Linear(64, shape.outputs)
        self.value = nn.Linear(64, 1)
        with torch.no_grad():
            self.policy.weight.mul_(0.01)  # play starts almost uniform

    def initialise(self) -> None:
        """Load the encoder: only where the first weights of a player are made, so only that machine needs the file."""
        if self.config.encoder:
            self.encoder.load_state_dict(load_file(self.config.encoder))

    def forward(self, seen: NetworkInput) -> NetworkOutput:
        """Return a logit for each option, and the value, of each position on its own."""
        squares = self.encoder(seen.observation.flatten(1, 2)) + self.place
        squares = squares + self.attention(squares, squares, squares, need_weights=False)[0]
        features = self.body(squares)
        return NetworkOutput(self.policy(features), self.value(features).squeeze(1))
