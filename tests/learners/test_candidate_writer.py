"""Candidates are written when they are due; a full disk delays them."""

import numpy as np
import pytest
from learner_world import BATCH, HERO, SEED, feed, replace_train

from league.ids import derive_seed
from league.policies.layout import initial
from league.store.snapshots import SnapshotStore
from league.wire.messages import (
    Credit,
    Weights,
)


def test_the_first_candidate_is_version_zero_from_scratch(world):
    world.run(HERO, steps=3)
    (candidate,) = world.candidates()
    assert (candidate.version, candidate.decisions, candidate.incarnation) == (0, 0, 0)
    snapshot = world.store.get(candidate.snapshot)
    expected = initial(world.policy, world.spec, derive_seed(SEED, "init", "hero", 0))
    np.testing.assert_array_equal(snapshot.arrays["flat"], expected)
    assert snapshot.manifest.signature == world.spec.signature
    assert snapshot.manifest.parent is None
    assert world.progress[0].address == world.inbox.address


def test_candidates_follow_every_so_many_decisions(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=6)
    world.run(HERO, steps=2)
    found = world.candidates()
    assert [c.decisions for c in found] == [0, 2 * BATCH, 4 * BATCH, 6 * BATCH]
    assert [c.version for c in found] == [0, 2, 4, 6]
    parents = [world.store.get(c.snapshot).manifest.parent for c in found]
    assert parents == [None, *(c.snapshot for c in found[:-1])]


def test_new_candidates_are_measured_and_reported_with_the_metrics(hero, play):
    world, _ = hero
    seen = []

    def measure(candidate, last):
        seen.append((candidate.snapshot, last))
        return {"player/hero/league/nash_conv": float(len(seen))}

    world.restart(measure=measure)
    world.run(HERO, steps=3)
    assert seen == []  # the candidate that a restart goes on from was measured before
    collector = world.collector("two")
    collector.pull()
    world.run(HERO)
    collector.hear()
    feed(world, collector, play, batches=3)
    world.run(HERO, steps=2)
    world.run(replace_train(HERO), steps=4)
    assert seen == [(c.snapshot, last) for c, last in zip(world.candidates()[-2:], (False, True), strict=True)]
    assert world.metrics["player/hero/league/nash_conv"] == 2


def test_no_candidate_is_written_that_the_coordinator_never_hears_of(hero, play):
    world, collector = hero
    for number in range(12):  # the coordinator is down: nobody answers
        collector.feed(play(collector.flat, lanes=16, seed=number, version=collector.last(Weights).version))
        world.now += 10.0
        world.learner.step(0)
        collector.hear()
    assert len(world.store.hashes()) == 2
    world.run(HERO, steps=3)
    assert [c.decisions for c in world.candidates()] == [0, 2 * BATCH, 12 * BATCH]


def test_train_no_more_means_one_last_candidate(hero, play):
    world, collector = hero
    feed(world, collector, play)
    resting = replace_train(HERO)
    world.run(resting, steps=4)
    assert [c.version for c in world.candidates()] == [0, 1]
    assert collector.last(Credit).allowance <= collector.sent
    collector.feed(play(collector.flat, lanes=16, version=1))
    world.run(resting, steps=3)
    assert world.metrics["player/hero/version"] == 1
    assert len(world.store.hashes()) == 2


def test_that_a_player_has_finished_is_told_at_once_and_with_its_last_candidate(hero, play):
    world, collector = hero
    feed(world, collector, play)
    assert world.progress[-1].finished == ()
    world.now += 5.0
    world.learner.step(0)
    world.answer(replace_train(HERO))
    world.learner.step(0)  # at the same moment: no heartbeat is due
    world.answer(replace_train(HERO))
    assert world.progress[-1].finished == ("hero",)
    assert world.progress[-1].candidates[0].version == 1
    world.run(replace_train(HERO))
    assert world.progress[-1].finished == ("hero",), "in every report, as any may be lost"
    world.run(HERO, steps=2)
    assert world.progress[-1].finished == (), "it trains again"


class FullStore(SnapshotStore):
    full = False

    def put(self, arrays, manifest):
        if self.full:
            raise OSError(28, "No space left on device", str(self.root))
        return super().put(arrays, manifest)


@pytest.fixture
def store(world):
    return FullStore(world.path / "snapshots")


def fill_disk(world, store, play):
    """Let a learner train three versions that it cannot write; return its collector."""
    world.restart(snapshots=store)
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    store.full = True
    feed(world, collector, play, batches=3)
    world.run(HERO)
    return collector


def test_a_full_disk_delays_candidates_but_not_training(world, store, play):
    fill_disk(world, store, play)
    assert world.metrics["player/hero/version"] == 3
    assert world.metrics["write_failures"] > 0
    store.full = False
    world.run(HERO, steps=2)
    assert world.candidates()[-1].version == 3


def test_a_full_disk_is_told_once_and_again_when_it_worked_in_between(world, store, play, caplog):
    collector = fill_disk(world, store, play)
    world.run(HERO, steps=5)
    assert world.metrics["write_failures"] > 3
    first = f"cannot be written: [Errno 28] No space left on device: '{store.root}'; until it can, a restart would"
    assert caplog.text.count(first) == 1
    store.full = False
    world.run(HERO, steps=2)
    assert caplog.text.count("version 3 is written, which failed before") == 1
    store.full = True
    feed(world, collector, play, batches=3)
    world.run(HERO, steps=5)
    assert caplog.text.count(first) == 2


def test_a_last_version_that_cannot_be_written_is_told_though_others_were_before(world, store, play, caplog):
    fill_disk(world, store, play)
    caplog.clear()
    world.learner.ask_to_stop()
    assert not world.learner.step(0)
    assert "version 3 cannot be written" in caplog.text


def test_a_last_candidate_that_cannot_be_written_is_written_as_soon_as_it_can(world, store, play):
    fill_disk(world, store, play)
    world.run(replace_train(HERO), steps=4)
    assert (world.progress[-1].finished, world.candidates()[-1].version) == ((), 0)
    store.full = False
    world.run(replace_train(HERO), steps=2)
    assert (world.progress[-1].finished, world.candidates()[-1].version) == (("hero",), 3)
