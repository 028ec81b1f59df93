"""Rock-paper-scissors: both act in one tick, and only length ends it."""

import numpy as np
import pytest

from collectors.envs.native.rock_paper_scissors import RockPaperScissors, payoffs


def test_two_rows_for_each_slot_and_rewards_come_with_the_next_row():
    env = RockPaperScissors(slots=2, max_cycles=2)
    env.start(np.array([0, 1], np.int32), np.array([1, 2]))
    rows = env.rows()
    assert (rows.slot.tolist(), rows.agent.tolist()) == ([0, 0, 1, 1], [0, 1, 0, 1])
    assert rows.first.all()
    assert rows.observation.argmax(axis=1).tolist() == [3, 3, 3, 3]
    ends = env.step(np.array([0, 1, 2, 1], np.int32))  # rock loses to paper; scissors beat paper
    assert len(ends.over) == 0
    rows = env.rows()
    assert rows.reward.tolist() == [-1, 1, 1, -1]
    assert rows.observation.argmax(axis=1).tolist() == [1, 0, 1, 2]
    assert not rows.first.any()
    ends = env.step(np.array([0, 0, 0, 2], np.int32))
    assert ends.over.tolist() == [0, 1]
    assert ends.truncated.all()
    assert ends.reward.tolist() == [0, 0, 1, -1]
    assert not env.active


def test_payoffs_are_zero_sum_for_any_size():
    for actions in (3, 5, 9):
        table = payoffs(actions)
        assert (table == -table.T).all()
        assert (table.sum(axis=1) == 0).all()


@pytest.mark.parametrize(("kwargs", "message"), [({"num_actions": 4}, "odd"), ({"max_cycles": 0}, "at least 1")])
def test_impossible_settings_are_refused(kwargs, message):
    with pytest.raises(ValueError, match=message):
        RockPaperScissors(slots=1, **kwargs)


def test_an_illegal_action_is_refused():
    env = RockPaperScissors(slots=1)
    env.start(np.array([0], np.int32), np.array([1]))
    with pytest.raises(ValueError, match="action 3 is illegal in slot 0"):
        env.step(np.array([0, 3], np.int32))


def test_render():
    env = RockPaperScissors(slots=1, num_actions=7)
    env.start(np.array([0], np.int32), np.array([1]))
    assert env.render(0) == "round 0: none v none"
    env.step(np.array([6, 4], np.int32))
    assert env.render(0) == "round 1: ACTION_7 v LIZARD"
