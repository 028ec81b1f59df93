"""The average of a player's versions, of which its candidates are made (`learner.ema`).

Policies that circle around an equilibrium have an average that is nearer to it, and averages of noisy weights are less
noisy. Collectors still play the newest weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from league.policies.layout import FloatArray, Layout

FLAT, COUNT = "average_flat", "average_count"


@dataclass(slots=True)
class WeightAverage:
    """An exponential moving average, corrected for its start.

    average.add(weights)                # of each version
    average.read(newest)                # the weights of a candidate

    After n versions w_1, ..., w_n it is the sum of decay ** (n - k) * w_k, divided by the sum of these powers.
    """

    decay: float
    layout: Layout
    _flat: FloatArray = field(default_factory=lambda: np.zeros(0, np.float32))
    _count: int = 0

    def add(self, flat: FloatArray) -> None:
        """Take in the weights of the next version."""
        self._count += 1
        if self._count == 1:
            self._flat = flat.copy()
        else:
            self._flat += np.float32((1 - self.decay) / (1 - self.decay**self._count)) * (flat - self._flat)

    def read(self, newest: FloatArray) -> FloatArray:
        """Return the average, with the newest statistics of observations; without a version the newest weights."""
        if not self._count:
            return newest
        mean, views = self._flat.copy(), self.layout.views(newest)
        for name, view in self.layout.views(mean).items():
            if name in self.layout.untrained:
                view[:] = views[name]
        return mean

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return what a checkpoint must hold."""
        return {FLAT: self._flat.copy(), COUNT: np.array(self._count, np.int64)} if self._count else {}

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Continue from a state; from one without an average, begin a new one."""
        self._flat, self._count = np.array(state.get(FLAT, self._flat)), int(state.get(COUNT, 0))
