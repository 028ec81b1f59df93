"""The learner: roster, segments in, weights and credits out."""

import numpy as np
from learner_world import BATCH, HERO, SEED, feed

from league.ids import derive_seed
from league.policies.layout import initial
from league.wire.messages import (
    Assignment,
    Credit,
    Refused,
    Weights,
)
from learners.algorithms.ppo import PPO


def test_repeating_the_roster_changes_nothing(world):
    world.run(HERO, steps=10)
    assert len(world.candidates()) == 1
    assert len(world.store.hashes()) == 1


def test_a_pull_is_answered_with_weights_and_credit(hero):
    world, collector = hero
    assert collector.last(Weights).version == 0
    np.testing.assert_array_equal(
        collector.flat, initial(world.policy, world.spec, derive_seed(SEED, "init", "hero", 0))
    )
    assert collector.last(Credit).allowance == 2 * BATCH
    collector.pull(version=0)
    world.learner.step(0)
    assert [type(message) for message in collector.hear()] == [Credit]


def test_a_batch_makes_a_version_that_is_pushed(hero, play):
    world, collector = hero
    before = collector.flat
    feed(world, collector, play)
    assert collector.last(Weights).version == collector.last(Credit).version == 1
    assert not np.array_equal(before, collector.flat)
    assert collector.last(Credit).allowance == BATCH + 2 * BATCH


def test_half_a_batch_waits_and_holds_credit(hero, play):
    world, collector = hero
    collector.feed(play(collector.flat, lanes=8))
    world.run(HERO, steps=2)
    assert collector.last(Weights).version == 0
    assert collector.last(Credit).allowance == 2 * BATCH
    collector.feed(play(collector.flat, lanes=8, seed=1))
    world.run(HERO)
    assert collector.last(Weights).version == 1


def test_two_sessions_share_the_credit(hero, play):
    world, first = hero
    second = world.collector("two")
    second.pull()
    world.run(HERO, steps=2)
    assert first.last(Credit).allowance == second.last(Credit).allowance == BATCH


def test_pulls_in_the_middle_of_an_update_get_the_last_whole_version(world, play):
    class Curious(PPO):
        def update(self, batch, rng, between):
            def ask():
                late.pull()
                between()

            return super().update(batch, rng, ask)

    world.restart(algorithm=Curious)
    late = world.collector("late")
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    first = (collector.hear(), collector.flat)[1]
    collector.feed(play(first, lanes=16))
    world.learner.step(0)
    seen = [(m.version, arrays["flat"]) for m, arrays in late.client.receive(0) if isinstance(m, Weights)]
    assert [version for version, _ in seen] == [0, 0, 0, 0, 1]
    for _, flat in seen[:-1]:
        np.testing.assert_array_equal(flat, first)


def test_a_player_that_is_gone_is_dropped(hero):
    world, collector = hero
    world.run(steps=2)
    assert not world.progress[-1].candidates
    collector.pull()
    world.run()
    assert "does not train here" in collector.last(Refused).reason


def test_stop_writes_everything_and_ends(hero, play):
    world, collector = hero
    feed(world, collector, play)
    world.now += 10
    world.learner.step(0)
    world.answer(HERO, stop=True)
    assert world.learner.step(0) is False
    world.answer()
    assert world.progress[-1].candidates[0].version == 1
    assert world.learner.step(0) is False
    world.restart()
    world.run(HERO, steps=3)
    assert world.metrics["player/hero/version"] == 1


def test_a_lower_term_is_refused(world):
    world.term = 5
    world.run(HERO, steps=2)
    world.now += 10
    world.learner.step(0)
    world.answer(stop=True, term=4)
    world.now += 10
    assert world.learner.step(0) is True
    world.answer(HERO)
    assert world.progress[-1].candidates


def test_credit_survives_a_restart_of_the_learner(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=4)
    world.restart()
    world.run(HERO, steps=2)
    collector.pull(version=4)
    world.run(HERO)
    assert collector.last(Credit).allowance == collector.sent + 2 * BATCH


def test_a_player_that_explodes_stops_at_its_last_good_version_and_says_where(world, play, caplog):
    class Fragile(PPO):
        healthy = 1

        def update(self, batch, rng, between):
            if self.healthy <= 0:
                batch.segments.reward[:] = np.nan
            self.healthy -= 1
            return super().update(batch, rng, between)

    world.settings["config"] = {"max_rollbacks": 3}
    world.restart(algorithm=Fragile)
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    feed(world, collector, play, batches=6)
    world.run(HERO, steps=2)
    assert world.metrics["player/hero/stopped"] == 1
    assert world.metrics["player/hero/losses/rollbacks"] == 3
    assert world.candidates()[-1].version == 1, "what was good is durable"
    assert "losses/value_loss" in caplog.text
    assert "version 1 stays" in caplog.text
    assert collector.last(Credit).allowance == collector.sent + 2 * BATCH, "collectors need not starve"
    world.restart()
    world.run(HERO, steps=3)
    assert world.metrics["player/hero/version"] == 1
    assert world.metrics["player/hero/stopped"] == 0, "a restart tries again"


def test_a_collector_that_heard_of_a_reset_first_gets_no_weights_of_the_past(hero):
    world, collector = hero
    collector.pull(incarnation=1)
    world.learner.step(0)
    assert [type(message) for message in collector.hear()] == [Credit]


def test_costs_of_players_come_first_in_a_report_that_has_room_for_so_many(world):
    rows = [Assignment(player=name, incarnation=0) for name in ("ann", "bob")]
    world.run(*rows, steps=3)
    assert list(world.metrics)[:2] == ["player/ann/cpu_seconds", "player/bob/cpu_seconds"]
