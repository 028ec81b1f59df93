"""Observations at a running mean of 0 and a deviation of 1: what is known of them is a part of the weights.

Learners take in what they see and publish it with the weights, so that whoever acts, and every snapshot, has it. It is
not trained: no gradient goes there.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

FAR = 5.0  # deviations from the mean: larger ones are clipped
LEAST = 1e-3  # deviation of what hardly changes, where observations are numbers up to about 1
MEMORY = 1_000_000  # decisions after which old ones are forgotten as fast as new ones come

COUNT, MEAN, VARIANCE = "seen_count", "seen_mean", "seen_variance"


def shapes(size: int) -> dict[str, tuple[int, ...]]:
    """Return the parameters of a network that sees observations of so many numbers this way."""
    return {COUNT: (1,), MEAN: (size,), VARIANCE: (size,)}


def factors(views: Mapping[str, FloatArray], scale: float) -> tuple[FloatArray, FloatArray]:
    """Return what is taken off an observation, and what the rest is multiplied with."""
    variance = np.maximum(views[VARIANCE], 0) + np.float32((LEAST / scale) ** 2)
    factor: FloatArray = np.sqrt(variance) ** -1
    return views[MEAN], factor


def take_in(views: Mapping[str, FloatArray], mean: FloatArray, variance: FloatArray, count: int) -> None:
    """Take a batch of so many observations into account, in place."""
    known = float(views[COUNT][0])
    if known == 0:
        views[MEAN][:], views[VARIANCE][:] = mean, variance
    else:
        share = count / (known + count)
        apart = mean - views[MEAN]
        views[VARIANCE][:] = (1 - share) * views[VARIANCE] + share * variance + share * (1 - share) * apart * apart
        views[MEAN][:] += share * apart
    views[COUNT][:] = min(known + count, MEMORY)
