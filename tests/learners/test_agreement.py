"""What a learner does next: whom it trains."""

import numpy as np
import pytest
from dict_board import boards
from learner_world import HERO, World, feed

from league.wire.messages import (
    Assignment,
    Weights,
)
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
