"""Normalisation of observations by their running mean and standard deviation, which are part of the weights.

Learners update these statistics and publish them with the weights, so that actors and snapshots have them. They receive
no gradient.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

FAR = 5.0  # normalised observations are clipped to this
LEAST = 1e-3  # its square is added to the variance, for inputs that hardly change and are at most about 1
MEMORY = 1_000_000  # decisions that the running averages count, at most

COUNT, MEAN, VARIANCE = "seen_count", "seen_mean", "seen_variance"


def shapes(size: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the statistics, by parameter name, for observations of this size."""
    return {COUNT: (1,), MEAN: (size,), VARIANCE: (size,)}


def factors(views: Mapping[str, FloatArray], scale: float) -> tuple[FloatArray, FloatArray]:
    """Return the mean to subtract from an observation, and the factor to multiply the difference by."""
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
