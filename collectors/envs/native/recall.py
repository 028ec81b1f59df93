"""Recall: a cue is shown, then nothing for a while, then the agent must name the cue. A game of memory alone.

The last observation is the same whatever the cue was, so a policy without a memory cannot do better than chance,
1 / cues, however long it trains.
"""

import numpy as np
import numpy.typing as npt

from collectors.envs.native.skeleton import Reward, SimultaneousGame
from collectors.envs.rows import FloatArray
from collectors.envs.slots import Index
from league.spec import Array, EnvSpec, Seat


class Recall(SimultaneousGame):
    """Recall as an `Environment`: one agent, one row for each slot in every tick.

    The agent sees the cue as a one-hot vector in the first step, and a 1 in the last place in the last step.

    >>> env = Recall(slots=2, cues=4, blanks=3)
    >>> env.start(np.arange(2, dtype=np.int32), np.arange(2))
    >>> env.rows().observation.sum(axis=1).tolist()
    [1.0, 1.0]
    """

    def __init__(self, slots: int = 256, cues: int = 4, blanks: int = 6) -> None:
        if cues < 2 or blanks < 0:
            raise ValueError(f"recall: cues must be at least 2 and blanks not negative, got {cues} and {blanks}")
        spec = EnvSpec(
            name="recall",
            agents=("player_0",),
            seats=(Seat(agents=(0,)),),
            observation=Array(shape=(cues + 1,), dtype="float32"),
            actions=cues,
        )
        super().__init__(spec, slots, length=blanks + 2, truncates=False)
        self._last_step = blanks + 1
        self._cue = np.zeros(slots, dtype=np.intp)

    def _reset(self, slots: Index, seeds: npt.NDArray[np.int64]) -> None:
        """Choose cues; a cue depends on the seed and on nothing else."""
        # Seeds may be consecutive: mixing them keeps neighbouring slots from having neighbouring cues.
        mixed = (np.asarray(seeds).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)
        self._cue[slots] = mixed % np.uint64(self.spec.actions)

    def _observe(self, slots: Index) -> FloatArray:
        seen = np.zeros((len(slots), self.spec.actions + 1), np.float32)
        age = self._age[slots]
        first = age == 0
        seen[first.nonzero()[0], self._cue[slots[first]]] = 1
        seen[age == self._last_step, -1] = 1
        return seen

    def _advance(self, slots: Index, actions: Index) -> Reward:
        """Pay for the last action; the others do not count."""
        right: FloatArray = ((actions[:, 0] == self._cue[slots]) & (self._age[slots] == self._last_step)).astype(
            np.float32
        )
        return right[:, None]

    def render(self, slot: int) -> str:
        """Return the step, and the cue while it is shown."""
        shown = f", the cue is {self._cue[slot]}" if self._age[slot] == 0 else ""
        return f"step {self._age[slot]} of {self._last_step}{shown}"
