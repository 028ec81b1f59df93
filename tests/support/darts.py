"""Darts: a toy game in arrays whose actions have two choices and a continuous number. Both agents act at once."""

import numpy as np

from collectors.envs.rows import Ends, Rows
from league.policies.actions import legal
from league.spec import Array, EnvSpec, Seat

THROWS = 3


class Darts:
    """Each throw is worth its number if the second choice is 1, and the first choice must not be the last one's."""

    def __init__(self, slots=4):
        self.spec = EnvSpec(
            name="darts",
            agents=("a", "b"),
            seats=(Seat((0,)), Seat((1,))),
            observation=Array((3,), "float32"),
            actions=5,
            choices=(3, 2),
            continuous=1,
        )
        self.slots = slots
        self._throw = np.full(slots, -1)
        self._last = np.zeros((slots, 2), int)
        self._won = np.zeros((slots, 2), np.float32)

    def start(self, slots, seeds):
        self._throw[slots] = 0
        self._last[slots] = (np.asarray(seeds) % 3)[:, None]
        self._won[slots] = 0

    def rows(self):
        slot = np.repeat(np.flatnonzero(self._throw >= 0), 2)
        agent = np.tile([0, 1], len(slot) // 2)
        last = np.eye(3, dtype=bool)[self._last[slot, agent]]
        return Rows(
            slot=slot.astype(np.int32),
            agent=agent.astype(np.int32),
            observation=last.astype(np.float32),
            mask=np.concatenate([~last, np.ones((len(slot), 2), bool)], axis=1),
            reward=self._won[slot, agent],
            first=self._throw[slot] == 0,
        )

    def step(self, actions):
        rows = self.rows()
        assert actions.shape == (len(rows), 3)
        assert actions.dtype == np.float32
        assert legal(self.spec, actions, rows.mask).all()
        self._last[rows.slot, rows.agent] = actions[:, 0]
        self._won[rows.slot, rows.agent] = actions[:, 1] * actions[:, 2]
        self._throw[self._throw >= 0] += 1
        over = np.flatnonzero(self._throw == THROWS).astype(np.int32)
        self._throw[over] = -1
        slot, agent = np.repeat(over, 2), np.tile(np.array([0, 1], np.int32), len(over))
        return Ends(
            slot=slot,
            agent=agent,
            reward=self._won[slot, agent],
            truncated=np.zeros(len(slot), bool),
            observation=np.zeros((len(slot), 3), np.float32),
            over=over,
        )

    def render(self, slot):
        return f"throw {self._throw[slot]}"

    def close(self):
        pass
