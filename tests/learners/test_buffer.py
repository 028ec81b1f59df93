"""A buffer process, over the wire in memory: against a replay in the learner, with learners that come and go."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from league.ids import derive_seed
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig, initial
from league.wire.in_memory import Exchange
from league.wire.messages import (
    BufferStatus,
    Credit,
    FindBuffer,
    Pull,
    Refused,
    ReleasePlayer,
    Role,
    SampleReply,
    SampleRequest,
    SegmentsHead,
    Weights,
)
from league.wire.ports import Incoming
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import join
from learners.buffer import Buffer
from learners.credits import AHEAD
from learners.player_settings import PlayerSettings
from learners.replay import Sample
from learners.replay_files import ReplayFiles

SEED = 3

POLICY = PolicyConfig(hidden=[16], head="values")

ALGO = {"batch": 64, "minibatch": 32, "replay": 300, "warmup": 100, "samples_per_insert": 2.0, "n_step": 2}

CREDIT = int(AHEAD * 64)


@dataclass
class Feeder:
    """A collector with canned segments."""

    client: Any
    session: str = "c"
    sent: int = 0
    allowance: int = 0
    heard: list[Any] = field(default_factory=list)

    def pull(self):
        self.client.send(Pull(name="c", session=self.session, player="hero", incarnation=0, version=-1, sent=self.sent))

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
        for message, _ in self.client.receive(0):
            self.heard.append(message)
            if isinstance(message, Credit):
                self.allowance = message.allowance
        return self.heard


class World:
    """A buffer process; the test is its learner and its collectors."""

    def __init__(self, spec, play, **changes):
        self.spec, self.exchange, self.now = spec, Exchange(), 0.0
        self.algo = DQNConfig(**{**ALGO, **changes})
        self.flat = initial(POLICY, spec, 0)
        self.play = lambda seed, lanes=8: play(self.flat, lanes, seed=seed)
        self.requests = count(1)
        self.start("b1")
        self.learner = self.exchange.client(self.buffer.server.address)
        self.publish()

    def start(self, session):
        self.buffer = Buffer(
            session=session,
            server=self.exchange.server("buffer"),
            spec=self.spec,
            players=PerPlayer(PlayerSettings(POLICY, self.algo), {"other": PlayerSettings(POLICY, PPOConfig())}),
            seed=SEED,
            clock=lambda: self.now,
        )

    def restart(self, session="b2"):
        self.buffer.server.close()
        self.start(session)

    def publish(self, version=0, incarnation=0):
        message = Weights(player="hero", incarnation=incarnation, version=version)
        self.learner.send(message, {"flat": self.flat})
        self.step()

    def step(self):
        self.buffer.step(0)

    def ask(self, session="l", incarnation=0, ring="", arrays=None):
        request = next(self.requests)
        message = SampleRequest(session=session, player="hero", incarnation=incarnation, request=request, ring=ring)
        self.learner.send(message, arrays)
        self.step()

    def drawn(self):
        return [(m, arrays) for m, arrays in self.learner.receive(0) if isinstance(m, SampleReply)]

    def feeder(self, session="c"):
        feeder = Feeder(self.exchange.client(self.buffer.server.address), session)
        feeder.pull()
        self.step()
        feeder.hear()
        return feeder

    @property
    def stored(self):
        return self.buffer._stored["hero"]


@pytest.fixture
def policy():
    return POLICY


@pytest.fixture
def world(spec, play):
    return World(spec, play)


@pytest.mark.parametrize("priority", [0.0, 0.6])
def test_what_is_served_is_what_a_replay_in_the_learner_would_draw(spec, play, priority):
    """The same draws under the same seed, also after errors were noted, poison was dropped and cells overwritten."""
    world = World(spec, play, priority=priority)
    stock, rng = world.algo.new_replay(), np.random.default_rng(derive_seed(SEED, "train", "hero", 0))
    feeder, errors, ring, drawn = world.feeder(), np.random.default_rng(0), "", 0
    notes: dict[str, Any] = {}
    for number in range(8):
        parts = [world.play(10 * number + part) for part in range(2)]
        for part in parts:
            feeder.feed(part)
        stock.insert(world.algo.steps_of(join(parts)), 64)
        fresh = 64
        while True:
            world.ask(ring=ring, arrays=notes)
            ((head, arrays),) = world.drawn()
            assert arrays["lag"].tolist() == [0] * fresh if fresh else "lag" not in arrays
            notes, fresh = {}, 0
            if not stock.due():
                assert set(arrays) == {"lag"}
                assert head.left == 0
                break
            expected, found = stock.sample(rng), Sample.of({k: v for k, v in arrays.items() if k != "lag"})
            for name, array in expected.arrays().items():
                np.testing.assert_array_equal(found.arrays()[name], array)
            assert (head.left, head.size, head.reuse) == (stock.left, stock.size, stock.reuse)
            notes = {"index": found.index, "error": errors.exponential(size=32), "poison": found.index[:1]}
            stock.prioritise(notes["index"], notes["error"])
            stock.drop(notes["poison"])
            ring, drawn = head.ring, drawn + 1
            if not head.left:
                break
    assert drawn > 20
    assert stock.replay._count > world.algo.replay, "cells were overwritten"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moves=st.lists(st.sampled_from(["feed", "draw", "note"]), min_size=20, max_size=80),
    ratio=st.sampled_from([0.5, 1.0, 3.0]),
    warmup=st.sampled_from([32, 150]),
)
def test_neither_side_runs_away_from_the_other(spec, play, moves, ratio, warmup):
    """Reverb's two-sided limit: collectors that keep to their credit, and a learner, in any order."""
    world = World(spec, play, samples_per_insert=ratio, warmup=warmup)
    feeder, taken, asked = world.feeder(), 0, 0
    for move in moves:
        feeder.hear()
        if move == "feed" and feeder.sent + 32 <= feeder.allowance:
            feeder.feed(world.play(feeder.sent))
            world.step()
        elif move == "draw":
            asked += 1
            world.ask()
        answers = world.drawn()
        taken += len(answers)
        limit = world.stored.replay.limit
        owed = ratio * max(0, limit.inserts - warmup - 64) - limit.samples
        assert limit.samples <= ratio * limit.inserts, "nothing is drawn that is not due"
        assert owed <= ratio * 64 + 32, "a batch comes in only when the last one has been drawn from"
        assert feeder.sent - limit.inserts <= CREDIT, "collectors have two batches, and a little, under way at most"
        assert taken <= asked


