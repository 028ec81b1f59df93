"""Fitness: what perturbed weights of a player returned, one episode each. All that an evolving player learns from.

Legend of shapes: L lanes, each one episode of one entry.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId

FIELDS = ("offset", "sign", "returned", "decisions_made", "version")


@dataclass(frozen=True, slots=True)
class Fitness:
    """Episodes of one player, each with weights + sign * sigma * noise, from an offset of the shared noise table."""

    player: PlayerId
    incarnation: int
    offset: npt.NDArray[np.int64]  # [L] where the noise of the episode begins in the table
    sign: npt.NDArray[np.int8]  # [L] 1 or -1: the two of a pair have the same offset
    returned: npt.NDArray[np.float64]  # [L] the return of the episode
    decisions_made: npt.NDArray[np.int32]  # [L] decisions of the player in it
    version: npt.NDArray[np.int32]  # [L] of the weights that were perturbed

    @property
    def units(self) -> int:
        """What credits and batches count: episodes."""
        return len(self.offset)

    @property
    def lane_units(self) -> npt.NDArray[np.int64]:
        """What credits and batches count, of each lane."""
        return np.ones(len(self.offset), np.int64)

    @property
    def lane_decisions(self) -> npt.NDArray[np.int64]:
        """The number of decisions in each lane."""
        return self.decisions_made.astype(np.int64)

    def lanes(self, start: int, stop: int) -> "Fitness":
        """Return the lanes from `start` to `stop`, as views."""
        return Fitness(self.player, self.incarnation, **{n: a[start:stop] for n, a in self.arrays().items()})

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as they are sent."""
        return {name: getattr(self, name) for name in FIELDS}


def join_fitness(parts: Sequence[Fitness]) -> Fitness:
    """Return one Fitness with the lanes of all parts, which are of one player."""
    arrays = [part.arrays() for part in parts]
    joined = {name: np.concatenate([one[name] for one in arrays]) for name in FIELDS}
    return Fitness(parts[0].player, parts[0].incarnation, **joined)
