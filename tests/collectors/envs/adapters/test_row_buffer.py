"""The row buffer: rows are copies, and numbers that are not finite are faults of their slot."""

import numpy as np
import pytest

from collectors.envs.adapters.row_buffer import RowBuffer
from league.spec import Array, EnvSpec, Seat

SPEC = EnvSpec(
    name="toy",
    agents=("a", "b"),
    seats=(Seat((0,)), Seat((1,))),
    observation=Array((2,), "float32"),
    actions=3,
    state=Array((1,), "float32"),
)


@pytest.fixture
def buffer():
    made = RowBuffer(SPEC, slots=3)
    made.ready[[0, 2], [1, 0]] = True
    made.mask[:] = True
    return made


def test_rows_are_copies_of_the_agents_that_must_act(buffer):
    buffer.observation[2, 0] = 7
    rows = buffer.rows(buffer.index())
    buffer.observation[:] = 0
    assert (rows.slot.tolist(), rows.agent.tolist()) == ([0, 2], [1, 0])
    assert rows.observation.tolist() == [[0, 0], [7, 7]]
    assert rows.first.all()


def test_an_agent_that_acts_starts_from_no_reward(buffer):
    buffer.reward[2, 0] = 5
    buffer.act(buffer.index())
    assert not buffer.ready.any()
    assert buffer.reward[2, 0] == 0
    assert buffer.acted[2, 0]


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        ("reward", "its reward is NaN or infinite"),
        ("observation", "its observation holds NaN or infinity, or a number too large for float32"),
        ("state", "state() holds NaN or infinity"),
    ],
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_faults(buffer, array, reason, value):
    getattr(buffer, array)[2, 0] = value
    getattr(buffer, array)[1] = value  # nobody acts there
    buffer.find_faults()
    (fault,) = buffer.take_ends().faults
    assert fault.slot == 2
    assert fault.reason == f"toy: agent 'a': {reason}"


def test_a_slot_that_broke_is_not_over(buffer):
    buffer.pending.ends += [(0, 1, False), (2, 0, True)]
    buffer.pending.over += [0, 2]
    buffer.pending.faults[2] = "broken"
    ends = buffer.take_ends()
    assert (ends.over.tolist(), ends.slot.tolist(), ends.agent.tolist()) == ([0], [0], [1])
    assert [fault.slot for fault in ends.faults] == [2]
    assert buffer.take_ends().faults == ()
