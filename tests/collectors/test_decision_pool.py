"""The pool of decisions: what is written into a block is gathered from it, and blocks are used again."""

import numpy as np
import pytest

from collectors.decision_pool import DecisionPool
from league.segment import CONTINUES, CUT, TERMINATED
from league.spec import Array, EnvSpec, Seat

SPEC = EnvSpec("toy", ("a",), (Seat((0,)),), Array((1,), "float32"), actions=3)
PLACE = np.zeros(1, np.intp)


@pytest.fixture
def pool():
    return DecisionPool(SPEC, ticks=2, agents=1)


def write(pool, block, number):
    decision = {
        "observation": np.full((1, 1), number, np.float32),
        "mask": np.ones((1, 3), np.bool_),
        "action": np.array([number], np.int32),
        "log_prob": np.array([-number], np.float32),
    }
    pool.write(block, PLACE, decision)


def test_decisions_are_gathered_as_they_were_written(pool):
    block = pool.lease(1)
    write(pool, block, 1)
    pool.reward(block, PLACE, np.array([0.5], np.float32))
    write(pool, block, 2)
    assert pool.full(block).all()
    pool.end(block, PLACE)
    arrays = pool.gather(block)
    assert arrays["action"].tolist() == [[[1], [2]]]
    assert arrays["reward"].tolist() == [[[0.5], [0.0]]]
    assert arrays["end"].tolist() == [[[CONTINUES], [TERMINATED]]]
    assert arrays["length"].tolist() == [2]


def test_a_cut_keeps_the_next_observation(pool):
    block = pool.lease(1)
    write(pool, block, 1)
    pool.cut(block, PLACE, np.array([[9.0]], np.float32), np.array([[True, False, True]]))
    arrays = pool.gather(block)
    assert arrays["end"][0, 0] == CUT
    assert arrays["tail_observation"].tolist() == [[9.0]]
    assert arrays["tail_mask"].tolist() == [[True, False, True]]


def test_a_decision_without_a_successor_is_left_out(pool):
    block = pool.lease(1)
    write(pool, block, 1)
    write(pool, block, 2)
    assert pool.leave_out_unfinished(block).tolist() == [0]
    assert pool.decisions(block).tolist() == [1]
    arrays = pool.gather(block)
    assert arrays["end"][0, 0] == CUT
    assert arrays["tail_observation"].tolist() == [[2.0]]


def test_blocks_are_used_again_and_empty(pool):
    block = pool.lease(1)
    write(pool, block, 1)
    pool.release(block)
    again = pool.lease(1)
    assert again.tolist() == block.tolist()
    assert pool.has_no_decision(again, PLACE).all()
    assert pool.decisions(again).tolist() == [0]
    assert len(set(pool.lease(5).tolist()) - set(again.tolist())) == 5, "there are always more"
