"""Replay against slow loops: every return, every pointer, every draw."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_segments import ACTIONS, random_segments, slow_decisions

from league.segment import TERMINATED, Segments
from learners.replay import RateLimit, Replay, SumTree
from learners.steps import decisions_of


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), capacity=st.integers(5, 120))
def test_a_ring_holds_the_newest_and_what_they_point_to(seed, capacity):
    """Observations are numbered over all inserts; what is drawn is among the newest, with its right successor."""
    replay, rng, expected, order = Replay(capacity), np.random.default_rng(seed), {}, []
    for number in range(5):
        segments = random_segments(seed + number, lanes=int(rng.integers(1, 4)), ticks=5)
        for array in (segments.observation, segments.tail_observation):
            array += np.sign(array) * 1000 * number
        steps = decisions_of(segments, 2, 0.9)
        order += [(n, d) for n, d in zip(steps.seen["observation"][:, 0].tolist(), steps.decides.tolist(), strict=True)]
        expected |= slow_decisions(segments, 2, 0.9)
        replay.insert(steps)
        held = [n for n, decides in order[-capacity:] if decides]
        assert replay.size == len(held)
        if not held:
            continue
        sample = replay.sample(len(held), rng)
        assert sorted(sample.seen["observation"][:, 0].tolist()) == sorted(held), "each once, if as many as there are"
        for i, seen in enumerate(sample.seen["observation"][:, 0].tolist()):
            reward, discount, after = expected[seen]
            assert sample.reward[i] == pytest.approx(reward, abs=1e-5)
            assert sample.discount[i] == pytest.approx(discount)
            if after is not None:
                assert (sample.after["observation"][i, 0], sample.after["mask"][i].tolist()) == after


@settings(max_examples=60, deadline=None)
@given(data=st.data(), capacity=st.integers(1, 40))
def test_a_sum_tree_finds_what_a_running_sum_finds(data, capacity):
    tree, numbers = SumTree(capacity), np.zeros(capacity)
    for _ in range(3):
        index = np.array(data.draw(st.lists(st.integers(0, capacity - 1), min_size=1, max_size=10)))
        values = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(index), max_size=len(index))), float)
        tree.set(index, values)
        numbers[index] = values
    assert tree.total == numbers.sum()
    np.testing.assert_array_equal(tree[np.arange(capacity)], numbers)
    if tree.total:
        parts = np.arange(int(tree.total)) + 0.5
        slow = [int(np.searchsorted(np.cumsum(numbers), part, side="right")) for part in parts]
        assert tree.find(parts).tolist() == slow
        assert numbers[tree.find(np.array([0.0, tree.total]))].all(), "nothing without a priority is found"


def cells(count):
    segments = random_segments(0, lanes=count, ticks=1, agents=1)
    segments.present[:] = True
    segments.end[:] = TERMINATED
    none = np.zeros(0, np.int32)
    bare = {"tail_lane": none, "tail_tick": none, "tail_agent": none}
    arrays = segments.arrays() | bare | {"tail_observation": np.zeros((0, 1), np.float32)}
    return decisions_of(Segments("hero", 0, **arrays | {"tail_mask": np.zeros((0, ACTIONS), bool)}), 1, 0.9)


def test_what_surprised_is_drawn_as_often_as_its_priority_says_and_weighs_less():
    replay, rng = Replay(8, priority=0.5), np.random.default_rng(0)
    index = replay.insert(cells(4))
    replay.prioritise(index, np.array([1.0, 4.0, 9.0, 16.0]))  # roots: 1, 2, 3, 4
    drawn = Counter()
    for _ in range(400):
        sample = replay.sample(10, rng)
        drawn.update(sample.index.tolist())
    np.testing.assert_allclose([drawn[i] / 4000 for i in range(4)], [0.1, 0.2, 0.3, 0.4], atol=0.02)
    np.testing.assert_allclose(sample.odds, 4 * (1 + sample.index) / 10, rtol=1e-5)
    weights = sample.weights(beta=1.0)
    np.testing.assert_allclose(weights, 1 / (1 + sample.index) * (1 + sample.index.min()), rtol=1e-5)
    np.testing.assert_allclose(sample.weights(beta=0.0), 1.0)
    newer = replay.insert(cells(2))
    assert (replay._tree[newer] == replay.highest).all(), "nobody knows yet how surprising new ones are"


def test_without_priorities_all_are_equal_whatever_the_errors():
    replay, rng = Replay(8), np.random.default_rng(0)
    index = replay.insert(cells(4))
    replay.prioritise(index, np.array([1.0, 4.0, 9.0, 16.0]))
    sample = replay.sample(8, rng)
    assert sorted(sample.index.tolist()) == [0, 0, 1, 1, 2, 2, 3, 3]
    np.testing.assert_array_equal(sample.weights(beta=1.0), 1.0)


def test_poison_is_drawn_no_more():
    replay, rng = Replay(8, priority=1.0), np.random.default_rng(0)
    replay.insert(cells(4))
    replay.drop(np.array([1, 1, 2]))
    assert replay.size == 2
    replay.prioritise(np.array([1, 3]), np.array([9.0, 1.0]))
    assert set(replay.sample(50, rng).index.tolist()) == {0, 3}


@given(
    inserts=st.lists(st.integers(1, 100), min_size=1, max_size=30),
    ratio=st.sampled_from([0.5, 1.0, 3.7, 8.0]),
    warmup=st.integers(0, 300),
)
def test_samples_keep_to_their_ratio_after_the_warmup(inserts, ratio, warmup):
    limit, held, counted = RateLimit(ratio, warmup), 0, 0
    for count in inserts:
        held += count
        limit.insert(count, held)
        counted += count if held >= warmup else 0
        while limit.due >= 16:
            limit.sample(16)
        assert 0 <= ratio * counted - limit.samples < 16 + 1e-6
    assert limit.reuse == limit.samples / sum(inserts)
