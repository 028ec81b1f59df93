"""A running mean and standard deviation, for values of unknown scale."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

DECAY = 0.99  # of the averages, at each batch
LEAST = 1e-2  # smallest deviation


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
        """Update the averages with the mean and the mean square of a batch."""
        self.mean = DECAY * self.mean + (1 - DECAY) * float(mean)
        self.square = DECAY * self.square + (1 - DECAY) * float(square)
        self.weight = DECAY * self.weight + (1 - DECAY)

    def shrink(self, values: Tensor) -> Tensor:
        """Return values normalised to about mean 0 and deviation 1."""
        mean, deviation = self._scale
        return (values - mean) / deviation

    def stretch(self, values: Tensor) -> Tensor:
        """Return values in their own scale: the inverse of `shrink`."""
        mean, deviation = self._scale
        return values * deviation + mean

    def state(self) -> npt.NDArray[np.float64]:
        """Return the state for a checkpoint."""
        return np.array([self.mean, self.square, self.weight])

    def restore(self, state: npt.NDArray[np.float64]) -> None:
        """Continue from a state."""
        self.mean, self.square, self.weight = map(float, state)
