"""A point on a line that should reach a goal: a small game of continuous actions, in arrays."""

import numpy as np

from collectors.envs.rows import Ends, Rows
from league.spec import Array, EnvSpec, Seat


class PointGame:
    """The agent sees where it is and where the goal is, and moves by up to 0.5 in each of 8 steps."""

    def __init__(self, slots=16, steps=8):
        self.spec = EnvSpec("point", ("a",), (Seat((0,)),), Array((2,), "float32"), actions=0, continuous=1)
        self.slots, self._steps = slots, steps
        self._place, self._goal = np.zeros((2, slots), np.float32)
        self._earned, self._step = np.zeros(slots, np.float32), np.zeros(slots, np.int32)

    def start(self, slots, seeds):
        rng = np.random.default_rng(int(seeds[0]) % 2**32)
        self._place[slots], self._goal[slots] = rng.uniform(-1, 1, (2, len(slots)))
        self._step[slots] = self._earned[slots] = 0

    def rows(self):
        slot = np.arange(self.slots, dtype=np.int32)
        return Rows(
            slot=slot,
            agent=np.zeros_like(slot),
            observation=self._seen(slot),
            mask=np.ones((self.slots, 0), bool),
            reward=self._earned.copy(),
            first=self._step == 0,
        )

    def step(self, actions):
        self._place += 0.5 * actions[:, 0]
        self._earned = -np.abs(self._place - self._goal)
        self._step += 1
        over = np.nonzero(self._step == self._steps)[0].astype(np.int32)
        return Ends(
            slot=over,
            agent=np.zeros_like(over),
            reward=self._earned[over],
            truncated=np.ones(len(over), bool),
            observation=self._seen(over),
            over=over,
        )

    def _seen(self, slots):
        return np.stack([self._place[slots], self._goal[slots]], axis=1)

    def close(self):
        pass
