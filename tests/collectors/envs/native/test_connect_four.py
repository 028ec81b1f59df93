"""Connect four: what its rows promise, and what it refuses. (Moves are compared in test_pettingzoo_lockstep.)"""

import numpy as np
import pytest

from collectors.envs.native.connect_four import ConnectFour, four_in_a_row


def started(slots, *which):
    env = ConnectFour(slots=slots)
    chosen = np.array(which or range(slots), np.int32)
    env.start(chosen, np.zeros(len(chosen), np.int64))
    return env


def act(env, *actions):
    return env.step(np.array(actions, np.int32))


def test_only_started_slots_have_rows():
    env = started(5, 3, 1)
    rows = env.rows()
    assert rows.slot.tolist() == [1, 3]
    assert rows.agent.tolist() == [0, 0]
    assert rows.first.tolist() == [True, True]
    assert env.active


def test_the_first_flag_is_for_each_agent():
    env = started(1)
    flags = []
    for _ in range(4):
        flags.append(env.rows().first.tolist()[0])
        act(env, 0)
    assert flags == [True, True, False, False]


def test_both_agents_get_an_end_and_the_slot_is_free():
    env = started(2)
    for moves in ((0, 5), (1, 5), (0, 6), (1, 6), (0, 4), (1, 4)):
        assert len(act(env, *moves).over) == 0
    ends = act(env, 0, 0)
    assert (ends.over.tolist(), ends.slot.tolist(), ends.agent.tolist()) == ([0], [0, 0], [0, 1])
    assert ends.reward.tolist() == [1.0, -1.0]
    assert ends.truncated.tolist() == [False, False]
    assert env.rows().slot.tolist() == [1]
    env.start(np.array([0], np.int32), np.array([9]))
    assert env.rows().observation[0].sum() == 0
    assert env.rows().mask[0].all()


def test_the_second_player_wins_too():
    env = started(1)
    for move in (0, 1, 0, 1, 0, 1, 6):
        act(env, move)
    assert act(env, 1).reward.tolist() == [-1.0, 1.0]


def test_a_full_board_is_a_draw():
    env = started(1)
    order = [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 2, 3, 2, 3, 3, 2, 3, 2, 2, 3, 2, 3]
    order += [4, 5, 4, 5, 5, 4, 5, 4, 4, 5, 4, 5, 6, 6, 6, 6, 6, 6]
    for move in order[:-1]:
        assert len(act(env, move).over) == 0
    ends = act(env, order[-1])
    assert ends.over.tolist() == [0]
    assert ends.reward.tolist() == [0.0, 0.0]


def test_a_line_does_not_run_round_the_edge_of_the_board():
    bits = [5, 7, 8, 9]  # the top of one column and the bottom of the next
    assert not four_in_a_row(np.array([sum(1 << bit for bit in bits)]))[0]
    assert four_in_a_row(np.array([0b1111, 0b1 | 1 << 8 | 1 << 16 | 1 << 24])).all()


def test_rows_are_the_callers_to_keep():
    env = started(1)
    rows = env.rows()
    rows.observation[:] = 7
    rows.mask[:] = False
    rows.slot[:] = 9
    again = env.rows()
    assert again.observation.sum() == 0
    assert again.mask.all()
    assert again.slot.tolist() == [0]
    act(env, 3)
    assert again.observation.sum() == 0


@pytest.mark.parametrize("action", [-1, 7, 2**31 - 1])
def test_an_action_that_does_not_exist_is_refused(action):
    with pytest.raises(ValueError, match=r"action -?\d+ is illegal in slot 1 \(row 1\)"):
        act(started(2), 0, action)


def test_a_full_column_is_refused_and_nothing_has_moved():
    env = started(2)
    for move in range(6):
        act(env, 2, move)
    before = env.rows()
    with pytest.raises(ValueError, match=r"action 2 is illegal in slot 0 .* legal there are \[0, 1, 3, 4, 5, 6\]"):
        act(env, 2, 0)
    np.testing.assert_array_equal(env.rows().observation, before.observation)


def test_a_wrong_number_of_actions_is_refused():
    with pytest.raises(ValueError, match=r"rows\(\) returned 2 rows"):
        act(started(2), 0)
    with pytest.raises(ValueError, match="must be integers"):
        started(2).step(np.array([0.0, 1.0]))


@pytest.mark.parametrize(
    ("slots", "seeds", "message"),
    [([0], [1], "still play"), ([2, 2], [1, 2], "twice"), ([9], [1], "slots are 0 to 3"), ([1, 2], [1], "seeds")],
)
def test_start_refuses(slots, seeds, message):
    with pytest.raises(ValueError, match=message):
        started(4, 0).start(np.array(slots, np.int32), np.array(seeds))


def test_render():
    env = started(1)
    act(env, 3)
    act(env, 3)
    assert env.render(0).splitlines()[-2:] == [". . . O . . .", ". . . X . . ."]


def test_no_slots_no_rows():
    env = ConnectFour(slots=3)
    assert not env.active
    assert len(env.rows()) == 0
    assert len(env.step(np.zeros(0, np.int32)).over) == 0
