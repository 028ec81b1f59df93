import threading
import time

import pytest

import coordinator.service
import launch.viewers.download
import launch.viewers.view
from coordinator import pages
from coordinator.coordinator import Coordinator
from coordinator.opening import open_league
from coordinator.replica import Replica
from coordinator.service import Service
from launch.verify.counters import by_fold
from launch.viewers.tables import standings_json
from launch.viewers.view import Viewer, ViewError, find_player, following, open_view, read_offline, read_rules
from league.events import TermBegan
from league.state import apply
from league.store.ledger import Ledger
from league.store.run_directory import Rendezvous, RunDirectory
from league.wire.in_memory import Exchange
from league.wire.keys import load_server_keys, make_keys
from league.wire.messages import Follow, Note, Page, Refused
from league.wire.sockets import Sockets


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Served:
    """The coordinator of a run and its replica, in this process, on a wire of memory."""

    def __init__(self, run, exchange, clock, checkpoint=None):
        self.ledger, self.clock = Ledger.open(run.ledger), clock
        rules = read_rules(run)
        founded = next(event for _, event in self.ledger.events())
        state = open_league(self.ledger, rules, founded.seed, founded.env, run.config_hash())
        coordinator, feed = Coordinator(state, ["learner-0"], clock()), exchange.server("feed")
        self.service = Service(coordinator, self.ledger, exchange.server("coordinator"), clock, feed=feed)
        self.server, self.feed = exchange.server("replica"), exchange.client(feed.address)
        self.replica = Replica(self.feed, self.server, rules, clock, checkpoint)

    def step(self, rounds=8):
        """Let both work: a question goes to the replica, from there to the feed, and back."""
        for _ in range(rounds):
            self.replica.step(0)
            self.clock.now += 0.05
            self.service.step(0)
        self.replica.step(0)

    def close(self):
        self.service.close()
        self.server.close()
        self.feed.close()

    @property
    def state(self):
        return self.service.coordinator.state


@pytest.fixture
def clock():
    return Clock()


def same(a, b):
    return by_fold(a) == by_fold(b) and standings_json(a) == standings_json(b) and a.open == b.open


def test_a_viewer_folds_page_by_page_what_the_coordinator_has(run, clock, monkeypatch):
    monkeypatch.setattr(pages, "PAGE", 50)
    exchange, seen = Exchange(), []
    served = Served(run, exchange, clock)
    viewer = Viewer(
        exchange.client(served.server.address), read_rules(run), lambda seq, event, state: seen.append(seq), clock
    )
    rounds = 0
    while not viewer.complete:
        viewer.refresh(0)
        served.step()
        rounds += 1
        assert rounds < 100
    assert rounds > 3
    assert seen == list(range(1, served.ledger.head + 1))
    assert same(viewer.state, served.state)
    assert (viewer.head, viewer.term) == (served.ledger.head, served.state.term)
    served.close()


def test_pages_that_come_twice_are_folded_once(run, clock):
    exchange, seen = Exchange(), []
    served = Served(run, exchange, clock)
    viewer = Viewer(
        exchange.client(served.server.address), read_rules(run), lambda seq, event, state: seen.append(seq), clock
    )
    viewer.refresh(0)
    clock.now += 5  # no answer yet: it asks again
    viewer.refresh(0)
    served.step()
    assert viewer.refresh(0)
    assert viewer.complete
    assert seen == list(range(1, served.ledger.head + 1))
    served.close()


def test_a_viewer_outlives_its_coordinator(run, clock):
    exchange = Exchange()
    viewer = Viewer(exchange.client("memory://replica"), read_rules(run), clock=clock)
    assert not viewer.refresh(0)
    terms = []
    for _ in range(2):
        served = Served(run, exchange, clock)
        clock.now += 5
        viewer.refresh(0)
        served.step()
        assert viewer.refresh(0)
        assert same(viewer.state, served.state)
        terms.append(viewer.term)
        served.close()
    assert terms[1] == terms[0] + 1
    clock.now += 5
    assert not viewer.refresh(0)
    assert not viewer.live


