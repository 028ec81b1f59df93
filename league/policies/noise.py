"""Noisy layers (Fortunato et al. 2018): weights with a learned amount of noise, by which a live player explores.

A noisy layer has the weights `NAME` and `NAME_noise` (mu and sigma in the paper). Its noise is factorised: one number
for each input and one for each output, and a weight gets their product,

    y = W x + b + e_out * (S (e_in * x) + s),   e = sign(z) * sqrt(|z|),   z normal.

All fully connected layers are noisy but the first of an `mlp`, which encodes the observation as convolutions do
elsewhere. Actors sample other noise for each row, so every slot explores in its own way in every tick; frozen players
have none. Learners sample noise for each gradient step. No torch.
"""

from typing import NamedTuple

import numpy as np

from league.policies.layout import NOISE, FloatArray, Layout


class Noise(NamedTuple):
    """The noise of one layer."""

    inputs: FloatArray  # [rows or 1, inputs]
    outputs: FloatArray  # [rows or 1, outputs]


def noisy_layers(layout: Layout) -> dict[str, tuple[int, ...]]:
    """Return the layers that have noise, and the shape [outputs, inputs] of each.

    >>> noisy_layers(Layout({"value.weight": (1, 8), "value_noise.weight": (1, 8)}))
    {'value': (1, 8)}
    """
    end = f"{NOISE}.weight"
    return {name.removesuffix(end): shape for name, shape in layout.shapes.items() if name.endswith(end)}


def sample_noise(layout: Layout, rows: int, rng: np.random.Generator) -> dict[str, Noise]:
    """Return fresh noise for each noisy layer: other noise in each of the rows."""
    return {
        name: Noise(_factor(rng, rows, inputs), _factor(rng, rows, outputs))
        for name, (outputs, inputs) in noisy_layers(layout).items()
    }


def _factor(rng: np.random.Generator, rows: int, size: int) -> FloatArray:
    normal = rng.standard_normal((rows, size), dtype=np.float32)
    factor: FloatArray = np.sign(normal) * np.sqrt(np.abs(normal))
    return factor
