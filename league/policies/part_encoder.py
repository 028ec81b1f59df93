"""Turns the parts of a structured observation into numbers of equal scale, each part by the layers that suit it.

encoder = PartsEncoder(leaves_of(shape.observation), width=64, filters=[], agents=0)
encoder(leaves_of(seen.observation), seen.agent)        # [B, encoder.size]

Legend of shapes: B decisions, W numbers for each part.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from league.policies.convolution import STANDARD
from league.spec import ObservationPart

LARGEST_WIDTH, MOST_DEEP = 1 << 14, 100  # units of a layer and layers, at most: a file may claim anything
SMALL = [[16, 3, 1], [32, 3, 2]]  # channels, kernel and stride of each layer, for images below the standard sizes
IMAGE_SIDE = 7  # an array with two axes is an image if both have at least this length


def is_image(part: ObservationPart) -> bool:
    """Return whether a part is an image: (height, width, channels), or (height, width) of at least 7 x 7.

    >>> [is_image(ObservationPart((), 0, shape)) for shape in ((5, 5, 3), (84, 84), (6, 4), (9,))]
    [True, True, False, False]
    """
    if part.choices:
        return False
    return len(part.shape) == 3 or (len(part.shape) == 2 and min(part.shape) >= IMAGE_SIDE)


class PartsEncoder(nn.Module):
    """Encodes each part as W numbers, and joins them: images by convolutions, choices by embeddings, others by an MLP.

    The numbers of each part are normalised, so that a picture of bytes does not outweigh a vector of small numbers.
    """

    def __init__(
        self, parts: Sequence[ObservationPart], width: int, filters: Sequence[Sequence[int]], agents: int
    ) -> None:
        super().__init__()
        self.encoders = nn.ModuleList([_encoder(part, width, filters) for part in parts])
        self.agent = nn.Embedding(agents, width) if agents else None
        self.size = width * (len(parts) + bool(agents))

    def forward(self, parts: Sequence[Tensor], agent: Tensor) -> Tensor:
        """Return [B, size]."""
        found = [encoder(part) for encoder, part in zip(self.encoders, parts, strict=True)]
        if self.agent is not None:
            found.append(self.agent(agent))
        return torch.cat(found, dim=1)


def _encoder(part: ObservationPart, width: int, filters: Sequence[Sequence[int]]) -> nn.Module:
    if part.choices:
        return ChoiceEncoder(part.choices, width)
    if is_image(part):
        return ImageEncoder(part.shape, width, filters)
    layers = [nn.Linear(math.prod(part.shape), width), nn.ReLU(), nn.Linear(width, width), nn.LayerNorm(width)]
    return nn.Sequential(nn.Flatten(), *layers)


class ChoiceEncoder(nn.Module):
    """An embedding for each choice; their sum is normalised."""

    def __init__(self, choices: Sequence[int], width: int) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(options, width) for options in choices])
        self.norm = nn.LayerNorm(width)

    def forward(self, chosen: Tensor) -> Tensor:
        """Return [B, W] for the chosen options [B, ...]."""
        columns = chosen.reshape(len(chosen), -1).unbind(dim=1)
        found = [embed(column) for embed, column in zip(self.embeddings, columns, strict=True)]
        normed: Tensor = self.norm(torch.stack(found).sum(dim=0))
        return normed


class ImageEncoder(nn.Module):
    """Convolutions over an image (height, width, channels) or (height, width), in numbers of any scale."""

    def __init__(self, shape: tuple[int, ...], width: int, filters: Sequence[Sequence[int]]) -> None:
        super().__init__()
        if any(len(layer) != 3 or min(layer) < 1 for layer in filters):
            raise ValueError("filters: each layer needs channels, kernel and stride, all positive")
        fitting = [layers for side, layers in STANDARD.items() if side > IMAGE_SIDE and min(shape[:2]) >= side]
        inputs, sides, layers = shape[2] if len(shape) == 3 else 1, list(shape[:2]), []
        for channels, kernel, stride in filters or (*fitting, SMALL)[0]:
            padding = (kernel - 1) // 2
            layers += [nn.Conv2d(inputs, channels, kernel, stride, padding), nn.ReLU()]
            inputs, sides = channels, [(side + 2 * padding - kernel) // stride + 1 for side in sides]
        if min(sides) < 1:
            raise ValueError(f"the filters are too large for an image of {shape[0]} x {shape[1]}")
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Linear(inputs * math.prod(sides), width))
        self.norm = nn.LayerNorm(width)

    def forward(self, images: Tensor) -> Tensor:
        """Return [B, W]."""
        planes = images.permute(0, 3, 1, 2) if images.ndim == 4 else images[:, None]
        normed: Tensor = self.norm(self.layers(planes))
        return normed
