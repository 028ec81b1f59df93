"""Minibatches of a buffer process, as the learner sees them."""

from itertools import count

import numpy as np
import pytest

from league.wire.messages import (
    SampleReply,
)
from learners.remote_replay import RESTS, RemoteReplay
from learners.replay import Sample


def test_a_learner_does_not_wait_for_ever():
    rests = count()
    served = RemoteReplay(lambda timeout: timeout and next(rests), ahead=2)
    served.open_requests()
    assert sorted(served.open) == [0, 1, 2]
    assert not served.due()
    assert next(rests) == RESTS
    with pytest.raises(ValueError, match="no minibatch"):
        served.arrived(_answer(0), {"index": np.arange(2)})
    served.arrived(_answer(7), {})
    assert not served.full, "nobody asked for that"


@pytest.mark.parametrize("leads", [True, False])
def test_an_update_ends_where_the_buffer_of_the_leading_rank_says(leads):
    served, rests = RemoteReplay(lambda timeout: timeout and next(rests), ahead=3, leads=leads), count()
    served.open_requests()
    mask, zeros = {"mask": np.ones((2, 3), bool)}, np.zeros(2)
    sample = Sample(np.arange(2), mask, zeros, zeros, zeros, mask, np.ones(2))
    served.arrived(_answer(0, left=1), {**sample.arrays(), "lag": np.zeros(5, np.int64)})
    served.arrived(_answer(1, left=0), sample.arrays())
    served.arrived(_answer(2, left=9), {**sample.arrays(), "lag": np.zeros(7, np.int64)})
    served.arrived(_answer(3, left=0), {"lag": np.zeros(3, np.int64)})
    for updates in [2, 1] if leads else [3]:
        served.begin()
        for _ in range(updates):
            assert served.due()
            served.sample(np.random.default_rng(0))
        assert not served.due()
    assert served.fresh() == 15
    assert not served.full
    assert next(rests) == 0, "there was nothing to wait for"


def test_the_next_minibatches_are_under_way_while_one_is_learned_from():
    served = RemoteReplay(lambda timeout: served.open_requests(), ahead=2)
    mask, zeros = {"mask": np.ones((2, 3), bool)}, np.zeros(2)
    sample = Sample(np.arange(2), mask, zeros, zeros, zeros, mask, np.ones(2))
    served.open_requests()
    for request in range(3):
        served.arrived(_answer(request, left=9), sample.arrays())
    served.begin()
    for taken in range(3):
        assert served.due()
        assert len(served.open) == taken, "one more was asked for, though some are here"
        served.sample(np.random.default_rng(0))


def _answer(request, left=0):
    return SampleReply(
        session="l", player="hero", incarnation=0, request=request, ring="b/0", left=left, size=10, reuse=1.0
    )
