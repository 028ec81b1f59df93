"""The feed: a collector's key speaks for that collector, and sessions are bounded."""

import numpy as np
import pytest

from league.spec import Array, EnvSpec, Seat
from league.wire.in_memory import Exchange
from league.wire.messages import Credit, Pull, Refused, Role
from league.wire.ports import Incoming
from learners.batcher import Batcher
from learners.fed_player import FedPlayer
from learners.segment_server import SESSIONS, SegmentServer

SPEC = EnvSpec("game", ("a",), (Seat((0,)),), Array((1,), "float32"), actions=2)


class Door:
    """A feed with one player, and whoever knocks."""

    def __init__(self):
        exchange = Exchange()
        self.server = exchange.server("learner")
        self.client = exchange.client(self.server.address)
        self.feed = SegmentServer(inbox=self.server, spec=SPEC, clock=lambda: 0.0)
        batcher = Batcher(incarnation=0, batch=64, max_lag=4)
        self.players = {
            "main": FedPlayer(player="main", incarnation=0, batcher=batcher, weights=np.zeros(2, np.float32))
        }

    def pull(self, key, name, session="s"):
        """Return what kinds of answers a pull gets."""
        self.client.send(Pull(name=name, session=session, player="main", incarnation=0, version=0))
        (incoming,) = self.server.receive(0)
        role = None if key is None else Role.COLLECTOR
        self.feed.answer(Incoming(incoming.peer, role, incoming.message, {}, key), self.players)
        return [type(message) for message, _ in self.client.receive(0)]


@pytest.mark.parametrize(
    ("key", "name", "answer"),
    [
        (None, "collector-1", Credit),
        ("collector-1", "collector-1", Credit),
        ("collector-2", "collector-1", Refused),
        ("human", "collector-1", Refused),
    ],
)
def test_a_key_speaks_for_its_own_process(key, name, answer):
    assert Door().pull(key, name) == [answer]


@pytest.mark.slow
def test_sessions_are_bounded():
    door = Door()
    answers = [door.pull(None, "collector-1", f"s{number}") for number in range(SESSIONS + 3)]
    assert answers[:SESSIONS] == [[Credit]] * SESSIONS
    assert answers[SESSIONS:] == [[Refused]] * 3
    assert door.pull(None, "collector-1", "s0") == [Credit], "those that are there are served"
