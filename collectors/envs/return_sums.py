"""Returns: the rewards of each agent in each slot, summed over an episode."""

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Ends, Idle, IntArray, Late, Rows


class ReturnSums:
    """The returns of the episodes under way: `totals[slot, agent]`."""

    def __init__(self, slots: int, agents: int) -> None:
        self.totals: npt.NDArray[np.float64] = np.zeros((slots, agents))

    def clear(self, slots: IntArray) -> None:
        """Start from zero: an episode begins in each of these slots."""
        self.totals[slots] = 0.0

    def add_rows(self, rows: Rows) -> None:
        """Add the rewards of one tick; an agent has one row at most."""
        if np.count_nonzero(rows.reward):  # most games pay only at the end
            self.totals[rows.slot, rows.agent] += rows.reward

    def add_ends(self, ends: Ends) -> None:
        """Add the last rewards of agents that ended, those of agents that never acted, and those paid after an end."""
        if len(ends.slot):
            index = ends.slot.astype(np.intp, copy=False) * self.totals.shape[1] + ends.agent
            self.totals.reshape(-1)[index] += ends.reward
        others: tuple[Idle | Late, ...] = (*ends.idle, *ends.late)
        for paid in others:
            self.totals[paid.slot, paid.agent] += paid.reward
