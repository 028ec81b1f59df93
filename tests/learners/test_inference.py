"""An inference process, over the wire in memory; the test is its learner and its collectors."""

from itertools import count

import numpy as np
import pytest

from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.spec import Array, EnvSpec, Seat
from league.wire.in_memory import Exchange
from league.wire.messages import Answer, Ask, Pull, Refused, Watch, Weights
from learners import inference as module
from learners.inference import Inference

SPEC = EnvSpec(
    name="pairs",
    agents=("a", "b"),
    seats=(Seat(agents=(0, 1)),),
    observation=Array(shape=(3,), dtype="float32"),
    actions=4,
)
PLAIN = PolicyConfig(hidden=[8])
GRU = PolicyConfig(hidden=[8], memory="gru", memory_size=5, agent_id=True)


class World:
    """An inference process, its learner and its collectors."""

    def __init__(self, policy=PLAIN):
        self.exchange, self.policy, self.now = Exchange(), policy, 0.0
        self.learner, server = self.exchange.server("learner"), self.exchange.server("inference")
        self.address = server.address
        self.inference = Inference(
            session="i",
            learner=self.exchange.client(self.learner.address),
            server=server,
            spec=SPEC,
            policies=PerPlayer(policy),
            clock=lambda: self.now,
        )
        self.inference.step(0)
        ((self.peer, self.watch),) = self.heard()
        self.requests = count(1)

    def heard(self):
        return [(incoming.peer, incoming.message) for incoming in self.learner.receive(0)]

    def publish(self, seed=0, incarnation=0, version=0, player="main"):
        flat = initial(self.policy, SPEC, seed)
        message = Weights(player=player, incarnation=incarnation, version=version)
        self.learner.send(self.peer, message, {"flat": flat})
        return NumpyActor(self.policy, SPEC, flat)

    def collector(self):
        return self.exchange.client(self.address)

    def ask(self, client, rows, session="c", request=None, incarnation=0, turn=0, **arrays):
        number = next(self.requests) if request is None else request
        message = Ask(session=session, turn=turn, request=number, player="main", incarnation=incarnation)
        client.send(message, {"observation": rows, **arrays})

    def answers(self, client):
        self.inference.step(0)
        return client.receive(0)


def seen(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 3)).astype(np.float32)


def test_it_says_where_it_is_and_what_it_knows():
    world = World()
    assert world.watch == Watch(session="i", address="memory://inference")
    world.publish(version=3)
    world.inference.step(0)
    assert world.heard() == []
    world.now += module.WATCH
    world.inference.step(0)
    ((_, watch),) = world.heard()
    assert watch.known == {"main": (0, 3)}
    assert set(watch.metrics) == {"rows_per_second", "rows_per_batch", "wait_share"}


def test_collectors_are_answered_together_each_with_its_own():
    world = World()
    actor = world.publish(version=7)
    clients = [world.collector() for _ in range(3)]
    for number, client in enumerate(clients):
        world.ask(client, seen(number + 1, number), session=f"c{number}")
    for number, client in enumerate(clients):
        ((answer, arrays),) = world.answers(client)
        assert (answer.version, answer.player) == (7, "main")
        np.testing.assert_allclose(arrays["outputs"], actor.outputs(seen(number + 1, number)), rtol=1e-5, atol=1e-6)
    assert (world.inference.batches, world.inference.rows) == (1, 6)


def test_a_question_waits_for_the_weights_of_its_incarnation():
    world = World()
    client = world.collector()
    world.ask(client, seen(1), incarnation=1)
    assert world.answers(client) == []
    world.publish(version=5)
    assert world.answers(client) == []
    world.publish(incarnation=1, version=0)
    assert world.answers(client)[0][0].version == 0
    world.publish(incarnation=0, version=9)
    world.ask(client, seen(1), incarnation=1)
    assert world.answers(client)[0][0].version == 0, "an incarnation that is over does not come back"


def remembering(rows, first=False, recall=True):
    marks = {"first": np.full(rows, first), "recall": np.full(rows, recall)}
    return {"who": np.arange(rows, dtype=np.int32), "place": np.arange(rows, dtype=np.int32) % 2, **marks}


def test_what_agents_remember_stays_and_moves_once_for_each_question():
    world = World(GRU)
    actor, client, memory = world.publish(), world.collector(), np.zeros((4, 5), np.float32)
    place = np.arange(4) % 2
    for tick in range(4):
        before = memory.copy()
        expected = actor.outputs(seen(4, tick), place, memory)
        for _ in range(2):  # the second time as if the answer had been lost
            world.ask(client, seen(4, tick), request=tick, **remembering(4, first=tick == 0))
            ((_, arrays),) = world.answers(client)
            np.testing.assert_allclose(arrays["outputs"], expected, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(arrays["memory"], before, rtol=1e-5, atol=1e-6)
    world.ask(client, seen(4), session="another", **remembering(4, recall=False))
    ((_, arrays),) = world.answers(client)
    assert arrays["memory"].shape == (0, 5)


def test_a_memory_that_was_lost_has_another_name(monkeypatch):
    monkeypatch.setattr(module, "SESSIONS", 1)
    world = World(GRU)
    world.publish()
    client, names = world.collector(), []
    for session in ("a", "a", "b", "a"):
        world.ask(client, seen(1), session=session, **remembering(1))
        names.append(world.answers(client)[0][0].memory)
    assert names[0] == names[1]
    assert len(set(names)) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": np.zeros((0, 3), np.float32)},
        {"rows": np.zeros((1, 4), np.float32)},
        {"rows": np.zeros((1, 3), np.float64)},
        {"turn": 99},
        {"place": np.array([2], np.int32)},
        {"who": np.array([-1], np.int32)},
        {"who": np.array([2**31 - 1], np.int32)},
        {"who": np.array([0, 1], np.int32)},
        {"more": np.zeros(1, np.float32)},
    ],
    ids=str,
)
def test_nonsense_is_refused_and_play_goes_on(wrong):
    world = World(GRU)
    world.publish()
    client = world.collector()
    world.ask(client, **{"rows": seen(1), **remembering(1), **wrong})
    ((refused, _),) = world.answers(client)
    assert isinstance(refused, Refused)
    world.ask(client, seen(1), **remembering(1))
    assert isinstance(world.answers(client)[0][0], Answer)


def test_other_messages_are_refused_and_other_weights_left_alone():
    world = World()
    client = world.collector()
    client.send(Pull(name="c", session="s", player="main", incarnation=0, version=-1))
    assert isinstance(world.answers(client)[0][0], Refused)
    world.learner.send(world.peer, Weights(player="main", incarnation=0, version=0), {"flat": np.zeros(3, np.float32)})
    world.ask(client, seen(1))
    assert world.answers(client) == []
    world.publish()
    assert len(world.answers(client)) == 1
