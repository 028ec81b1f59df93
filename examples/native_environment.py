"""Nim in arrays: an environment that plays all its slots at once. `ludus check-env native_environment:Nim` likes it."""

import numpy as np

from collectors.envs.rows import Ends, Rows
from collectors.envs.slots import check_actions, check_start
from league.spec import Array, EnvSpec, Seat


class Nim:
    """Take 1, 2 or 3 sticks; whoever takes the last one wins. Slots are places in arrays: no loop over them."""

    def __init__(self, slots: int = 256, sticks: int = 20) -> None:
        self.spec = EnvSpec(
            name="nim",
            agents=("player_0", "player_1"),
            seats=(Seat(agents=(0,)), Seat(agents=(1,))),  # both of the role "player": they are interchangeable
            observation=Array(shape=(sticks + 1,), dtype="int8"),
            actions=3,
        )
        self.slots = slots
        self._one_hot = np.eye(sticks + 1, dtype=np.int8)
        self._legal = np.arange(1, 4) <= np.arange(sticks + 1)[:, None]  # [sticks, action]
        self._sticks = np.zeros(slots, np.int64)
        self._ply = np.zeros(slots, np.int64)
        self._busy = np.zeros(slots, np.bool_)

    def start(self, slots, seeds):
        """Begin episodes. The number of sticks depends on the seed and on nothing else."""
        index = check_start(self.spec.name, slots, seeds, self._busy)
        most = len(self._one_hot) - 1
        self._sticks[index] = most // 2 + np.asarray(seeds) % (most - most // 2 + 1)
        self._ply[index] = 0
        self._busy[index] = True

    def rows(self):
        """Return one row for each slot that plays: the agent to move."""
        slots = np.flatnonzero(self._busy)
        sticks, ply = self._sticks[slots], self._ply[slots]
        return Rows(
            slot=slots.astype(np.int32),
            agent=(ply % 2).astype(np.int32),
            observation=self._one_hot[sticks],
            mask=self._legal[sticks],
            reward=np.zeros(len(slots), np.float32),  # since the agent's last decision: nothing before the end
            first=ply < 2,
        )

    def step(self, actions):
        """Move in every slot that plays, one action for each row."""
        slots = np.flatnonzero(self._busy)
        taken = 1 + check_actions(self.spec.name, actions, slots, self._legal[self._sticks[slots]])
        self._sticks[slots] -= taken
        self._ply[slots] += 1
        over = slots[self._sticks[slots] == 0]
        self._busy[over] = False
        winner = (self._ply[over] - 1) % 2
        agent = np.tile(np.array([0, 1], np.int32), len(over))  # every agent that acted gets an END row, also the loser
        acted = np.repeat(self._ply[over], 2) > agent
        slot = np.repeat(over, 2).astype(np.int32)
        return Ends(
            slot=slot[acted],
            agent=agent[acted],
            reward=np.where(np.repeat(winner, 2) == agent, 1, -1).astype(np.float32)[acted],
            truncated=np.zeros(int(acted.sum()), np.bool_),
            observation=self._one_hot[self._sticks[slot]][acted],
            over=over.astype(np.int32),
        )

    def render(self, slot):
        """Return a position as text."""
        return "|" * int(self._sticks[slot])

    def close(self):
        """Nothing is held."""
