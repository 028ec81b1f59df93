"""Ranks that do not wait: rank 0 makes versions, the others follow them, and all learn from one another."""

import numpy as np
import pytest
from dict_board import boards

from league.per_player import PerPlayer
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.wire.messages import Assignment
from learners.algorithms.ppo_config import PPOConfig
from learners.config import LearnerConfig
from learners.distributed import Alone
from learners.player_settings import PlayerSettings
from learners.trainee_store import TraineeStore

HERO = Assignment(player="hero", incarnation=0)


@pytest.fixture
def stores(tmp_path, spec, policy):
    """Return a function that makes the stores of two ranks, as after a start of both."""

    def start(share="async"):
        return [
            TraineeStore(
                snapshots=SnapshotStore(tmp_path / "snapshots"),
                checkpoint_path=RunDirectory(tmp_path).checkpoint,
                spec=spec,
                players=PerPlayer(PlayerSettings(policy, PPOConfig(batch=64, minibatch=32, epochs=1, lr=1e-2))),
                seed=3,
                group=Alone(rank=rank, size=2, board=board),
                config=LearnerConfig(share=share),
            )
            for rank, board in enumerate(boards(2))
        ]

    return start


def train(trainee, play, seed=0, spoil=False):
    segments = play(trainee.weights, lanes=8, seed=seed, version=trainee.version)
    if spoil:
        segments.reward[:] = np.nan
    assert trainee.offer(segments, "session")
    return trainee.learn(lambda: None)


@pytest.mark.parametrize("share", ["async", "gossip", "gossip_ring"])
def test_only_rank_0_makes_versions_and_the_other_serves_the_same_weights(stores, play, share):
    leader, other = (store.begin(HERO) for store in stores(share))
    assert not train(other, play)
    assert (leader.version, other.version) == (0, 0)
    assert train(leader, play, seed=1)
    assert not leader.follow()
    assert other.follow()
    assert not other.follow()
    assert leader.version == other.version == 1
    np.testing.assert_array_equal(leader.weights, other.weights)
    assert leader.decisions == other.decisions == 64, "of both ranks"
    assert not np.array_equal(other.algorithm.flat(), other.weights), "it trains a copy of its own"


def test_asynchronous_ranks_apply_each_others_steps(stores, play):
    leader, other = (store.begin(HERO) for store in stores())
    start = leader.algorithm.flat()
    train(other, play)
    first = other.algorithm.flat() - start
    train(leader, play, seed=1)
    alone = stores()[0].begin(Assignment(player="hero", incarnation=0))
    train(alone, play, seed=1)
    np.testing.assert_allclose(leader.weights - start, first + (alone.weights - start), atol=1e-6)


def test_a_rank_that_comes_late_begins_where_rank_0_began(stores, play):
    first, second = stores()
    leader = first.begin(HERO)
    train(leader, play)
    first.write(leader)
    other = second.begin(HERO)  # the checkpoint is newer than the start
    assert other.version == 0
    train(other, play, seed=1)
    assert other.follow()
    np.testing.assert_array_equal(other.weights, leader.weights)


def test_all_go_on_from_the_checkpoint_of_rank_0(stores, play):
    first, _ = stores()
    leader = first.begin(HERO)
    train(leader, play)
    first.write(leader)
    again, other = (store.begin(HERO) for store in stores())
    assert again.version == other.version == 1
    for name, array in again.algorithm.state().items():
        np.testing.assert_array_equal(other.algorithm.state()[name], array)
    np.testing.assert_array_equal(other.algorithm.flat(), leader.weights)


def test_notes_of_old_incarnations_are_erased(stores, play):
    both = stores()
    keys = both[0].group.board._store.keys
    sizes = []
    for incarnation in range(5):
        for store in both:
            trainee = store.begin(Assignment(player="hero", incarnation=incarnation))
            trainee.offer(play(trainee.weights, lanes=16, incarnation=incarnation), "session")
            trainee.learn(lambda: None)
        sizes.append(len(keys))
    assert sizes[1] == sizes[2] == sizes[4]


def test_an_update_that_is_rolled_back_reaches_nobody(stores, play):
    leader, other = (store.begin(HERO) for store in stores())
    before = other.algorithm.flat()
    assert not train(other, play, spoil=True)
    assert (other.rollbacks, other.in_a_row) == (1, 1)
    np.testing.assert_array_equal(other.algorithm.flat(), before)
    assert train(leader, play)
    assert leader.metrics()["player/hero/mixed"] == 0


def test_a_version_that_it_has_not_seen_makes_a_rank_look_and_not_skip(stores, play):
    leader, other = (store.begin(HERO) for store in stores())
    train(leader, play)
    assert other.skip_lost(1)
    assert other.version == 1
    assert not other.skip_lost(9), "only rank 0 skips"
    assert other.version == 1
    assert leader.skip_lost(9)
    assert leader.version == 10
    assert other.follow(), "collectors get the version that was skipped to from every rank"
    assert other.version == 10


def test_costs_of_all_ranks_are_counted_once(stores, play):
    leader, other = (store.begin(HERO) for store in stores())
    train(other, play)
    train(leader, play)
    assert leader.cpu_seconds > other.cpu_seconds > 0
    counted = leader.cpu_seconds
    own = leader.cpu_seconds - other.cpu_seconds
    assert own > 0
    assert leader._news_of_others() == (0, 0), "what rank 1 trained is counted already"
    assert leader.cpu_seconds == counted


def test_a_mix_out_of_bounds_is_refused_and_the_rank_goes_on_with_its_own(stores, play):
    leader, other = (store.begin(HERO) for store in stores("gossip"))
    train(other, play)
    key = f"weights/{leader._key('x').removeprefix('x/')}"
    other.board.write(key, np.full_like(other.weights, np.float32(1e30)).tobytes())
    assert train(leader, play, seed=1)
    assert np.abs(leader.weights).max() < 1e3
    assert leader.metrics()["player/hero/mixes_refused"] == 1
