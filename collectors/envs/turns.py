"""Slots that take turns: while one half of them waits for an inference process, the other half plays.

env = TurnTakingEnvironment([make_environment(config, 128), make_environment(config, 128)])
env.turn = 1
env.step(choose(env.rows()))        # of the second half, slots 128 to 255
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, Environment, IntArray, Rows


class TurnTakingEnvironment:
    """Several environments as one: each has some of the slots, and only the one whose turn it is has rows and steps.

    Episodes may start at any time. They begin with the next rows of their environment, because a step must fit
    the rows before it.
    """

    def __init__(self, envs: Sequence[Environment]) -> None:
        self._envs = envs
        self.spec = envs[0].spec
        self.turn = 0
        self._begin = np.cumsum([0, *(env.slots for env in envs)]).tolist()
        self.slots: int = self._begin[-1]
        self._starting: list[tuple[list[IntArray], list[npt.NDArray[np.int64]]]] = [([], []) for _ in envs]

    def __len__(self) -> int:
        """How many environments take turns."""
        return len(self._envs)

    def slots_of(self, turn: int) -> range:
        """Return the slots of one turn."""
        return range(self._begin[turn], self._begin[turn + 1])

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these free slots when their turn comes."""
        for turn, (begin, end) in enumerate(zip(self._begin, self._begin[1:], strict=False)):
            mine = (slots >= begin) & (slots < end)
            if mine.any():
                waiting, with_seeds = self._starting[turn]
                waiting.append((slots[mine] - begin).astype(np.int32))
                with_seeds.append(seeds[mine])

    def rows(self) -> Rows:
        """Return the ACT rows of this turn."""
        slots, seeds = self._starting[self.turn]
        if slots:
            self._envs[self.turn].start(np.concatenate(slots), np.concatenate(seeds))
            self._starting[self.turn] = ([], [])
        rows = self._envs[self.turn].rows()
        begin = self._begin[self.turn]
        return replace(rows, slot=rows.slot + np.int32(begin)) if begin else rows

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Take one action for each row that this turn's `rows` returned last."""
        ends = self._envs[self.turn].step(actions)
        begin = np.int32(self._begin[self.turn])
        if not begin:
            return ends
        return replace(
            ends,
            slot=ends.slot + begin,
            over=ends.over + begin,
            faults=tuple(replace(fault, slot=fault.slot + int(begin)) for fault in ends.faults),
            idle=tuple(replace(idle, slot=idle.slot + int(begin)) for idle in ends.idle),
            late=tuple(replace(late, slot=late.slot + int(begin)) for late in ends.late),
        )

    def render(self, slot: int) -> str:
        """Return the slot's position as text."""
        turn = next(turn for turn in range(len(self)) if slot in self.slots_of(turn))
        return self._envs[turn].render(slot - self._begin[turn])

    def close(self) -> None:
        """Close the environments."""
        for env in self._envs:
            env.close()
