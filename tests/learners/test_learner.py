from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from league.ids import derive_seed
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig, initial
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.wire.in_memory import Exchange
from league.wire.messages import (
    Assignment,
    Credit,
    Progress,
    Pull,
    Refused,
    Report,
    Roster,
    SegmentsHead,
    Weights,
)
from learners.algorithms.a2c_config import A2CConfig
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig
from learners.checkpoint import CheckpointError
from learners.config import LearnerConfig
from learners.fed_player import REACH
from learners.learner import Learner
from learners.player_settings import PlayerSettings
from learners.trainee_store import TraineeStore

BATCH = 64
SEED = 3
HERO = Assignment(player="hero", incarnation=0)


@dataclass
class Collector:
    client: Any
    session: str
    sent: int = 0
    received: list[Any] = field(default_factory=list)
    flat: Any = None

    def pull(self, version=-1, incarnation=0, player="hero"):
        self.client.send(
            Pull(
                name="c", session=self.session, player=player, incarnation=incarnation, version=version, sent=self.sent
            )
        )

    def feed(self, segments):
        self.sent += segments.decisions
        head = SegmentsHead(
            name="c",
            session=self.session,
            player=segments.player,
            incarnation=segments.incarnation,
            decisions=segments.decisions,
            sent=self.sent,
        )
        self.client.send(head, segments.arrays())

    def hear(self):
        """Return the messages that came since the last time."""
        new = []
        for message, arrays in self.client.receive(0):
            if isinstance(message, Weights):
                self.flat = arrays["flat"]
            new.append(message)
        self.received += new
        return new

    def last(self, kind):
        self.hear()
        found = [message for message in self.received if isinstance(message, kind)]
        return found[-1] if found else None


class World:
    """A coordinator that says what the test wants, collectors with canned segments, a clock by hand."""

    def __init__(self, path, spec, policy, **settings):
        self.path, self.spec, self.policy, self.settings = path, spec, policy, settings
        self.exchange, self.now, self.term, self.spent = Exchange(), 0.0, 1, 0.0
        self.coordinator = self.exchange.server("coordinator")
        self.store = SnapshotStore(path / "snapshots")
        self.progress: list[Progress] = []
        self.learner = self.start()

    def start(self, **changes):
        settings = {"batch": BATCH, "minibatch": 32, "epochs": 2} | self.settings.get("algo", {})
        config = {"heartbeat": 5.0, "candidate_decisions": 2 * BATCH} | self.settings.get("config", {})
        self.inbox = self.exchange.server("learner")
        player = PlayerSettings(changes.pop("policy", self.policy), changes.pop("algo", PPOConfig(**settings)))
        inbox = changes.pop("inbox", self.inbox)
        parts = {
            "snapshots": self.store,
            "checkpoint_path": RunDirectory(self.path).checkpoint,
            "spec": self.spec,
            "players": PerPlayer(player),
            "seed": SEED,
            "config": LearnerConfig(**config),
        }
        return Learner(
            name="learner-0",
            session="s",
            coordinator=self.exchange.client(self.coordinator.address),
            inbox=inbox,
            store=TraineeStore(**parts | changes),
            clock=lambda: self.now,
        )

    def restart(self, **changes):
        """Kill the learner and start another one on the same files."""
        self.inbox.close()
        self.learner = self.start(**changes)

    def collector(self, session="one"):
        return Collector(self.exchange.client(self.inbox.address), session)

    def answer(self, *players, stop=False, term=None):
        """Read the learner's reports and answer each with this roster."""
        for incoming in self.coordinator.receive(0):
            assert isinstance(incoming.message, Progress)
            self.progress.append(incoming.message)
            roster = Roster(
                term=term or self.term,
                request=incoming.message.request,
                players=players,
                spent=self.spent,
                stop=stop,
            )
            self.coordinator.send(incoming.peer, roster)

    def run(self, *players, steps=1):
        """Step the learner, answering with this roster, a heartbeat apart."""
        for _ in range(steps):
            self.now += 5.0
            assert self.learner.step(0)
            self.answer(*players)

    def candidates(self, player="hero"):
        found = [c for report in self.progress for c in report.candidates if c.player == player]
        return list(dict.fromkeys(found))

    @property
    def metrics(self):
        return self.progress[-1].metrics


@pytest.fixture
def world(tmp_path, spec, policy):
    return World(tmp_path, spec, policy)


@pytest.fixture
def hero(world):
    """A world in which the hero trains and one collector has its first weights."""
    world.run(HERO, steps=3)
    collector = world.collector()
    collector.pull()
    world.run(HERO)
    collector.hear()
    return world, collector


def feed(world, collector, play, batches=1, **more):
    for number in range(batches):
        version = collector.last(Weights).version
        collector.feed(play(collector.flat, lanes=16, seed=number, version=version, **more))
        world.run(HERO)
        collector.hear()


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


def test_a_candidate_is_reported_at_once(world):
    world.run(HERO)
    world.learner.step(0)  # no time passed, no heartbeat is due
    world.answer(HERO)
    assert world.progress[-1].candidates


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


def test_candidates_follow_every_so_many_decisions(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=6)
    world.run(HERO, steps=2)
    found = world.candidates()
    assert [c.decisions for c in found] == [0, 2 * BATCH, 4 * BATCH, 6 * BATCH]
    assert [c.version for c in found] == [0, 2, 4, 6]
    parents = [world.store.get(c.snapshot).manifest.parent for c in found]
    assert parents == [None, *(c.snapshot for c in found[:-1])]


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


def test_a_snapshot_is_not_aliased_to_live_weights(hero, play):
    world, collector = hero
    (candidate,) = world.candidates()
    before = world.store.get(candidate.snapshot).arrays["flat"].copy()
    feed(world, collector, play, batches=1)
    np.testing.assert_array_equal(world.store.get(candidate.snapshot).arrays["flat"], before)


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


def replace_train(assignment):
    return Assignment(player=assignment.player, incarnation=assignment.incarnation, train=False)


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


def test_credit_survives_a_restart_of_the_learner(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=4)
    world.restart()
    world.run(HERO, steps=2)
    collector.pull(version=4)
    world.run(HERO)
    assert collector.last(Credit).allowance == collector.sent + 2 * BATCH


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


def test_the_player_with_the_oldest_full_batch_trains_first(world, play):
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
    assert trained == ["bob", "ann", "bob"]


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


def test_another_algorithm_is_not_resumed(hero, play):
    world, collector = hero
    feed(world, collector, play, batches=2)
    world.restart(algo=A2CConfig(batch=BATCH))
    world.learner.step(0)
    world.answer(HERO)
    with pytest.raises(CheckpointError, match="written under algorithm PPO, but the config says A2C"):
        world.learner.step(0)


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


@pytest.mark.parametrize("wrong", [{"heartbeat": 0.0}, {"candidate_decisions": 0}])
def test_a_wrong_config_is_refused(wrong):
    with pytest.raises(ValueError, match="must be positive"):
        LearnerConfig(**wrong)


def test_a_collector_that_heard_of_a_reset_first_gets_no_weights_of_the_past(hero):
    world, collector = hero
    collector.pull(incarnation=1)
    world.learner.step(0)
    assert [type(message) for message in collector.hear()] == [Credit]
