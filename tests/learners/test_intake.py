"""The intake of a learner: what it drops, refuses and counts."""

from dataclasses import replace

from learner_world import BATCH, HERO, feed

from league.wire.messages import (
    Credit,
    Refused,
    Report,
    Weights,
)


def test_malformed_messages_are_counted_and_answered(hero, play):
    world, collector = hero
    good = play(collector.flat, lanes=16)
    bad = replace(good, action=good.action + 100)
    collector.feed(bad)
    world.learner.step(0)
    assert "an action is illegal" in collector.last(Refused).reason
    collector.client.send(Report(request=1, name="c", session="one"))
    world.run(HERO, steps=2)
    assert "segments and pulls" in collector.last(Refused).reason
    assert world.metrics["malformed"] == 2
    feed(world, collector, play)
    assert collector.last(Weights).version == 1


def test_stale_segments_and_other_incarnations_are_dropped_and_counted(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=4)
    collector.feed(play(collector.flat, lanes=16, version=1))
    collector.feed(play(collector.flat, lanes=16, version=4, incarnation=9))
    world.run(HERO, steps=2)
    assert world.metrics["player/hero/dropped_stale"] == BATCH
    assert world.metrics["player/hero/dropped_incarnation"] == BATCH
    assert world.metrics["player/hero/version"] == 4
    assert collector.last(Credit).allowance == collector.sent + 2 * BATCH