def answer(exchange, viewer, *pages):
    """Answer a viewer by hand."""
    server = exchange.server("replica")
    viewer.refresh(0)
    (incoming,) = server.receive(0)
    assert isinstance(incoming.message, Follow)
    for page in pages:
        server.send(incoming.peer, page)


@pytest.mark.parametrize("damaged", [False, True])
def test_who_need_not_see_each_event_begins_with_the_fold(run, clock, monkeypatch, damaged):
    monkeypatch.setattr(pages, "PAGE", 7)
    monkeypatch.setattr(pages, "PAGE_BYTES", 3000)
    monkeypatch.setattr(launch.viewers.view, "JUMP", 50)
    if damaged:
        monkeypatch.setattr(launch.viewers.download, "decode_fold", lambda body, config: None)
    exchange, seen = Exchange(), []
    served = Served(run, exchange, clock)
    quick = Viewer(exchange.client(served.server.address), read_rules(run), clock=clock)
    whole = Viewer(
        exchange.client(served.server.address), read_rules(run), lambda seq, event, state: seen.append(seq), clock
    )
    folded = []
    monkeypatch.setattr(launch.viewers.view, "apply", lambda state, event: folded.append(event) or apply(state, event))
    for viewer in (quick, whole):
        while not viewer.complete:
            viewer.refresh(0)
            served.step()
        assert same(viewer.state, served.state)
    assert (len(folded) - len(seen) <= 7) != damaged, "one page, then the fold; a fold of no use is done without"
    assert seen == list(range(1, served.ledger.head + 1))
    served.close()


def test_an_older_term_is_not_believed(run, clock):
    exchange = Exchange()
    viewer = Viewer(exchange.client("memory://replica"), read_rules(run), clock=clock)
    newer = Page(term=3, request=1, since=0, events=(), head=0, elapsed=2.0)
    older = Page(term=2, request=1, since=0, events=(), head=9, elapsed=1.0)
    answer(exchange, viewer, newer, older)
    assert viewer.refresh(0)
    assert (viewer.head, viewer.elapsed) == (0, 2.0)


def test_trouble_is_told(run, clock):
    rules = read_rules(run)
    pages = {
        "refused: a learner key": Refused(reason="a learner key may not follow the ledger"),
        "event 1 cannot be read": Page(term=1, request=1, since=0, events=(b'{"event":"from the future"}',), head=1),
    }
    for complaint, page in pages.items():
        exchange = Exchange()
        viewer = Viewer(exchange.client("memory://replica"), rules, clock=clock)
        answer(exchange, viewer, page)
        with pytest.raises(ViewError, match=complaint):
            viewer.refresh(0)


def test_a_ledger_that_shrank_is_told(run, clock):
    exchange = Exchange()
    served = Served(run, exchange, clock)
    viewer = Viewer(exchange.client(served.server.address), read_rules(run), clock=clock)
    viewer.refresh(0)
    served.step()
    viewer.refresh(0)
    served.close()
    clock.now += 5
    answer(exchange, viewer, Page(term=9, request=1, since=0, events=(), head=3))
    with pytest.raises(ViewError, match="an older copy was put in its place"):
        viewer.refresh(0)


def test_a_stopped_run_is_read_from_a_copy(run, state):
    before = run.ledger.read_bytes()
    view = read_offline(run)
    assert same(view.state, state)
    assert view.seq == view.head > 100
    assert view.elapsed > 0
    assert not view.live
    assert run.ledger.read_bytes() == before
    assert same(open_view(run).state, state)


def test_a_run_without_a_ledger_is_told(run):
    run.ledger.unlink()
    with pytest.raises(ViewError, match="the run first cannot be read: there is no ledger"):
        open_view(run)
    with pytest.raises(ViewError, match="no replica of the run first has started yet"), following(run):
        pass


