"""Normalisation of observations to a running mean of 0 and deviation of 1. The statistics are part of the weights.

Learners update them and publish them with the weights, so that actors and snapshots have them. They are not trained: no
gradient reaches them.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

FAR = 5.0  # normalised observations are clipped to this
LEAST = 1e-3  # added deviation, for inputs that hardly change and are at most about 1
MEMORY = 1_000_000  # decisions in the running average, at most

COUNT, MEAN, VARIANCE = "seen_count", "seen_mean", "seen_variance"


def shapes(size: int) -> dict[str, tuple[int, ...]]:
    """Return the parameters of a network that normalises observations of this size."""
    return {COUNT: (1,), MEAN: (size,), VARIANCE: (size,)}


def factors(views: Mapping[str, FloatArray], scale: float) -> tuple[FloatArray, FloatArray]:
    """Return the mean to subtract from an observation, and the factor for the rest."""
    variance = np.maximum(views[VARIANCE], 0) + np.float32((LEAST / scale) ** 2)
    factor: FloatArray = np.sqrt(variance) ** -1
    return views[MEAN], factor


def take_in(views: Mapping[str, FloatArray], mean: FloatArray, variance: FloatArray, count: int) -> None:
    """Update the statistics in place with those of a batch of `count` observations."""
    known = float(views[COUNT][0])
    if known == 0:
        views[MEAN][:], views[VARIANCE][:] = mean, variance
    else:
        share = count / (known + count)
        apart = mean - views[MEAN]
        views[VARIANCE][:] = (1 - share) * views[VARIANCE] + share * variance + share * (1 - share) * apart * apart
        views[MEAN][:] += share * apart
    views[COUNT][:] = min(known + count, MEMORY)
