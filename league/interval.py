"""Confidence intervals of scores."""

from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np


@lru_cache(maxsize=64)
def quantile(confidence: float) -> float:
    """Return the half-width, in standard deviations, of a two-sided normal interval of this confidence."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson(points: Any, games: Any, confidence: float = 0.95) -> tuple[Any, Any]:
    """Return the Wilson interval of the score points / games, for numbers or arrays; (0, 1) without games.

    A draw is half a point. Draws have less variance than wins and losses, so with draws the interval is somewhat too
    wide, never too narrow.

    >>> [round(float(bound), 3) for bound in wilson(8.0, 10.0)]
    [0.49, 0.943]
    """
    square = quantile(confidence) ** 2
    spread = np.maximum(points * (games - points), 0.0) / np.maximum(games, 1e-300)
    half = np.sqrt(square * (spread + square / 4))
    middle, weight = points + square / 2, games + square
    return np.clip((middle - half) / weight, 0.0, 1.0), np.clip((middle + half) / weight, 0.0, 1.0)
