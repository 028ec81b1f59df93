"""Weights out of bounds are rolled back."""

import numpy as np
import pytest
from learner_world import HERO, feed

from learners.algorithms.ppo import PPO


class Exploding(PPO):
    """Everything stays finite, and after the first update nothing makes sense."""

    healthy = 1
    size = 1e12

    def update(self, batch, rng, between):
        metrics = super().update(batch, rng, between)
        if self.healthy <= 0:
            self.policy.write(self.flat() * np.float32(self.size))
        self.healthy -= 1
        return metrics


@pytest.mark.parametrize(
    ("size", "settings", "why"),
    [
        (1e12, {}, "learner.max_weight=1e+06"),
        (1e4, {}, "learner.max_growth allows"),
        (1e3, {"max_growth": 1e9, "max_weight": 50.0}, "learner.max_weight=50"),
        (1e12, {"max_growth": 1e15, "max_weight": 1e15}, "for a recent observation"),
    ],
)
def test_weights_out_of_bounds_are_never_published(world, play, caplog, size, settings, why):
    class Sized(Exploding):
        pass

    Sized.size = size
    world.settings["config"] = {"max_rollbacks": 3, **settings}
    world.restart(algorithm=Sized)
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    feed(world, collector, play, batches=6)
    world.run(HERO, steps=2)
    assert world.metrics["player/hero/losses/refused_weights"] == 3
    assert world.metrics["player/hero/losses/rollbacks"] == 3
    assert world.metrics["player/hero/stopped"] == 1
    assert world.candidates()[-1].version == 1, "the last good version stays"
    collector.pull()
    world.run(HERO)
    collector.hear()
    assert np.abs(collector.flat).max() < 10
    assert caplog.text.count("an update is rolled back, version 1 stays: ") == 1
    assert why in caplog.text
    algorithm = world.learner._trainees["hero"].algorithm
    np.testing.assert_array_equal(algorithm.flat(), collector.flat, "training goes on from there")
