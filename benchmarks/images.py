"""Images: a game that costs nothing and shows 84x84x4 bytes, as Atari does: what is left is carrying them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, IntArray, Rows
from league.spec import Array, EnvSpec, Seat

SHAPE = (84, 84, 4)
EPISODE = 100  # decisions
POOL = 64  # different images
ACTIONS = 6


class Images:
    """One agent, one row for each slot in every tick, a coin for a reward at the end."""

    def __init__(self, slots: int = 32) -> None:
        self.spec = EnvSpec("images", ("player_0",), (Seat((0,)),), Array(SHAPE, "uint8"), actions=ACTIONS)
        self.slots = slots
        self._pool = np.random.default_rng(0).integers(0, 256, (POOL, *SHAPE)).astype(np.uint8)
        self._step = np.full(slots, -1)

    def start(self, slots: IntArray, seeds: npt.NDArray[np.int64]) -> None:
        """Begin an episode in each of these slots, somewhere, so that they do not end together."""
        self._step[slots] = np.asarray(seeds) % (EPISODE // 2)

    def rows(self) -> Rows:
        """Return the agent of every slot that plays."""
        slot = np.flatnonzero(self._step >= 0)
        return Rows(
            slot=slot.astype(np.int32),
            agent=np.zeros(len(slot), np.int32),
            observation=self._pool[(self._step[slot] + slot) % POOL],
            mask=np.ones((len(slot), ACTIONS), np.bool_),
            reward=np.zeros(len(slot), np.float32),
            first=np.zeros(len(slot), np.bool_),
        )

    def step(self, actions: npt.NDArray[Any]) -> Ends:
        """Go on; an episode ends after its time."""
        self._step[self._step >= 0] += 1
        over = np.flatnonzero(self._step >= EPISODE).astype(np.int32)
        self._step[over] = -1
        return Ends(
            slot=over,
            agent=np.zeros(len(over), np.int32),
            reward=np.where(over % 2, 1.0, -1.0).astype(np.float32),
            truncated=np.zeros(len(over), np.bool_),
            observation=np.zeros((len(over), *SHAPE), np.uint8),
            over=over,
        )

    def render(self, slot: int) -> str:
        """Nothing to see."""
        return ""

    def close(self) -> None:
        """Nothing to release."""
