"""The two-step game: the first agent's first choice leads to a room, and there both choices pay."""

import numpy as np
import pytest

from collectors.conforming import conform
from collectors.envs.native.two_step import TwoStep


def test_it_obeys_the_rules_for_environments():
    findings = conform(TwoStep, range(1, 30), 8, None)
    assert findings.problems == ()
    assert findings.deterministic


@pytest.mark.parametrize("mate", [0, 1])
@pytest.mark.parametrize(
    ("room", "choices", "paid"),
    [(0, (0, 0), 7), (0, (1, 0), 7), (1, (0, 0), 0), (1, (0, 1), 1), (1, (1, 0), 1), (1, (1, 1), 8)],
)
def test_rooms_pay_as_in_the_paper_whatever_the_mate_did_before(room, choices, paid, mate):
    env = TwoStep(slots=3)
    env.start(np.array([1], np.int32), np.zeros(1, np.int64))
    first = env.rows()
    assert first.slot.tolist() == [1, 1]
    assert first.observation.tolist() == [[1, 0, 0]] * 2
    assert first.first.all()
    assert not len(env.step(np.array([room, mate], np.int32)).slot)
    second = env.rows()
    assert second.observation[:, 1 + room].tolist() == [1, 1]
    assert not second.first.any()
    ends = env.step(np.array(choices, np.int32))
    assert ends.reward.tolist() == [paid, paid]
    assert ends.over.tolist() == [1]
    assert not env.active
