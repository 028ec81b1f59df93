"""What a learner does next: whom it trains."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from dict_board import boards
from learner_world import HERO, World, feed

from league.wire.messages import (
    Assignment,
    Weights,
)
from learners.agreement import agree
from learners.distributed import Alone


def test_full_batches_of_a_round_train_in_the_order_of_names_and_older_ones_first(world, play):
    rows = [Assignment(player=name, incarnation=0) for name in ("ann", "bob")]
    world.run(*rows, steps=3)
    collector = world.collector()
    for name in ("ann", "bob"):
        collector.pull(player=name)
    world.run(*rows)
    collector.hear()
    flat = collector.flat
    for seed, name in enumerate(("bob", "ann", "bob")):
        collector.feed(play(flat, lanes=16, seed=seed, player=name))
    world.learner.step(0)
    world.learner.step(0)
    world.learner.step(0)
    trained = [m.player for m in collector.hear() if isinstance(m, Weights)]
    assert trained == ["ann", "bob", "bob"]


@pytest.fixture
def apart(tmp_path, spec, policy):
    """Two ranks that do not wait, each with a world of its own; only that of rank 0 has a coordinator that answers."""
    worlds = []
    for rank, board in enumerate(boards(2)):
        world = World(tmp_path, spec, policy, config={"share": "gossip"})
        world.restart(group=Alone(rank=rank, size=2, board=board))
        worlds.append(world)
    return worlds


def test_a_rank_that_does_not_wait_follows_the_roster_and_the_versions_of_rank_0(apart, play):
    leader, other = apart
    other.learner.step(0)  # nothing is known yet, and nobody waits
    leader.run(HERO, steps=3)
    other.learner.step(0)
    collectors = [world.collector(f"rank-{rank}") for rank, world in enumerate(apart)]
    for collector in collectors:
        collector.pull()
    leader.run(HERO)
    other.learner.step(0)
    feed(leader, collectors[0], play)
    other.learner.step(0)
    newest = [collector.last(Weights).version for collector in collectors]
    assert newest == [1, 1]
    np.testing.assert_array_equal(collectors[0].flat, collectors[1].flat)
    collectors[1].feed(play(collectors[1].flat, lanes=16, version=1))
    other.learner.step(0)
    other.learner.step(0)
    assert collectors[1].last(Weights).version == 1, "only rank 0 makes versions"
    assert other.learner._trainees["hero"].algorithm.decisions == 64


def test_ranks_that_do_not_wait_stop_together(apart):
    leader, other = apart
    leader.run(HERO, steps=3)
    other.learner.step(0)
    other.learner.ask_to_stop()
    assert not other.learner.step(0)
    assert not leader.learner.step(0)


def test_rank_0_passes_on_the_end_of_the_league(apart):
    leader, other = apart
    leader.run(HERO, steps=3)
    leader.now += 5
    leader.learner.step(0)
    leader.answer(HERO, stop=True)
    assert not leader.learner.step(0)
    assert not other.learner.step(0)


class InStep:
    """One of two ranks that wait for each other, as threads of a test."""

    board = None

    def __init__(self, barrier, said):
        self.barrier, self.said = barrier, said

    def maximum(self, numbers):
        self.said.append(numbers)
        self.barrier.wait(10)
        return np.maximum(*self.said)


def agree_in_step(*ranks):
    """Return what two ranks agree on, given the (name, version, full since) of their players."""
    barrier, said = threading.Barrier(2), []

    def decide(players):
        trainees = [
            SimpleNamespace(player=name, version=version, ready=since is not None, full_since=since)
            for name, version, since in players
        ]
        return agree(InStep(barrier, said), trainees, stop=False, buffer_moved=False)

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(decide, ranks)
    assert first == second
    return first


def test_ranks_in_step_choose_the_oldest_batch_that_all_have():
    agreed = agree_in_step(
        [("ann", 1, 5), ("bob", 2, 4), ("cat", 0, 1)], [("ann", 1, 5), ("bob", 2, 6), ("cat", 0, None)]
    )
    assert agreed.chosen == "ann"
    assert agreed.versions == (1, 2, 0)


def test_a_player_whose_rank_must_first_skip_versions_is_not_chosen():
    """The batch of the rank that is behind may be too old for the version that it advances to."""
    agreed = agree_in_step([("ann", 1, 1), ("bob", 0, 2)], [("ann", 9, 1), ("bob", 0, 2)])
    assert agreed.versions == (9, 0)
    assert agreed.chosen == "bob"


def test_a_batch_too_old_for_the_version_that_a_rank_follows_is_not_trained_on(apart, play):
    leader, other = apart
    leader.run(HERO, steps=3)
    other.learner.step(0)
    collectors = [world.collector(f"rank-{rank}") for rank, world in enumerate(apart)]
    for collector in collectors:
        collector.pull()
    leader.run(HERO)
    other.learner.step(0)
    for collector in collectors:
        collector.hear()
    old = play(collectors[1].flat, lanes=16)
    for _ in range(4):
        feed(leader, collectors[0], play)
        leader.run(HERO)
    collectors[1].feed(old)
    other.learner.step(0)
    trainee = other.learner._trainees["hero"]
    assert trainee.version > trainee.batcher.max_lag
    assert (trainee.rollbacks, trainee.algorithm.decisions, trainee.full_since) == (0, 0, None)


def test_a_rank_that_stops_alone_leaves_the_player_to_the_others(apart, play, caplog):
    leader, other = apart
    leader.run(HERO, steps=3)
    other.learner.step(0)
    collectors = [world.collector(f"rank-{rank}") for rank, world in enumerate(apart)]
    for collector in collectors:
        collector.pull()
    leader.run(HERO)
    other.learner.step(0)
    collectors[1].hear()
    for seed in range(other.learner.store.config.max_rollbacks):
        bad = play(collectors[1].flat, lanes=16, seed=seed)
        bad.reward[:] = 1e30
        collectors[1].feed(bad)
        other.learner.step(0)
    assert "Rank 1 stops training it, the others go on" in caplog.text
    assert not other.learner._trainees["hero"].takes, "collectors are to send to another rank"
    feed(leader, collectors[0], play)
    leader.run(HERO)
    assert leader.learner._trainees["hero"].version > 0


def test_without_rank_0_all_stop(apart, play, caplog):
    leader, other = apart
    leader.run(HERO, steps=3)
    other.learner.step(0)
    collector = leader.collector()
    collector.pull()
    leader.run(HERO)
    collector.hear()
    for seed in range(leader.learner.store.config.max_rollbacks):
        bad = play(collector.flat, lanes=16, seed=seed)
        bad.reward[:] = 1e30
        collector.feed(bad)
        leader.run(HERO)
    assert "All ranks of this learner stop training it" in caplog.text
    other.learner.step(0)
    assert other.learner._trainees["hero"].stopped == "rank 0 stopped training it"
