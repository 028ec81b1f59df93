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


def test_more_that_is_too_old_than_is_learned_from_is_warned_of_once(hero, play, caplog):
    world, collector = hero
    feed(world, collector, play, batches=4)
    for dropped in (4, 5, 9):
        for _ in range(dropped):
            collector.feed(play(collector.flat, lanes=16, version=1))
            world.run(HERO)
        feed(world, collector, play)
    told = [record.getMessage() for record in caplog.records if "too old" in record.getMessage()]
    assert len(told) == 1
    assert f"too old ({9 * BATCH}) than learned from ({6 * BATCH}): algo.batch={BATCH} is too small" in told[0]


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
