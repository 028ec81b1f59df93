"""Returns are the sum of all rewards of an episode."""

import numpy as np

from collectors.envs.return_sums import ReturnSums
from collectors.envs.rows import Ends, Idle, Rows


def test_rewards_of_rows_ends_and_idle_agents_add_up():
    sums = ReturnSums(slots=2, agents=2)
    sums.add_rows(
        Rows(
            slot=np.array([1, 1], np.int32),
            agent=np.array([0, 1], np.int32),
            observation=np.zeros((2, 1)),
            mask=np.ones((2, 1), np.bool_),
            reward=np.array([0.5, 0.25], np.float32),
            first=np.ones(2, np.bool_),
        )
    )
    sums.add_ends(
        Ends(
            slot=np.array([1], np.int32),
            agent=np.array([0], np.int32),
            reward=np.array([2.0], np.float32),
            truncated=np.zeros(1, np.bool_),
            observation=np.zeros((1, 1)),
            over=np.array([1], np.int32),
            idle=(Idle(slot=1, agent=1, reward=-1.0),),
        )
    )
    assert sums.totals.tolist() == [[0.0, 0.0], [2.5, -0.75]]
    sums.clear(np.array([1]))
    assert not sums.totals.any()
