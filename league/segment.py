"""Segments: the unit of training data, as arrays.

Legend of shapes: L lanes, T ticks, A agents of the seat, N options, K tails, M numbers of a memory,
* the observation's own shape, or the state's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId

CONTINUES, TERMINATED, CUT = 0, 1, 2
"""What follows a decision: another decision, the end of its episode, or a cut whose value comes from a tail."""

FIELDS = (
    "observation", "mask", "action", "log_prob", "reward", "end", "present", "length", "version",
    "tail_lane", "tail_tick", "tail_agent", "tail_observation", "tail_mask",
)  # fmt: skip
EXTRAS = ("memory", "state", "tail_state")
"""The fields that only some networks need."""
STEPS = FIELDS[:7]
"""The fields with an entry for each lane, tick and agent."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Up to T consecutive decisions of each of L lanes, all of one player.

    A lane may span several episodes (`end` marks their ends), and its last segment may be shorter (`length`). Where an
    episode was truncated, or the segment stops in mid-episode, `end` is CUT, and a *tail* holds the observation to
    bootstrap from. The learner computes values; segments do not contain them. For recurrent networks, `memory` is the
    state from which the learner unrolls them. For critics that see the whole game, `state` is its state.
    """

    player: PlayerId
    incarnation: int
    observation: npt.NDArray[Any]  # [L, T, A, *] in the environment's own dtype
    mask: npt.NDArray[np.bool_]  # [L, T, A, N] legal actions
    action: npt.NDArray[Any]  # [L, T, A] or [L, T, A, parts], see EnvSpec.action
    log_prob: npt.NDArray[np.float32]  # [L, T, A] of the action, under the weights that chose it
    reward: npt.NDArray[np.float32]  # [L, T, A] between this decision and the agent's next one
    end: npt.NDArray[np.uint8]  # [L, T, A] CONTINUES, TERMINATED or CUT
    present: npt.NDArray[np.bool_]  # [L, T, A] whether the agent decided in this tick
    length: npt.NDArray[np.int32]  # [L] ticks in use
    version: npt.NDArray[np.int32]  # [L] the oldest version of the weights that decided
    tail_lane: npt.NDArray[np.int32]  # [K] the lane of a CUT
    tail_tick: npt.NDArray[np.int32]  # [K] its tick
    tail_agent: npt.NDArray[np.int32]  # [K] its agent
    tail_observation: npt.NDArray[Any]  # [K, *] the agent's next observation
    tail_mask: npt.NDArray[np.bool_]  # [K, N] its legal actions then; at the end of an episode, those before the cut
    memory: npt.NDArray[np.float32] | None = None  # [L, A, M] of each agent before its first decision here
    state: npt.NDArray[Any] | None = None  # [L, T, *] of the whole game in each tick
    tail_state: npt.NDArray[Any] | None = None  # [K, *] of the whole game after each cut

    @property
    def decisions(self) -> int:
        """The number of decisions, which credits and batches count."""
        return int(self.present.sum())

    @property
    def units(self) -> int:
        """What credits and batches count: decisions."""
        return self.decisions

    @property
    def lane_decisions(self) -> npt.NDArray[np.int64]:
        """The number of decisions in each lane."""
        held: npt.NDArray[np.int64] = self.present.sum(axis=(1, 2))
        return held

    @property
    def lane_units(self) -> npt.NDArray[np.int64]:
        """What credits and batches count, of each lane."""
        return self.lane_decisions

    def lanes(self, start: int, stop: int) -> "Segments":
        """Return the lanes from `start` to `stop`, as views, with copies of their tails."""
        mine = (self.tail_lane >= start) & (self.tail_lane < stop)
        some = {
            name: array[mine] if name.startswith("tail_") else array[start:stop]
            for name, array in self.arrays().items()
        }
        some["tail_lane"] = some["tail_lane"] - np.int32(start)
        return Segments(self.player, self.incarnation, **some)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as they are sent."""
        found = {name: getattr(self, name) for name in (*FIELDS, *EXTRAS)}
        return {name: array for name, array in found.items() if array is not None}


def not_finite(arrays: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Return the names of the arrays that hold NaN or infinity.

    >>> not_finite({"reward": np.array([1.0, np.nan]), "mask": np.array([True])})
    ['reward']
    """
    return [name for name, array in arrays.items() if array.dtype.kind == "f" and not np.isfinite(array).all()]
