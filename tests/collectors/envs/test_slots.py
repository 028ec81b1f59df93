"""Free slots and legal actions are checked before anything changes."""

import numpy as np
import pytest

from collectors.envs.slots import check_actions, check_parts, check_start, no_option
from league.spec import Array, EnvSpec, Seat

BUSY = np.array([False, True, False])
LEGAL = np.array([[True, False], [True, True]])
PARTS = EnvSpec("toy", ("a",), (Seat((0,)),), Array((1,), "float32"), actions=5, choices=(2, 3), continuous=1)


@pytest.mark.parametrize(
    ("slots", "seeds", "message"),
    [
        ([0], [1, 2], "got 1 slots but 2 seeds"),
        ([3], [1], "slots are 0 to 2"),
        ([-1], [1], "slots are 0 to 2"),
        ([0, 1], [1, 2], r"slots \[1\] still play"),
        ([2, 2], [1, 2], "the same slot twice"),
    ],
)
def test_slots_that_cannot_start(slots, seeds, message):
    with pytest.raises(ValueError, match=message):
        check_start("toy", np.array(slots), np.array(seeds), BUSY)
    assert check_start("toy", np.array([2, 0]), np.array([1, 2]), BUSY).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0], "returned 2 rows"),
        ([0.0, 1.0], "must be integers"),
        ([1, 0], r"action 1 is illegal in slot 4 \(row 0\); legal there are \[0\]"),
        ([0, 2], r"action 2 is illegal in slot 7 \(row 1\); legal there are \[0, 1\]"),
        ([0, -1], "action -1 is illegal in slot 7"),
    ],
)
def test_actions_that_cannot_be_taken(actions, message):
    with pytest.raises(ValueError, match=message):
        check_actions("toy", np.array(actions), np.array([4, 7]), LEGAL)
    assert check_actions("toy", np.array([0, 1], np.int8), np.array([4, 7]), LEGAL).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ([0, 1], r"give floats of shape \(1, 3\)"),
        ([0, 1, 1.5], "the continuous number 0 of row 0"),
        ([0, 1, np.nan], "the continuous number 0 of row 0"),
        ([1, 1, 0], "option 1 of choice 0 is illegal in slot 4"),
        ([0, 0.5, 0], "option 0.5 of choice 1 is illegal"),
    ],
)
def test_actions_of_several_parts(action, message):
    legal = np.array([[True, False, True, True, True]])
    with pytest.raises(ValueError, match=message):
        check_parts(PARTS, np.array([action], np.float32), np.array([4]), legal)
    assert check_parts(PARTS, np.array([[0, 2, -1]], np.float32), np.array([4]), legal).tolist() == [[0, 2, -1]]


def test_every_choice_needs_an_option():
    masks = np.array([[1, 0, 0, 0, 1], [1, 1, 0, 0, 0]], np.bool_)
    assert no_option(PARTS, masks).tolist() == [False, True]