@pytest.mark.parametrize("kind", ["ipc", "tcp"])
def test_a_living_run_is_asked(run, state, kind, monkeypatch):
    monkeypatch.setattr(launch.viewers.view, "ANSWER_SECONDS", 30.0)  # a slow machine is no silent replica
    ready, stop = threading.Event(), threading.Event()

    def serve():  # all of it in one thread: SQLite and ZeroMQ want it so
        make_keys(run.keys)
        with Sockets() as sockets:
            if kind == "tcp":
                server = sockets.serve("tcp://127.0.0.1:0", load_server_keys(run.keys))
            else:
                server = sockets.serve(run.address("replica"))
            served = Served(run, Exchange(), time.monotonic)
            replica = Replica(served.feed, server, read_rules(run), time.monotonic)
            run.publish_rendezvous(Rendezvous(address=server.address, term=served.state.term), "replica")
            ready.set()
            while not stop.is_set():
                replica.step(0.01)
                served.service.step(0.0)
            served.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        assert ready.wait(60)
        view = open_view(run)
    finally:
        stop.set()
        thread.join(60)
    assert view.live
    assert view.term == 2
    assert by_fold(view.state) == by_fold(state)


def test_a_silent_replica_is_not_waited_for(run, state, monkeypatch):
    monkeypatch.setattr(launch.viewers.view, "ANSWER_SECONDS", 0.05)
    with Sockets() as sockets:
        server = sockets.serve(run.address("replica"))
        run.publish_rendezvous(Rendezvous(address=server.address, term=1), "replica")
        view = open_view(run)
    assert not view.live
    assert same(view.state, state)


def test_players_are_found_by_name(state):
    assert find_player(state, "main").id == "main"
    with pytest.raises(ViewError, match="there is no player 'exploter'; did you mean 'exploiter'"):
        find_player(state, "exploter")
    with pytest.raises(ViewError, match="there are main, exploiter, random"):
        find_player(state, "zzz")


def test_the_copy_of_a_run_is_a_run(run, state):
    assert same(open_view(RunDirectory.find(str(run.root))).state, state)


class Notebook:
    """A watcher that notes what it is told."""

    def __init__(self):
        self.told = []

    def before(self, seq, event, state):
        pass

    def event(self, seq, event, state):
        self.told.append(seq)

    def metrics(self, row, state):
        self.told.append((row.id, row.seq, row.source))


def test_a_tracker_gets_every_row_of_metrics_once_and_in_its_place(run, clock, monkeypatch):
    monkeypatch.setattr(pages, "PAGE", 7)
    monkeypatch.setattr(coordinator.service, "ROWS", 3)
    exchange, notebook = Exchange(), Notebook()
    told = notebook.told
    served = Served(run, exchange, clock)
    for i in range(40):  # rows among the newest events, some of them after the same event
        served.ledger.commit(
            [TermBegan(term=served.state.term)] * (i % 3), [(1.0, f"{i}.{j}", {"x": 1.0}) for j in range(i % 5)]
        )
    viewer = Viewer(exchange.client(served.server.address), read_rules(run), clock=clock, watcher=notebook)
    while not viewer.complete:
        viewer.refresh(0)
        served.step()
    served.ledger.commit([], [(2.0, "late", {"x": 1.0})])
    viewer.refresh(0)
    served.step()
    viewer.refresh(0)
    assert told[-1][2] == "late", "a row without events arrives, too"
    served.close()
    again = Notebook()
    view = read_offline(run, watcher=again)
    assert told == again.told, "the copy of the ledger tells the same in the same order"
    rows = [entry[0] for entry in told if isinstance(entry, tuple)]
    assert rows == list(range(1, len(rows) + 1))
    assert view.measured == len(rows) > 80
    last = 0
    for entry in told:
        last = entry if isinstance(entry, int) else last
        assert isinstance(entry, int) or entry[1] == last, "a row comes after its event and before the next"


def test_a_note_is_kept_in_the_ledger_and_told_to_trackers(run, clock):
    exchange = Exchange()
    served = Served(run, exchange, clock)
    client = exchange.client(served.server.address)
    client.send(Note(request=1, name="wandb", text="here"))
    served.step()
    ((done, _),) = client.receive(0)
    assert (done.request, done.error) == (1, "")
    client.send(Follow(request=3, since=0, measured=0))
    served.step()
    assert client.receive(0)[0][0].notes == {"wandb": "here"}
    served.close()
    assert read_offline(run).notes == {"wandb": "here"}
