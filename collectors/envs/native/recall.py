"""Recall: a cue is shown, then nothing for a while, then the agent must name the cue. A game of memory alone.

The last observation is the same whatever the cue was, so a policy without a memory cannot do better than chance,
1 / cues, however long it learns.
"""

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, FloatArray, IntArray, Rows
from collectors.envs.slots import Index, check_actions, check_start
from league.spec import Array, EnvSpec, Seat


class Recall:
    """Recall as an `Environment`: one agent, one row for each slot in every tick.

    What it sees is the cue as a one-hot vector in the first step, and in the last step a 1 in the last place.

    >>> env = Recall(slots=2, cues=4, blanks=3)
    >>> env.start(np.arange(2, dtype=np.int32), np.arange(2))
    >>> env.rows().observation.sum(axis=1).tolist()
    [1.0, 1.0]
    """

    def __init__(self, slots: int = 256, cues: int = 4, blanks: int = 6) -> None:
        if cues < 2 or blanks < 0:
            raise ValueError(f"recall: cues must be at least 2 and blanks not negative, got {cues} and {blanks}")
        self.spec = EnvSpec(
            name="recall",
            agents=("player_0",),
            seats=(Seat(agents=(0,)),),
            observation=Array(shape=(cues + 1,), dtype="float32"),
            actions=cues,
        )
        self.slots = slots
        self._last_step = blanks + 1
        self._cue = np.zeros(slots, dtype=np.intp)
        self._step = np.zeros(slots, dtype=np.intp)
        self._busy = np.zeros(slots, dtype=np.bool_)

    @property
    def active(self) -> bool:
        """Whether any slot plays an episode."""
        return bool(self._busy.any())

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots; the cue depends on the seed and on nothing else."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        # Seeds may be consecutive: mixing them keeps neighbouring slots from having neighbouring cues.
        mixed = (np.asarray(seeds).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)
        self._cue[index] = mixed % np.uint64(self.spec.actions)
        self._step[index] = 0
        self._busy[index] = True

    def rows(self) -> Rows:
        """Return the agent of every slot that plays."""
        slots = np.flatnonzero(self._busy)
        return Rows(
            slot=slots,
            agent=np.zeros(len(slots), np.intp),
            observation=self._views(slots),
            mask=np.ones((len(slots), self.spec.actions), np.bool_),
            reward=np.zeros(len(slots), np.float32),
            first=self._step[slots] == 0,
        )

    def _views(self, slots: Index) -> FloatArray:
        seen = np.zeros((len(slots), self.spec.actions + 1), np.float32)
        first = self._step[slots] == 0
        seen[first.nonzero()[0], self._cue[slots[first]]] = 1
        seen[self._step[slots] == self._last_step, -1] = 1
        return seen

    def step(self, actions: IntArray) -> Ends:
        """Move on in every slot that plays; only the last action counts."""
        slots = np.flatnonzero(self._busy)
        legal = np.ones((len(slots), self.spec.actions), np.bool_)
        named = check_actions(self.spec.name, actions, slots, legal)
        self._step[slots] += 1
        done = self._step[slots] > self._last_step
        over = slots[done]
        self._busy[over] = False
        return Ends(
            slot=over,
            agent=np.zeros(len(over), np.intp),
            reward=(named[done] == self._cue[over]).astype(np.float32),
            truncated=np.zeros(len(over), np.bool_),
            observation=np.zeros((len(over), self.spec.actions + 1), np.float32),
            over=over,
        )

    def render(self, slot: int) -> str:
        """Return the step, and the cue while it is shown."""
        shown = f", the cue is {self._cue[slot]}" if self._step[slot] == 0 else ""
        return f"step {self._step[slot]} of {self._last_step}{shown}"

    def close(self) -> None:
        """Nothing is held."""
