"""Reports to the coordinator."""

import pytest
from learner_world import BATCH, HERO, feed


def test_a_candidate_is_reported_at_once(world):
    world.run(HERO)
    world.learner.step(0)  # no time passed, no heartbeat is due
    world.answer(HERO)
    assert world.progress[-1].candidates


def test_progress_tells_losses_lag_and_waiting(hero, play):
    world, collector = hero
    feed(world, collector, play)
    collector.feed(play(collector.flat, lanes=16, version=0))
    world.run(HERO, steps=2)
    merged = {name: value for report in world.progress for name, value in report.metrics.items()}
    for name in ("losses/policy_loss", "losses/value_loss", "losses/entropy", "losses/approx_kl", "version",
                 "decisions", "lag_mean", "lag_p95", "lag_max", "dropped_stale", "dropped_incarnation"):  # fmt: skip
        assert f"player/hero/{name}" in merged
    assert merged["player/hero/lag_max"] == 1
    assert merged["player/hero/decisions"] == 2 * BATCH
    assert any(report.metrics.get("updates_per_second") == pytest.approx(0.2) for report in world.progress)
    told = [report.metrics for report in world.progress if "seconds" in report.metrics]
    updates = sum(metrics["updates_per_second"] * metrics["seconds"] for metrics in told)
    assert updates == pytest.approx(world.metrics["player/hero/version"])
    assert 0 <= merged["wait_share"] <= 1


def test_waiting_for_data_is_told_as_wait_share(world):
    class Slow:
        address = "memory://slow"

        def receive(self, timeout, limit=1000):
            world.now += timeout
            return []

        def send(self, *_):
            return True

    world.restart(inbox=Slow())
    world.learner.step(4.0)
    world.now += 4.0
    world.learner.step(0)
    world.answer()
    assert world.metrics["wait_share"] == pytest.approx(0.5)
