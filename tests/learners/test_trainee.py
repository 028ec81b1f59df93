"""One player in training: anneals, rollbacks and lags."""

import numpy as np
import pytest
from learner_world import BATCH, HERO, World, feed

from league.wire.messages import (
    Assignment,
    Credit,
    Weights,
)
from learners.algorithms.algorithm import AlgorithmError
from learners.algorithms.ppo import PPO


def test_the_anneal_follows_the_budget_from_the_start_of_an_incarnation_through_resets_and_restarts(
    tmp_path, spec, policy, play
):
    world = World(tmp_path, spec, policy, algo={"lr": 1.0, "lr_schedule": "linear"})
    world.run(HERO, steps=3)

    def rate(spent, row=HERO):
        """Train once, with so much of the budget spent; return the learning rate."""
        world.spent = spent
        collector = world.collector(f"at-{spent}")
        for _ in range(2):
            collector.pull(incarnation=row.incarnation)
            world.run(row)
        version = collector.last(Weights).version
        segments = play(collector.flat, lanes=16, version=version, incarnation=row.incarnation)
        collector.feed(segments)
        world.run(row, steps=2)
        return world.metrics["player/hero/charts/learning_rate"]

    assert rate(0.2) == pytest.approx(0.8)
    again = Assignment(player="hero", incarnation=1)
    assert rate(0.6, again) == pytest.approx(1.0)
    assert rate(0.7, again) == pytest.approx(0.75)
    world.restart()
    assert rate(0.8, again) == pytest.approx(0.5)
    assert rate(1.0, again) == 0
    world.restart()  # with twice the budget: it began at 0.3 of it, and 0.7 are left after that
    assert rate(0.5, again) == pytest.approx(1 - 0.2 / 0.7)


def test_an_algorithm_without_rollbacks_in_its_metrics_is_named(world, play):
    class Silent(PPO):
        def update(self, batch, rng, between):
            super().update(batch, rng, between)
            return {"losses/policy_loss": 0.5}

    world.restart(algorithm=Silent)
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    with pytest.raises(AlgorithmError, match=r"Silent\.update\(\) returned no 'losses/rollbacks'"):
        feed(world, collector, play)


def test_rolled_back_updates_are_counted_and_never_published(world, play):
    class Exploding(PPO):
        def update(self, batch, rng, between):
            batch.segments.reward[:] = np.nan
            return super().update(batch, rng, between)

    world.restart(algorithm=Exploding)
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    feed(world, collector, play, batches=2)
    world.run(HERO)
    assert world.metrics["player/hero/losses/rollbacks"] == 2
    assert world.metrics["player/hero/version"] == 0
    assert collector.last(Weights).version == 0
    assert collector.last(Credit).allowance == collector.sent + 2 * BATCH


def test_one_good_update_forgives_the_rollbacks_before(world, play):
    class Moody(PPO):
        turn = 0

        def update(self, batch, rng, between):
            self.turn += 1
            if self.turn % 3:
                batch.segments.reward[:] = np.nan
            return super().update(batch, rng, between)

    world.settings["config"] = {"max_rollbacks": 3}
    world.restart(algorithm=Moody)
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    feed(world, collector, play, batches=9)
    world.run(HERO)
    assert world.metrics["player/hero/version"] == 3
    assert world.metrics["player/hero/stopped"] == 0


def test_lags_are_told_as_a_small_histogram(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=2)
    collector.feed(play(collector.flat, lanes=16, version=0))
    world.run(HERO, steps=2)
    shares = {key: value for key, value in world.metrics.items() if "/lag_share/" in key}
    assert len(shares) == 6
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["player/hero/lag_share/2"] == 1
