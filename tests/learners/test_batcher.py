from dataclasses import replace

import numpy as np
import pytest

from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import LIMIT, ROOM, Batcher, join


@pytest.fixture
def batcher():
    return Batcher(incarnation=0, batch=60, max_lag=2)


def test_the_oldest_lanes_are_taken_and_the_rest_of_a_message_waits(batcher, play, fresh):
    for seed, session in enumerate(["one", "two", "one"]):
        assert batcher.add(play(fresh, seed=seed), session, version=0)
    assert batcher.full
    batch = batcher.take(version=0)
    assert batch.decisions == 60
    assert batch.sessions == {"one": 32, "two": 28}
    np.testing.assert_array_equal(batch.segments.action[:8], play(fresh, seed=0).action)
    np.testing.assert_array_equal(batch.segments.action[8:], play(fresh, seed=1).action[:7])
    assert not batcher.full
    assert batcher.decisions == 36
    assert batcher.waiting("one") == 32
    assert batcher.waiting("two") == 4


def test_lanes_keep_their_tails(batcher, play, fresh):
    messages = [play(fresh, seed=seed, lanes=5) for seed in range(12)]
    for segments in messages:
        batcher.add(segments, "one", version=0)
    batches = [batcher.take(version=0).segments for _ in range(len(messages) * 20 // batcher.batch)]
    whole, told = join(messages), join(batches)
    assert told.decisions == whole.decisions == len(messages) * 20
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(getattr(told, name), array, err_msg=name)


def test_another_incarnation_is_dropped_and_counted(batcher, play, fresh):
    assert not batcher.add(play(fresh, incarnation=1), "one", version=0)
    assert (batcher.dropped_incarnation, batcher.decisions) == (32, 0)


@pytest.mark.parametrize(("version", "kept"), [(5, True), (7, True), (8, False)])
def test_more_than_max_lag_is_dropped_and_counted(batcher, play, fresh, version, kept):
    assert batcher.add(play(fresh, version=5), "one", version) is kept
    assert batcher.dropped_stale == (0 if kept else 32)


def test_the_oldest_lane_decides_on_staleness(batcher, play, fresh):
    segments = play(fresh, version=9)
    segments.version[3] = 6
    assert not batcher.add(segments, "one", version=9)


def test_what_waited_too_long_expires(batcher, play, fresh):
    batcher.add(play(fresh, version=1), "one", version=1)
    batcher.add(play(fresh, version=3), "two", version=3)
    batcher.expire(version=4)
    assert batcher.waiting("one") == 0
    assert batcher.decisions == 32
    assert batcher.dropped_stale == 32
    assert batcher.waiting("two") == 32


def test_a_peer_that_ignores_credits_fills_no_memory(batcher, play, fresh):
    segments = play(fresh)
    for _ in range(1000):
        batcher.add(segments, "greedy", version=0)
    assert batcher.decisions == max(LIMIT * batcher.batch, ROOM)
    assert batcher.decisions + batcher.dropped_full == 32_000


def test_all_lanes_of_a_collector_find_room_beside_what_small_batches_wait_for(play, fresh):
    """256 slots of 32 ticks fill at the same time, also beyond the credit: that is no reason to drop them."""
    batcher, lanes = Batcher(incarnation=0, batch=1024, max_lag=8), play(fresh, lanes=256, ticks=32)
    assert batcher.add(play(fresh, lanes=64, ticks=32), "one", version=0)
    assert batcher.add(lanes, "one", version=0)
    assert batcher.dropped_full == 0


@pytest.mark.parametrize(
    ("algo", "kept"),
    [(PPOConfig(batch=32), ROOM), (DQNConfig(batch=32, minibatch=32, replay=100_000), 97 * 256)],  # a quarter of it
)
def test_what_comes_all_at_once_waits_for_a_replay(algo, kept, play, fresh):
    batcher, segments = algo.new_batcher(incarnation=0), play(fresh, lanes=256, ticks=1)
    for _ in range(100):
        batcher.add(segments, "many slots", version=0)
    assert (batcher.decisions, batcher.dropped_full) == (kept, 25_600 - kept)


def test_lag_is_told_for_each_decision(batcher, play, fresh):
    segments = play(fresh, lanes=16, version=4)
    segments.version[0] = 3
    segments.present[1, 1:] = False
    batcher.add(segments, "one", version=5)
    lag = batcher.take(version=5).lag
    assert len(lag) == 61
    assert sorted(lag) == [1] * 57 + [2] * 4


def test_segments_of_different_lengths_are_joined(play, fresh):
    short, long = play(fresh, lanes=3, ticks=2), play(fresh, lanes=2, ticks=5, seed=9)
    both = join([short, long])
    assert both.present.shape == (5, 5, 1)
    assert both.decisions == short.decisions + long.decisions
    np.testing.assert_array_equal(both.observation[:3, :2], short.observation)
    np.testing.assert_array_equal(both.observation[3:], long.observation)
    assert not both.present[:3, 2:].any()
    np.testing.assert_array_equal(both.tail_lane, [0, 1, 2, 3, 4])
    assert (both.end[both.tail_lane, both.tail_tick, both.tail_agent] == 2).all()


def test_a_batch_shares_no_memory_with_the_wire(batcher, play, fresh):
    segments = play(fresh, lanes=16)
    frozen = replace(segments, reward=segments.reward.copy())
    frozen.reward.flags.writeable = False
    batcher.add(frozen, "one", version=0)
    assert batcher.take(version=0).segments.reward.flags.writeable
