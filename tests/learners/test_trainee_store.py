"""Trainees begin from scratch, from snapshots and from checkpoints."""

import numpy as np
import pytest
from learner_world import BATCH, HERO, World, feed

from league.policies.layout import PolicyConfig
from league.wire.messages import (
    Assignment,
    Weights,
)
from learners.algorithms.a2c_config import A2CConfig
from learners.checkpoint import CheckpointError


def test_a_snapshot_is_not_aliased_to_live_weights(hero, play):
    world, collector = hero
    (candidate,) = world.candidates()
    before = world.store.get(candidate.snapshot).arrays["flat"].copy()
    feed(world, collector, play, batches=1)
    np.testing.assert_array_equal(world.store.get(candidate.snapshot).arrays["flat"], before)


def test_a_reset_begins_again_and_keeps_the_count_of_decisions(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=3)
    (start,) = [c.snapshot for c in world.candidates() if c.version == 0]
    again = Assignment(player="hero", incarnation=1, start=start)
    world.run(again, steps=3)
    newest = world.candidates()[-1]
    assert (newest.incarnation, newest.version, newest.decisions) == (1, 0, 3 * BATCH)
    stored = world.store.get(newest.snapshot)
    np.testing.assert_array_equal(stored.arrays["flat"], world.store.get(start).arrays["flat"])
    assert stored.manifest.parent == start
    assert collector.last(Weights).incarnation == 1
    collector.pull(version=3, incarnation=0)
    world.run(again)
    assert collector.last(Weights).version == 0


def test_after_a_restart_it_goes_on_from_its_checkpoint(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=4)
    world.run(HERO, steps=2)
    weights, before = collector.flat, world.candidates()[-1]
    world.restart()
    late = world.collector("two")
    world.run(HERO, steps=2)
    late.pull()
    world.run(HERO)
    late.hear()
    assert world.progress[-1].candidates == (before,)
    assert late.last(Weights).version == 4
    np.testing.assert_array_equal(late.flat, weights)


def test_a_restart_is_as_if_nothing_had_happened(tmp_path, spec, policy, play):
    final = []
    for name, restarts in (("plain", False), ("killed", True)):
        world = World(tmp_path / name, spec, policy)
        world.run(HERO, steps=3)
        for _ in range(3):
            collector = world.collector(f"c{len(world.progress)}")
            collector.pull()
            world.run(HERO)
            feed(world, collector, play, batches=2)
            world.run(HERO, steps=2)
            if restarts:
                world.restart()
                world.run(HERO, steps=2)
        final.append(world.candidates()[-1].snapshot)
    assert final[0] == final[1]


def test_another_network_is_not_resumed(hero):
    world, _ = hero
    world.restart(policy=PolicyConfig(hidden=[5]))
    world.now += 10
    world.learner.step(0)
    world.answer(HERO)
    with pytest.raises(CheckpointError, match="Resume with the config of the run"):
        world.learner.step(0)


def test_a_start_from_another_network_is_refused(hero):
    world, _ = hero
    (candidate,) = world.candidates()
    world.restart(policy=PolicyConfig(hidden=[5]))
    world.now += 10
    world.learner.step(0)
    world.answer(Assignment(player="other", incarnation=0, start=candidate.snapshot))
    with pytest.raises(ValueError, match="cannot start from snapshot"):
        world.learner.step(0)


def test_another_algorithm_is_not_resumed(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=2)
    world.restart(algo=A2CConfig(batch=BATCH))
    world.learner.step(0)
    world.answer(HERO)
    with pytest.raises(CheckpointError, match="written under algorithm PPO, but the config says A2C"):
        world.learner.step(0)


def averaged_world(path, spec, policy):
    world = World(path, spec, policy, config={"ema": 0.5, "candidate_decisions": BATCH})
    world.run(HERO, steps=3)
    return world


def publish_versions(world, play, count, session="one"):
    """Train so many batches; return the weights of each version, as a collector gets them."""
    collector, flats = world.collector(session), []
    for _ in range(count):
        collector.pull()
        world.run(HERO)
        feed(world, collector, play, batches=1)
        world.run(HERO, steps=2)
        collector.pull()
        world.run(HERO)
        collector.hear()
        flats.append(collector.flat.copy())
    return flats


def test_a_candidate_is_the_average_of_versions_and_collectors_get_the_newest(tmp_path, spec, policy, play):
    world = averaged_world(tmp_path, spec, policy)
    one, two, three = publish_versions(world, play, 3)
    newest = world.candidates()[-1]
    assert newest.version == 3
    stored = world.store.get(newest.snapshot).arrays["flat"]
    np.testing.assert_allclose(stored, (one + 2 * two + 4 * three) / 7, atol=1e-6)
    assert not np.array_equal(two, three)


def test_an_average_survives_a_restart_and_not_a_reset(tmp_path, spec, policy, play):
    world = averaged_world(tmp_path, spec, policy)
    one, two = publish_versions(world, play, 2)
    world.restart()
    world.run(HERO, steps=2)
    (three,) = publish_versions(world, play, 1, session="late")
    stored = world.store.get(world.candidates()[-1].snapshot).arrays["flat"]
    np.testing.assert_allclose(stored, (one + 2 * two + 4 * three) / 7, atol=1e-6)
    again = Assignment(player="hero", incarnation=1)
    world.run(again, steps=3)
    fresh = world.store.get(world.candidates()[-1].snapshot).arrays["flat"]
    late = world.collector("later")
    late.pull(incarnation=1)
    world.run(again)
    late.hear()
    np.testing.assert_array_equal(fresh, late.flat)
