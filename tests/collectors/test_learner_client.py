"""LearnerClient to learners, over the wire in memory: directory, weights, credit, a bounded backlog."""

import logging

import numpy as np
import pytest

from collectors.learner_client import BACKLOG, PULL_AGAIN_SECONDS, LearnerClient
from league.segment import CUT, Segments
from league.wire.in_memory import Exchange
from league.wire.messages import Credit, Host, Pull, Refused, SegmentsHead, Weights

ADDRESS = "memory://learner-0"


def host(player="main", incarnation=0, address=ADDRESS):
    return Host(player=player, incarnation=incarnation, address=address)


def segments_of(decisions=4, player="main", incarnation=0):
    steps = (1, decisions, 1)
    end = np.zeros(steps, np.uint8)
    end[0, -1] = CUT
    one = np.zeros(1, np.int32)
    return Segments(
        player=player,
        incarnation=incarnation,
        observation=np.zeros((*steps, 2), np.float32),
        mask=np.ones((*steps, 3), np.bool_),
        action=np.zeros(steps, np.int32),
        log_prob=np.zeros(steps, np.float32),
        reward=np.zeros(steps, np.float32),
        end=end,
        present=np.ones(steps, np.bool_),
        length=np.full(1, decisions, np.int32),
        version=one,
        tail_lane=one,
        tail_tick=np.full(1, decisions - 1, np.int32),
        tail_agent=one,
        tail_observation=np.zeros((1, 2), np.float32),
        tail_mask=np.ones((1, 3), np.bool_),
    )


class World:
    """A collector's learner_client, and a learner's end of the wire."""

    def __init__(self):
        self.exchange = Exchange()
        self.learner_client = LearnerClient("collector-0", "session", self.exchange.client)
        self.learner = self.exchange.server("learner-0")
        self.peer = None

    def heard(self):
        incoming = self.learner.receive(0)
        self.peer = incoming[-1].peer if incoming else self.peer
        return [i.message for i in incoming]

    def weights(self, version, player="main", incarnation=0):
        message = Weights(player=player, incarnation=incarnation, version=version)
        self.learner.send(self.peer, message, {"flat": np.full(3, version, np.float32)})

    def credit(self, allowance, version=0, player="main", incarnation=0):
        self.learner.send(
            self.peer, Credit(player=player, incarnation=incarnation, version=version, allowance=allowance)
        )

    def receive(self):
        return [(player, version) for player, version, _ in self.learner_client.receive(0.0)]


@pytest.fixture
def world():
    """A player whose weights of version 0 have arrived, with credit for 100 decisions."""
    world = World()
    world.learner_client.follow([host()])
    world.learner_client.pull(0.0, ())
    assert [type(message) for message in world.heard()] == [Pull]
    world.weights(0)
    world.credit(100)
    assert world.receive() == [("main", 0)]
    return world


def test_without_weights_there_is_no_credit():
    world = World()
    world.learner_client.follow([host()])
    world.learner_client.pull(0.0, ())
    world.heard()
    world.credit(100)
    world.receive()
    assert world.learner_client.credit("main", unsent=0) == 0
    world.weights(0)
    world.receive()
    assert world.learner_client.credit("main", unsent=0) == 100


def test_credit_counts_what_was_recorded_sent_and_what_waits(world):
    learner_client = world.learner_client
    learner_client.send([segments_of(10)])
    assert learner_client.credit("main", unsent=5) == 85
    world.learner.close()
    learner_client.send([segments_of(20)])
    assert learner_client.credit("main", unsent=5) == 65
    world.learner = world.exchange.server("learner-0")
    learner_client.send([])
    assert learner_client.credit("main", unsent=5) == 65, "what waited was sent, and counts all the same"
    assert [message.decisions for message in world.heard()] == [20]


def test_a_credit_is_absolute_so_twice_is_once(world):
    world.credit(150)
    world.credit(150)
    world.receive()
    assert world.learner_client.credit("main", unsent=0) == 150


def test_the_head_tells_all_that_the_session_ever_sent(world):
    world.learner_client.send([segments_of(4), segments_of(6)])
    heads = world.heard()
    assert all(isinstance(head, SegmentsHead) for head in heads)
    assert [(head.decisions, head.sent, head.session) for head in heads] == [(4, 4, "session"), (6, 10, "session")]


def test_weights_are_pulled_when_newer_ones_are_told_of_and_again_if_none_came(world):
    learner_client = world.learner_client
    learner_client.pull(10.0, ())
    assert world.heard() == []
    world.credit(100, version=2)
    world.receive()
    learner_client.pull(20.0, ())
    learner_client.pull(20.0 + PULL_AGAIN_SECONDS / 2, ())
    (pull,) = world.heard()
    assert (pull.version, pull.player, pull.incarnation, pull.sent) == (0, "main", 0, 0)
    learner_client.pull(20.0 + PULL_AGAIN_SECONDS, ())
    assert len(world.heard()) == 1
    world.weights(2)
    assert world.receive() == [("main", 2)]
    learner_client.pull(30.0, ())
    assert world.heard() == []


def test_a_starved_player_asks_for_credit(world):
    world.learner_client.pull(50.0, ("main",))
    assert [type(message) for message in world.heard()] == [Pull]


def test_older_weights_and_those_of_strangers_are_ignored(world):
    world.weights(5)
    world.weights(4)
    world.weights(9, player="stranger")
    world.weights(9, incarnation=1)
    world.learner.send(world.peer, Weights(player="main", incarnation=0, version=9))  # without its array
    assert world.receive() == [("main", 5)]


