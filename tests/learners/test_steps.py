"""Segments become cells, held against slow loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_segments import random_segments, slow_decisions, tails_of

from league.segment import CONTINUES, CUT
from learners.steps import decisions_of, joint_steps_of


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 5), gamma=st.sampled_from([1.0, 0.9]))
def test_decisions_know_what_came_of_them(seed, n, gamma):
    segments = random_segments(seed)
    steps = decisions_of(segments, n, gamma)
    assert steps.decides.sum() == segments.decisions
    assert len(steps) == segments.decisions + len(segments.tail_lane)
    slow = slow_decisions(segments, n, gamma)
    for cell in steps.decides.nonzero()[0]:
        reward, discount, after = slow.pop(steps.seen["observation"][cell, 0])
        assert steps.reward[cell] == pytest.approx(reward, abs=1e-5)
        assert steps.discount[cell] == pytest.approx(discount)
        place = (int(steps.seen["observation"][cell, 0]) - 1) % segments.present.shape[2]
        assert steps.seen["place"][cell] == place
        if after is not None:
            then = cell + steps.ahead[cell]
            assert then > cell
            assert (steps.seen["observation"][then, 0], steps.seen["mask"][then].tolist()) == after
            assert steps.seen["place"][then] == place
    assert not slow


def slow_joint(segments, n, gamma):
    """The same for ticks of a whole seat: {(lane, tick): (reward, discount, {agent: observation} after)}."""
    found, tails = {}, tails_of(segments)
    lanes, ticks, agents = segments.present.shape
    for lane in range(lanes):
        for begin in range(ticks):
            total, factor, after, tick = 0.0, 1.0, None, begin
            for _ in range(n):
                there = [a for a in range(agents) if segments.present[lane, tick, a]]
                total += factor * np.mean([segments.reward[lane, tick, a] for a in there])
                factor *= gamma
                ends = {a: segments.end[lane, tick, a] for a in there}
                if CONTINUES in ends.values():
                    tick += 1
                    after = {
                        a: segments.observation[lane, tick, a, 0]
                        for a in range(agents)
                        if segments.present[lane, tick, a]
                    }
                    continue
                after = {a: tails[lane, tick, a][0] for a, end in ends.items() if end == CUT}
                factor = factor if after else 0.0
                break
            found[lane, begin] = (total, factor, after)
    return found


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), gamma=st.sampled_from([1.0, 0.9]))
def test_joint_steps_know_what_came_of_them_and_who_was_there(seed, n, gamma):
    segments = random_segments(seed, agents=3, together=True)
    steps = joint_steps_of(segments, n, gamma)
    slow = slow_joint(segments, n, gamma)
    at = list(zip(*segments.present.any(axis=2).nonzero(), strict=True))
    assert steps.decides.sum() == len(at)
    for cell, (lane, tick) in enumerate(at):
        reward, discount, after = slow[int(lane), int(tick)]
        assert steps.reward[cell] == pytest.approx(reward, abs=1e-5)
        assert steps.discount[cell] == pytest.approx(discount)
        np.testing.assert_array_equal(steps.action[cell], segments.action[lane, tick])
        np.testing.assert_array_equal(steps.seen["present"][cell], segments.present[lane, tick])
        if discount:
            then = cell + steps.ahead[cell]
            there = steps.seen["present"][then].nonzero()[0].tolist()
            assert {a: steps.seen["observation"][then, a, 0] for a in there} == after
