"""Segments: the unit of training data, arrays from birth.

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
"""What follows a decision: another one, the end of its episode, or a cut whose value comes from a tail."""

FIELDS = (
    "observation", "mask", "action", "log_prob", "reward", "end", "present", "length", "version",
    "tail_lane", "tail_tick", "tail_agent", "tail_observation", "tail_mask",
)  # fmt: skip
EXTRAS = ("memory", "state", "tail_state")
"""The fields that only some networks need."""
STEPS = FIELDS[:7]
"""The fields with a place for each lane, tick and agent."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Up to T consecutive decisions of each of L lanes, all of one player.

    A lane may run over several episodes (`end` says where), and its last segment may be short (`length`).
    Where an episode was truncated, or the segment stops in mid-episode, `end` is CUT and a *tail* holds the
    observation to bootstrap from: one mechanism for both. Values are not inside; the learner computes them.
    Players whose network has a memory send what each agent remembered, so that the learner can go on from there; those
    whose critic sees the state of the whole game send that, too.
    """

    player: PlayerId
    incarnation: int
    observation: npt.NDArray[Any]  # [L, T, A, *] in the environment's own dtype
    mask: npt.NDArray[np.bool_]  # [L, T, A, N] legal actions
    action: npt.NDArray[Any]  # [L, T, A], or [L, T, A, parts]: as EnvSpec.action says
    log_prob: npt.NDArray[np.float32]  # [L, T, A] of the action, under the weights that chose it
    reward: npt.NDArray[np.float32]  # [L, T, A] between this decision and the agent's next one
    end: npt.NDArray[np.uint8]  # [L, T, A] CONTINUES, TERMINATED or CUT
    present: npt.NDArray[np.bool_]  # [L, T, A] whether the agent decided in this tick
    length: npt.NDArray[np.int32]  # [L] ticks in use
    version: npt.NDArray[np.int32]  # [L] the oldest version of the weights that decided
    tail_lane: npt.NDArray[np.int32]  # [K] where a CUT is: lane,
    tail_tick: npt.NDArray[np.int32]  # [K] tick
    tail_agent: npt.NDArray[np.int32]  # [K] and agent;
    tail_observation: npt.NDArray[Any]  # [K, *] and what that agent saw next,
    tail_mask: npt.NDArray[np.bool_]  # [K, N] and what it could do then; at the end of an episode as before the cut
    memory: npt.NDArray[np.float32] | None = None  # [L, A, M] of each agent before its first decision here
    state: npt.NDArray[Any] | None = None  # [L, T, *] of the whole game in each tick
    tail_state: npt.NDArray[Any] | None = None  # [K, *] and after each cut

    @property
    def decisions(self) -> int:
        """How many decisions are inside: what credits and batches count."""
        return int(self.present.sum())

    def lanes(self, start: int, stop: int) -> "Segments":
        """Return some of the lanes, without a copy, with the tails that belong to them."""
        mine = (self.tail_lane >= start) & (self.tail_lane < stop)
        some = {
            name: array[mine] if name.startswith("tail_") else array[start:stop]
            for name, array in self.arrays().items()
        }
        some["tail_lane"] = some["tail_lane"] - np.int32(start)
        return Segments(self.player, self.incarnation, **some)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as they go on the wire."""
        found = {name: getattr(self, name) for name in (*FIELDS, *EXTRAS)}
        return {name: array for name, array in found.items() if array is not None}


def not_finite(arrays: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Return the names of the arrays that hold NaN or infinity.

    >>> not_finite({"reward": np.array([1.0, np.nan]), "mask": np.array([True])})
    ['reward']
    """
    return [name for name, array in arrays.items() if array.dtype.kind == "f" and not np.isfinite(array).all()]
