"""Versions that a learner published and lost are skipped."""

from learner_world import HERO, feed

from league.wire.messages import (
    Weights,
)
from learners.fed_player import REACH


def test_versions_that_died_with_a_learner_are_overtaken(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=3)  # version 3 was published, the checkpoint is of version 2
    world.restart()
    world.run(HERO, steps=2)
    collector.pull(version=3)
    world.run(HERO)
    assert collector.last(Weights).version == 4
    collector.feed(play(collector.flat, lanes=16, version=4))
    world.run(HERO, steps=2)
    assert collector.last(Weights).version == 5
    assert world.metrics["player/hero/dropped_stale"] == 0


def test_nobody_pushes_a_version_further_than_a_learner_can_have_come(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=1)
    before = collector.last(Weights).version
    for version in (2**30, 2**31 - 1, REACH * 2):
        collector.pull(version=version)
        world.run(HERO)
    collector.feed(play(collector.flat, lanes=4, version=REACH * 2))
    world.run(HERO)
    assert world.learner._intake.segments.malformed == 1, "there was no such version"
    assert world.learner._trainees["hero"].version == before
    for step in range(1, 4):  # nor little by little
        collector.pull(version=before + step * REACH)
        world.run(HERO)
    assert world.learner._trainees["hero"].version == before + REACH + 1
