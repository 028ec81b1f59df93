"""A running mean and deviation, for values whose scale nobody knows beforehand."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

DECAY = 0.99  # of what is known, at each batch
LEAST = 1e-2  # deviations below are taken for this


@dataclass(slots=True)
class Normaliser:
    """Keeps exponential averages, corrected for their start at zero.

    normaliser.learn(targets.mean(), targets.square().mean())
    loss = (network - normaliser.shrink(targets)).square()
    values = normaliser.stretch(network)
    """

    mean: float = 0.0
    square: float = 0.0
    weight: float = 0.0

    @property
    def _scale(self) -> tuple[float, float]:
        if not self.weight:
            return 0.0, 1.0
        mean = self.mean / self.weight
        return mean, max(self.square / self.weight - mean * mean, LEAST * LEAST) ** 0.5

    def learn(self, mean: Tensor, square: Tensor) -> None:
        """Take a batch into account: its mean, and the mean of its squares."""
        self.mean = DECAY * self.mean + (1 - DECAY) * float(mean)
        self.square = DECAY * self.square + (1 - DECAY) * float(square)
        self.weight = DECAY * self.weight + (1 - DECAY)

    def shrink(self, values: Tensor) -> Tensor:
        """Return values with about mean 0 and deviation 1."""
        mean, deviation = self._scale
        return (values - mean) / deviation

    def stretch(self, values: Tensor) -> Tensor:
        """Return what `shrink` made small."""
        mean, deviation = self._scale
        return values * deviation + mean

    def state(self) -> npt.NDArray[np.float64]:
        """Return what a checkpoint keeps."""
        return np.array([self.mean, self.square, self.weight])

    def restore(self, state: npt.NDArray[np.float64]) -> None:
        """Go on from a state."""
        self.mean, self.square, self.weight = map(float, state)
