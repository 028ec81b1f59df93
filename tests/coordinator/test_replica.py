"""The replica between a feed and an audience, on a wire of memory: fresh, frugal, and bounded."""

import hashlib

import pytest

from coordinator import mirror, pages
from coordinator.replica import ASK_AGAIN_SECONDS, POLL, Replica
from league import events
from league.events import OperatorActed, TermBegan
from league.state import LeagueState, apply
from league.store.fold import decode_fold, encode_fold, write_fold
from league.wire.in_memory import Exchange
from league.wire.messages import Done, FetchFold, FoldChunk, Follow, Note, Page, Refused


class World:
    """A feed that the test answers by hand, from a list of events."""

    def __init__(self, config, head=0, checkpoint=None, **options):
        self.config, self.now, self.broken = config, 100.0, False
        self.bodies = []
        self.grow(head)
        self.asked = []  # everything that the replica asked the coordinator for
        self.exchange = Exchange()
        self.feed, self.server = self.exchange.server("feed"), self.exchange.server("replica")
        line = self.exchange.client(self.feed.address)
        self.replica = Replica(line, self.server, config, lambda: self.now, checkpoint, **options)
        self.clients = {}

    def grow(self, count=1):
        self.bodies += [events.encode(OperatorActed(action=f"event {len(self.bodies) + i}")) for i in range(count)]

    def client(self, name):
        return self.clients.setdefault(name, self.exchange.client(self.server.address))

    def send(self, name, message):
        assert self.client(name).send(message)

    def replies(self, name):
        return [message for message, _ in self.client(name).receive(0)]

    def step(self, rounds=1, answer=True):
        for _ in range(rounds):
            self.replica.step(0)
            for incoming in self.feed.receive(0) if answer else ():
                self.asked.append(incoming.message)
                self.feed.send(incoming.peer, self.answer(incoming.message))
            self.now += 0.01

    def answer(self, message):
        if isinstance(message, Note):
            return Done(term=3, request=message.request)
        since = message.since
        found = pages.first_page(self.bodies[since:])
        return Page(term=3, request=message.request, since=since, events=found, head=len(self.bodies), measured=9)

    def ask(self, name, message, rounds=6):
        self.send(name, message)
        self.step(rounds)
        return self.replies(name)

    def fetched(self):
        """Return the older pages that were asked for."""
        return [question for question in self.asked if question.since < self.replica.mirror._tail_since]


@pytest.fixture
def rules(config):
    return config()


@pytest.fixture
def world(rules):
    return World(rules, head=40)


@pytest.fixture
def paged(monkeypatch):
    monkeypatch.setattr(pages, "PAGE", 10)


def test_it_folds_the_ledger_before_it_is_ready(rules, paged):
    world = World(rules, head=35)
    world.step(4)
    assert not world.replica.ready
    world.step(2)
    assert world.replica.ready
    assert (world.replica.mirror.seq, world.replica.term) == (35, 3)


def test_pages_of_the_newest_events_cost_the_coordinator_nothing_more(world, paged):
    world.step(10)
    before = len(world.asked)
    for name in range(50):
        world.send(str(name), Follow(request=name, since=35))
    world.step(3)
    for name in range(50):
        (page,) = world.replies(str(name))
        assert (page.request, page.since, page.head, len(page.events)) == (name, 35, 40, 5)
    assert len(world.asked) - before <= 2, "one look for all of them"


def test_an_answer_is_at_least_as_new_as_its_question(world):
    world.step(5)
    world.send("early", Follow(request=1, since=40))
    world.step(1)
    world.grow()  # after the look of the first one had been answered
    world.send("late", Follow(request=2, since=40))
    world.step(6)
    assert [len(page.events) for page in world.replies("late")] == [1]


def test_if_the_coordinator_is_silent_so_is_the_replica(world):
    world.step(5)
    world.send("viewer", Follow(request=1, since=40))
    for _ in range(5):
        world.step(answer=False)
        world.now += ASK_AGAIN_SECONDS
    assert world.replies("viewer") == []
    world.step(8)
    assert world.replies("viewer") != []


def test_a_lost_answer_is_asked_for_again(world):
    world.step(5)
    world.send("tracker", Note(request=5, name="csv", text="here"))
    world.step(answer=False)
    assert len(world.feed.receive(0)) == 1, "the coordinator dies with it"
    world.now += ASK_AGAIN_SECONDS
    world.step(4)
    (done,) = world.replies("tracker")
    assert (type(done), done.request) == (Done, 5)


def test_without_an_audience_it_looks_now_and_then(world):
    world.step(5)
    before = len(world.asked)
    world.step(200)  # two seconds
    assert 2.0 / POLL - 2 <= len(world.asked) - before <= 2.0 / POLL + 2


def test_older_pages_are_fetched_once_for_all(world, paged, monkeypatch):
    monkeypatch.setattr(mirror, "TAIL_BYTES", 300)
    world.grow(60)
    world.step(20)
    assert world.replica.mirror._tail_since > 50
    for name in ("a", "b", "c"):
        world.send(name, Follow(request=1, since=10))
    world.step(6)
    bodies = [events.encode(OperatorActed(action=f"event {i}")) for i in range(10, 20)]
    for name in ("a", "b", "c"):
        assert [list(page.events) for page in world.replies(name)] == [bodies]
    (page,) = world.ask("d", Follow(request=2, since=10))
    assert list(page.events) == bodies
    assert [question.since for question in world.fetched() if question.since == 10] == [10, 10], "folded, then fetched"


