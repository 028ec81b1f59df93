"""What all native games share: free slots, legal actions, and END rows that are empty in most ticks."""

import numpy as np
import pytest

from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.particles import SimpleSpread
from collectors.envs.native.recall import Recall
from collectors.envs.native.rock_paper_scissors import RockPaperScissors
from collectors.envs.native.two_step import TwoStep

SIMULTANEOUS = [Recall, TwoStep, RockPaperScissors, SimpleSpread]


@pytest.mark.parametrize("game", [*SIMULTANEOUS, ConnectFour])
def test_only_free_slots_start(game):
    env = game(slots=3)
    env.start(np.array([0, 2]), np.array([1, 2]))
    with pytest.raises(ValueError, match=r"slots \[2\] still play"):
        env.start(np.array([1, 2]), np.array([3, 4]))
    assert set(env.rows().slot.tolist()) == {0, 2}


@pytest.mark.parametrize("game", SIMULTANEOUS)
@pytest.mark.parametrize("action", [-1, 99])
def test_an_action_that_does_not_exist_is_refused_and_changes_nothing(game, action):
    env = game(slots=2)
    env.start(np.arange(2), np.arange(2))
    before = env.rows()
    with pytest.raises(ValueError, match=f"action {action} is illegal in slot 1"):
        env.step(np.where(before.slot == 1, action, 0))
    np.testing.assert_array_equal(env.rows().observation, before.observation)


@pytest.mark.parametrize("game", SIMULTANEOUS)
def test_slots_end_after_their_own_length(game):
    env, ticks, over = game(slots=2), 0, {}
    env.start(np.array([0]), np.array([1]))
    env.step(np.zeros(len(env.rows()), np.int32))
    env.start(np.array([1]), np.array([1]))
    while env.active:
        ends = env.step(np.zeros(len(env.rows()), np.int32))
        ticks += 1
        assert len(ends.slot) == len(ends.over) * len(env.spec.agents)
        over |= dict.fromkeys(ends.over.tolist(), ticks)
    assert over[1] == over[0] + 1