def test_a_reset_is_told_with_the_incarnation_that_is_over(world):
    assert world.learner_client.follow([host(incarnation=1)]) == [("main", 0)]
    assert world.learner_client.credit("main", unsent=0) == 0
    world.learner_client.pull(0.0, ())
    (pull,) = world.heard()
    assert (pull.incarnation, pull.version) == (1, -1)
    world.learner_client.send([segments_of(7)])
    assert world.heard() == []
    assert world.learner_client.dropped == 7
    world.weights(0, incarnation=1)
    assert world.receive() == [("main", 0)]
    assert world.learner_client.credit("main", unsent=0) == 100, "the count of what was sent goes on"


def test_a_learner_that_moved_is_followed_and_asked_at_once(world):
    moved = world.exchange.server("learner-1")
    assert world.learner_client.follow([host(address=moved.address)]) == []
    world.learner_client.pull(0.1, ("main",))
    world.learner_client.send([segments_of(3)])
    assert [type(i.message) for i in moved.receive(0)] == [Pull, SegmentsHead]
    assert world.heard() == []
    assert world.learner_client.live["main"].version == 0, "the weights are still good"


def test_the_same_directory_again_changes_nothing(world):
    assert world.learner_client.follow([host()]) == []
    assert world.learner_client.follow([]) == []
    assert world.learner_client.live["main"].version == 0


def test_what_does_not_go_out_is_kept_up_to_a_bound_and_the_oldest_are_dropped(world):
    world.learner.close()
    for number in range(BACKLOG + 3):
        world.learner_client.send([segments_of(1 + number)])
    assert world.learner_client.dropped == 1 + 2 + 3
    world.learner = world.exchange.server("learner-0")
    world.learner_client.send([])
    heads = world.heard()
    assert [head.decisions for head in heads] == list(range(4, BACKLOG + 4))
    assert world.learner_client.live["main"].waiting == 0
    (rank,) = world.learner_client.live["main"].ranks.values()
    assert rank.sent == sum(range(4, BACKLOG + 4))


def test_one_learner_that_does_not_read_leaves_the_others_alone(world):
    other = world.exchange.server("learner-1")
    world.learner_client.follow([host(), host("exploiter", address=other.address)])
    world.learner.close()
    world.learner_client.send([segments_of(2), segments_of(5, player="exploiter")])
    assert [i.message.decisions for i in other.receive(0)] == [5]
    assert world.learner_client.live["main"].waiting == 2
    assert world.learner_client.live["exploiter"].waiting == 0


def test_a_refusal_is_told(world, caplog):
    world.learner.send(world.peer, Refused(reason="no such player"))
    with caplog.at_level(logging.WARNING):
        assert world.receive() == []
    assert "no such player" in caplog.text


def test_close_leaves_no_client_behind(world):
    world.learner_client.close()
    assert not world.learner.send(world.peer, Refused(reason="x"))


def test_every_rank_of_a_learner_gets_its_share():
    exchange = Exchange()
    learner_client = LearnerClient("collector-0", "session", exchange.client)
    servers = [exchange.server("learner-0"), exchange.server("learner-0.1")]
    learner_client.follow([Host(player="main", incarnation=0, address=ADDRESS, more=("memory://learner-0.1",))])
    learner_client.pull(0.0, ())
    for server in servers:
        (pull,) = server.receive(0)
        assert pull.message.sent == 0
        server.send(pull.peer, Weights(player="main", incarnation=0, version=3), {"flat": np.zeros(3, np.float32)})
        server.send(pull.peer, Credit(player="main", incarnation=0, version=3, allowance=20))
    assert [(player, version) for player, version, _ in learner_client.receive(0.0)] == [("main", 3)], "once, not twice"
    assert learner_client.credit("main", unsent=0) == 40
    for _ in range(6):
        learner_client.send([segments_of(4)])
    assert [sum(i.message.decisions for i in server.receive(0)) for server in servers] == [12, 12]
    assert learner_client.credit("main", unsent=5) == 40 - 24 - 5


def test_a_rank_that_got_more_than_it_allows_does_not_use_up_what_another_lacks():
    """Ranks in step train when each has its batch: without credit for the one that lacks it, nobody would ever play."""
    exchange = Exchange()
    learner_client = LearnerClient("collector-0", "session", exchange.client)
    servers = [exchange.server("learner-0"), exchange.server("learner-0.1")]
    learner_client.follow([Host(player="main", incarnation=0, address=ADDRESS, more=("memory://learner-0.1",))])
    learner_client.pull(0.0, ())
    peers = [server.receive(0)[0].peer for server in servers]

    def grant(*allowances):
        for server, peer, allowance in zip(servers, peers, allowances, strict=True):
            server.send(peer, Credit(player="main", incarnation=0, version=0, allowance=allowance))
        learner_client.receive(0.0)

    servers[0].send(peers[0], Weights(player="main", incarnation=0, version=0), {"flat": np.zeros(3, np.float32)})
    grant(30, 20)
    learner_client.send([segments_of(60)])
    assert learner_client.credit("main", unsent=0) == 20
    assert learner_client.credit("main", unsent=5) == 15
    learner_client.send([segments_of(50)])
    assert learner_client.credit("main", unsent=0) == -30, "each has more than it allows, so it does not go on for ever"
    grant(0, 20)
    assert learner_client.credit("main", unsent=4) == -34, "a rank that stopped takes nothing"


def test_learners_are_heard_in_the_same_order_in_every_process():
    """The order of a set of texts differs from process to process; that of messages must not, or seeds mean little."""
    called = []

    def connect(address):
        called.append(address)
        return Exchange().client(address)

    addresses = [f"memory://learner-{i}" for i in range(9)]
    LearnerClient("collector-0", "session", connect).follow([host(f"p{a}", address=a) for a in reversed(addresses)])
    assert called == addresses