def test_the_caches_are_bounded(world, paged, monkeypatch):
    monkeypatch.setattr(mirror, "TAIL_BYTES", 1000)
    monkeypatch.setattr(mirror, "CACHE_BYTES", 1000)
    world.grow(400)
    world.step(60)
    for since in range(0, 400, 10):
        world.ask("viewer", Follow(request=1, since=since))
        kept = world.replica.mirror
        assert sum(map(len, kept._tail)) <= 1000
        assert sum(len(body) for page in kept._cache.values() for body in page.events) <= 1000
        assert kept._cached == sum(len(body) for page in kept._cache.values() for body in page.events)


def test_metrics_come_from_the_ledger_and_are_never_mixed_up(world):
    world.step(5)
    (page,) = world.ask("tracker", Follow(request=1, since=40, measured=5))
    assert page.measured == 9
    assert world.asked[-1].measured == 5 or world.asked[-2].measured == 5
    (page,) = world.ask("viewer", Follow(request=1, since=40))
    assert (page.measured, page.metrics, page.notes) == (0, (), {})


def test_notes_of_unknown_trackers_are_refused(rules):
    world = World(rules, head=3, trackers=["csv"])
    world.step(5)
    assert [type(reply) for reply in world.ask("x", Note(request=1, name="csv", text="x"))] == [Done]
    (refused,) = world.ask("x", Note(request=1, name="wandb", text="x"))
    assert refused.reason == "track.to names no tracker 'wandb'"


def test_what_the_feed_refuses_is_refused(world):
    world.step(5)
    world.answer = lambda message: Refused(reason="no")
    assert world.ask("x", Follow(request=1, since=0, measured=1)) == [Refused(reason="no")]


# --- the fold -----------------------------------------------------------------------------------------------


def download(world, name="viewer"):
    body, chunk = b"", None
    while chunk is None or len(body) < chunk.size:
        (chunk,) = world.ask(name, FetchFold(request=1, digest=chunk.digest if chunk else "", offset=len(body)), 2)
        assert isinstance(chunk, FoldChunk)
        assert chunk.offset == len(body)
        body += chunk.data
    assert hashlib.sha256(body).hexdigest() == chunk.digest
    return body, chunk


def test_the_fold_comes_in_pieces_and_is_that_of_the_events(world, monkeypatch):
    monkeypatch.setattr(pages, "PAGE_BYTES", 500)
    monkeypatch.setattr(mirror, "FOLD_AGE", 1e9)
    world.step(10)
    body, chunk = download(world)
    state = LeagueState(world.config)
    for event in world.bodies:
        apply(state, events.decode(event))
    assert body == encode_fold(state, 40)
    assert decode_fold(body, world.config)[1] == chunk.seq == 40


def test_a_fold_that_was_begun_can_be_finished_and_the_next_one_is_newer(world, monkeypatch):
    monkeypatch.setattr(pages, "PAGE_BYTES", 500)
    world.step(10)
    (first,) = world.ask("slow", FetchFold(request=1))
    world.grow()
    world.now += 2 * mirror.FOLD_AGE
    world.step(20)
    (other,) = world.ask("new", FetchFold(request=1))
    assert (first.seq, other.seq) == (40, 41)
    (second,) = world.ask("slow", FetchFold(request=2, digest=first.digest, offset=500))
    assert (second.digest, second.offset) == (first.digest, 500)
    (again,) = world.ask("lost", FetchFold(request=2, digest="0" * 64, offset=500))
    assert (again.digest, again.offset) == (other.digest, 0), "one that nobody has any more starts over"


def test_it_begins_at_the_checkpoint_unless_the_ledger_is_shorter(rules, tmp_path):
    state = LeagueState(rules)
    apply(state, TermBegan(term=2))
    write_fold(tmp_path / "fold", state, 30)
    world = World(rules, head=40, checkpoint=tmp_path / "fold")
    world.step(5)
    assert world.asked[0].since == 30
    assert world.replica.mirror.seq == 40
    world = World(rules, head=20, checkpoint=tmp_path / "fold")
    world.step(8)
    assert [question.since for question in world.asked[:2]] == [30, 0]
    assert (world.replica.ready, world.replica.mirror.seq, world.replica.mirror.state.term) == (True, 20, 0)


def test_a_checkpoint_of_another_history_is_forgotten(rules, tmp_path):
    state = LeagueState(rules)
    apply(state, TermBegan(term=2))
    write_fold(tmp_path / "fold", state, 30, "of another ledger")
    world = World(rules, head=40, checkpoint=tmp_path / "fold")
    answer = world.answer
    world.answer = lambda message: Refused(reason="another history") if message.mark else answer(message)
    world.step(8)
    assert [(question.since, question.mark) for question in world.asked[:2]] == [(30, "of another ledger"), (0, "")]
    assert (world.replica.ready, world.replica.mirror.seq, world.replica.mirror.state.term) == (True, 40, 0)


# --- peers that do not read ---------------------------------------------------------------------------------


def test_a_peer_without_room_is_dropped_and_the_others_are_served(world):
    world.step(5)
    world.exchange._high_water = 4
    for _ in range(20):
        world.send("deaf", Follow(request=1, since=0))
        world.step(3)
    assert world.replica.slow == 1, "it is not even tried any more"
    assert len(world.client("deaf").inbox) == 4
    assert len(world.ask("honest", Follow(request=1, since=0))) == 1