def test_collectors_get_weights_and_credit_here(world):
    feeder = world.feeder()
    assert [type(message) for message in feeder.heard][:2] == [Weights, Credit]
    assert feeder.allowance == CREDIT
    world.publish(version=5)
    assert [m.version for m in feeder.hear() if isinstance(m, Weights)] == [0, 5]
    for seed in range(4):
        feeder.feed(world.play(seed))
    world.step()
    feeder.hear()
    assert feeder.allowance == CREDIT, "nobody draws, so there is no more credit"
    world.ask()
    assert [arrays["lag"].tolist() for _, arrays in world.drawn()] == [[5] * 64]
    feeder.hear()
    assert feeder.allowance == CREDIT, "the learner has not learned from it yet"
    world.publish(version=6)
    feeder.hear()
    assert feeder.allowance == CREDIT + 64, "it has"


def test_a_learner_that_requests_ahead_or_rolls_back_holds_up_no_collector(world):
    feeder = world.feeder()
    for seed in range(4):
        feeder.feed(world.play(seed))
    world.ask()
    world.ask()  # it has the first batch, and wants more of the second
    feeder.hear()
    assert len(world.drawn()) == 2
    assert feeder.allowance > CREDIT, "without a new version of the weights"


def test_a_buffer_that_comes_back_begins_anew(world):
    feeder = world.feeder()
    for seed in range(4):
        feeder.feed(world.play(seed))
    world.ask()
    world.ask()
    (_, _), (head, arrays) = world.drawn()
    assert head.ring == "b1/0"
    assert "index" in arrays
    world.restart()
    world.ask(ring=head.ring, arrays={"index": arrays["index"], "error": np.ones(32)})
    ((watch, _),) = world.learner.receive(0)
    assert watch == BufferStatus(session="b2", address="memory://buffer", known={}, metrics=watch.metrics)
    world.publish()
    world.ask(ring=head.ring, arrays={"index": arrays["index"], "error": np.ones(32)})
    assert not world.drawn(), "it has nothing yet"
    feeder = world.feeder()
    for seed in range(4):
        feeder.feed(world.play(seed))
    world.step()
    ((head, arrays),) = world.drawn()
    assert set(arrays) == {"lag"}, "the warm-up counts from zero again"
    assert head.ring == "b2/0"


def test_a_learner_that_comes_back_finds_the_replay_as_it_was(world):
    feeder = world.feeder()
    for seed in range(4):
        feeder.feed(world.play(seed))
    world.ask(session="old")
    world.ask(session="old")
    size = world.drawn()[-1][0].size
    for _ in range(9):
        world.ask(session="old")
    world.drawn()
    world.ask(session="new", incarnation=0)
    assert list(world.stored.open) == [12], "what the old one wanted is forgotten"
    feeder.feed(world.play(8))
    feeder.feed(world.play(9))
    world.step()
    ((head, arrays),) = world.drawn()
    assert (head.session, head.size) == ("new", size + 64)
    assert "index" in arrays


