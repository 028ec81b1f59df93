"""Bidding: a game of three sides in arrays, over after one simultaneous move. The higher bid ranks better."""

import numpy as np

from collectors.envs.rows import Ends, Rows
from league.spec import Array, EnvSpec, Seat

BIDS = 4


class Bidding:
    """Every agent bids 0 to 3 and is paid its bid."""

    def __init__(self, slots=4, sides=(None, None, None)):
        self.spec = EnvSpec(
            name="bidding",
            agents=tuple("abc"),
            seats=tuple(Seat((i,), side=side) for i, side in enumerate(sides)),
            observation=Array((1,), "float32"),
            actions=BIDS,
        )
        self.slots = slots
        self._playing = np.zeros(slots, bool)

    def start(self, slots, seeds):
        self._playing[slots] = True

    def rows(self):
        slot = np.repeat(np.flatnonzero(self._playing), 3).astype(np.int32)
        return Rows(
            slot=slot,
            agent=np.tile(np.arange(3, dtype=np.int32), len(slot) // 3),
            observation=np.zeros((len(slot), 1), np.float32),
            mask=np.ones((len(slot), BIDS), bool),
            reward=np.zeros(len(slot), np.float32),
            first=np.ones(len(slot), bool),
        )

    def step(self, actions):
        rows = self.rows()
        self._playing[:] = False
        return Ends(
            slot=rows.slot,
            agent=rows.agent,
            reward=actions.astype(np.float32),
            truncated=np.zeros(len(rows), bool),
            observation=np.zeros((len(rows), 1), np.float32),
            over=np.unique(rows.slot),
        )

    def render(self, slot):
        return "bids are open" if self._playing[slot] else "all bids are in"

    def close(self):
        pass


class Greedy:
    """Bids 1 to 3: 2 is the mean."""

    def __init__(self, spec):
        pass

    def act(self, observation, mask, rng):
        return rng.integers(1, BIDS, len(mask)), np.zeros(len(mask), np.float32)
