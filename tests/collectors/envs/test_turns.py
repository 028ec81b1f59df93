"""Slots that take turns are the same slots."""

import numpy as np

from collectors.conforming import conform
from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.recall import Recall
from collectors.envs.turns import TurnTakingEnvironment


def test_each_turn_has_its_own_rows_and_waits_for_its_own_step():
    env = TurnTakingEnvironment([Recall(slots=2), Recall(slots=3)])
    assert (env.slots, len(env), env.slots_of(1)) == (5, 2, range(2, 5))
    env.start(np.array([4, 0], np.int32), np.array([1, 2]))
    first = env.rows()
    assert first.slot.tolist() == [0]
    env.turn = 1
    second = env.rows()
    assert second.slot.tolist() == [4]
    env.start(np.array([1, 2], np.int32), np.array([3, 4]))  # while both wait for an answer
    for turn, rows in ((0, first), (1, second)):
        env.turn = turn
        env.step(np.zeros(len(rows), np.int32))
    assert env.rows().slot.tolist() == [2, 4]
    env.turn = 0
    assert env.rows().slot.tolist() == [0, 1]


def test_what_ends_is_told_by_its_slot():
    env = TurnTakingEnvironment([ConnectFour(slots=1), ConnectFour(slots=1)])
    env.start(np.arange(2, dtype=np.int32), np.arange(2))
    env.turn = 1
    column = 0
    for _ in range(7):  # the first mover fills a column with four, the second plays beside it
        rows = env.rows()
        ends = env.step(np.array([column], np.int32))
        column = 1 - column
    assert rows.slot.tolist() == [1]
    assert ends.over.tolist() == [1]
    assert set(ends.slot.tolist()) == {1}
    env.turn = 0
    assert env.rows().slot.tolist() == [0]


def test_one_turn_is_an_environment_like_any_other():
    assert not conform(lambda slots: TurnTakingEnvironment([ConnectFour(slots=slots)]), seeds=[1, 2, 3]).problems