def test_a_reset_empties_the_replay_and_drops_what_is_under_way(world):
    feeder = world.feeder()
    for seed in range(4):
        feeder.feed(world.play(seed))
    world.ask()
    world.ask()
    world.drawn()
    world.publish(incarnation=1)
    assert world.stored.replay.size == 0
    feeder.feed(world.play(7))
    world.ask(incarnation=0)
    assert world.stored.batcher.dropped_incarnation == 32
    assert not world.drawn()
    world.publish(version=9, incarnation=0)
    assert (world.stored.incarnation, world.stored.version) == (1, 0), "what is over does not come back"


def test_play_goes_on_for_a_player_that_nobody_trains(world):
    feeder = world.feeder()
    for seed in range(4):
        feeder.feed(world.play(seed))
    world.ask()
    world.ask()
    assert world.stored.replay.size
    world.learner.send(ReleasePlayer(session="l", player="hero", incarnation=0))
    world.step()
    assert world.stored.replay.size == 0
    before = feeder.allowance
    for seed in range(4):
        feeder.feed(world.play(seed))
        world.step()
    feeder.hear()
    assert feeder.allowance >= before + 128
    assert world.stored.dropped_stopped == 128
    world.ask()
    assert world.stored.stopped == ""


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"index": np.arange(3), "error": np.ones(2)}, "shapes (3,), (2,)"),
        ({"index": np.arange(4).reshape(2, 2), "error": np.ones((2, 2))}, "shapes (2, 2), (2, 2)"),
        ({"index": np.arange(2), "error": -np.ones(2)}, "never negative"),
        ({"index": np.array([-1]), "error": np.ones(1)}, "numbers of decisions"),
        ({"poison": np.ones(2)}, "numbers of decisions"),
    ],
)
def test_nonsense_from_a_learner_is_refused(world, arrays, reason):
    world.learner.receive(0)
    world.ask(ring="b1/0", arrays=arrays)
    ((message, _),) = world.learner.receive(0)
    assert isinstance(message, Refused)
    assert "player 'hero'" in message.reason
    assert reason in message.reason


def test_a_player_without_a_replay_does_not_belong_here(world):
    world.learner.receive(0)
    world.learner.send(Weights(player="other", incarnation=0, version=0), {"flat": world.flat})
    world.step()
    ((message, _),) = world.learner.receive(0)
    assert message.reason == "player 'other': algo=ppo does not learn from a replay, so its segments do not belong here"


@pytest.mark.parametrize("role", [Role.COLLECTOR, Role.VIEWER, Role.INFERENCE, Role.OPERATOR])
def test_only_a_learner_may_draw_or_bring_weights(world, role):
    server = world.buffer.server
    forged = [
        FindBuffer(session="x"),
        SampleRequest(session="x", player="hero", incarnation=0, request=0),
        ReleasePlayer(session="x", player="hero", incarnation=0),
        Weights(player="hero", incarnation=9, version=9),
    ]
    for message in forged:
        peer = world.exchange.client(server.address)
        world.buffer._segments.malformed = 0
        server.receive = lambda *_, m=message, p=peer: [Incoming(p._peer, role, m, {"flat": world.flat})]
        world.step()
        del server.receive
        assert [m.reason for m, _ in peer.receive(0)] == ["segments and pulls are taken here, from collectors only"]
    assert world.stored.incarnation == 0
    assert not world.stored.open


def test_a_kept_replay_comes_back_with_its_next_minibatch(spec, play, tmp_path):
    world = World(spec, play)
    world.buffer.replay_files = files = ReplayFiles(lambda player: tmp_path / player)
    world.buffer.keep_every = 128
    feeder = world.feeder()
    for seed in range(4):
        feeder.feed(world.play(seed))
        world.step()
        world.ask()
    world.buffer.finish()
    before = world.stored
    (path,) = (tmp_path / "hero").iterdir()
    assert path.name == "0-0-0.safetensors"
    world.restart()
    world.buffer.replay_files = files
    world.publish()
    after = world.stored
    assert after.ring != before.ring
    assert after.replay.size == before.replay.size > 100
    ours, theirs = (one.replay.sample(one.rng).arrays() for one in (before, after))
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name])


def test_without_the_setting_a_buffer_writes_nothing(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world.feeder().feed(world.play(0))
    world.step()
    world.ask()
    world.buffer.finish()
    assert not list(tmp_path.iterdir())
