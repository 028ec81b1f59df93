"""The service: one commit for many messages, answers only after it, and what happens when it fails."""

import pytest

from coordinator import service as module
from coordinator.coordinator import Coordinator
from coordinator.opening import open_league, refold
from coordinator.service import BROKEN, METRICS, PAGE_BYTES, TICK, Service
from league import events
from league.events import ResultCounted, SnapshotPruned, TicketIssued
from league.store.fold import encode_fold
from league.store.ledger import Ledger
from league.ticket import Episode, Purpose, Result
from league.wire.memory import Exchange
from league.wire.messages import Candidate, Command, Done, Follow, Orders, Page, Progress, Refused, Report, Role
from league.wire.messages import Held as HeldTicket
from league.wire.ports import Incoming


class World:
    """A service between a real ledger and the wire in memory, with a clock that the test moves."""

    def __init__(self, tmp_path, config, env, **options):
        self.path, self.config, self.env, self.options = tmp_path / "ledger.sqlite", config, env, options
        self.now, self.request, self.deleted = 1000.0, 0, []
        self.clients = {}
        self.open()

    def open(self):
        self.exchange = Exchange()
        self.server = self.exchange.server("coordinator")
        self.ledger = Ledger.open(self.path)
        self.ledger._connection.execute("pragma synchronous=off")
        checkpoint = self.options.get("checkpoint")
        state = open_league(self.ledger, self.config, 7, self.env, "hash", checkpoint)
        coordinator = Coordinator(state, ["learner-0"], self.now)
        delete = self.options.get("delete", self.deleted.append)
        self.service = Service(coordinator, self.ledger, self.server, lambda: self.now, delete, checkpoint)
        self.clients = {}

    def reopen(self):
        self.service.close()
        self.open()

    @property
    def state(self):
        return self.service.coordinator.state

    def client(self, name):
        if name not in self.clients:
            self.clients[name] = self.exchange.client(self.server.address)
        return self.clients[name]

    def send(self, name, message):
        assert self.client(name).send(message)

    def replies(self, name):
        return [message for message, _ in self.client(name).receive(0)]

    def ask(self, name, message):
        self.send(name, message)
        self.service.step(0.0)
        return self.replies(name)

    def report(self, name="c0", **fields):
        self.request += 1
        return Report(request=self.request, name=name, session=f"{name}/1", **fields)

    def progress(self, version=0, decisions=0):
        candidates = tuple(
            Candidate(
                player=p,
                incarnation=i,
                version=version,
                snapshot=f"{p}-{i}-{version}",
                decisions=decisions,
            )
            for p, i in self.state.incarnations.items()
        )
        return Progress(request=1, name="learner-0", session="s", address="memory://l", candidates=candidates)

    def begin(self):
        self.ask("learner", self.progress())

    def take(self, count=1, name="c0"):
        (orders,) = self.ask(name, self.report(name, want=count))
        assert len(orders.tickets) == count
        return orders.tickets

    def fill_the_disk(self):
        (pages,) = self.ledger._connection.execute("pragma page_count").fetchone()
        self.ledger._connection.execute(f"pragma max_page_count={pages}")

    def make_room(self):
        self.ledger._connection.execute("pragma max_page_count=1000000")

    def rows(self, table):
        return self.ledger.query(f"select count(*) from {table}")[0][0]


@pytest.fixture
def world(tmp_path, config, env):
    world = World(tmp_path, config(), env("player", "player"))
    yield world
    world.service.close()


def result_of(ticket, length=5, actions=b""):
    episode = Episode((0, 1), (1.0, -1.0), length, actions)
    return Result(ticket=ticket.number, attempt=ticket.attempt, episodes=(episode,) * ticket.episodes)


def test_many_messages_are_one_commit(world):
    world.begin()
    before = world.service.commits
    for number in range(50):
        world.send(f"c{number}", world.report(f"c{number}", want=2))
    world.service.step(0.0)
    assert world.service.commits == before + 1
    tickets = [t.number for number in range(50) for (orders,) in [world.replies(f"c{number}")] for t in orders.tickets]
    assert sorted(tickets) == list(range(1, 101))


def test_a_step_without_news_commits_nothing(world):
    world.begin()
    before = world.service.commits, world.ledger.head
    world.ask("c0", world.report())
    world.service.step(0.0)
    assert (world.service.commits, world.ledger.head) == before


def test_a_ticket_and_an_ack_are_durable_before_they_are_sent(world, monkeypatch):
    world.begin()
    seen = []
    send = world.server.send

    def spying(peer, message, arrays=None):
        copy = {(type(event), _number(event)) for _, event in world.ledger.events()}
        seen.extend((TicketIssued, ticket.number) in copy for ticket in message.tickets)
        seen.extend((ResultCounted, ack.ticket) in copy for ack in message.acks)
        return send(peer, message, arrays)

    monkeypatch.setattr(world.server, "send", spying)
    (ticket,) = world.take()
    world.ask("c0", world.report(results=(result_of(ticket),)))
    assert seen == [True, True]


def _number(event):
    return event.ticket.number if isinstance(event, TicketIssued) else getattr(event, "ticket", None)


# --- a commit that fails ------------------------------------------------------------------------------------


def test_when_a_commit_fails_nobody_is_answered_and_nothing_happened(world):
    world.begin()
    (ticket,) = world.take()
    before = encode_fold(world.state, 0)
    world.fill_the_disk()
    long = result_of(ticket, actions=bytes(30_000))
    assert world.ask("c0", world.report(want=3, results=(long,))) == []
    assert encode_fold(world.state, 0) == before
    assert encode_fold(refold(world.ledger, world.config), 0) == before


def test_while_the_ledger_is_broken_only_viewers_are_answered(world):
    world.begin()
    (ticket,) = world.take()
    world.fill_the_disk()
    long = result_of(ticket, actions=bytes(30_000))
    world.ask("c0", world.report(results=(long,)))
    world.now += BROKEN / 2
    assert world.ask("c1", world.report("c1", want=1)) == []
    (page,) = world.ask("viewer", Follow(request=1, since=0))
    assert page.head == world.ledger.head
    assert page.broken.startswith("the ledger cannot be written: ")
    assert world.ask("operator", Command(request=1, action="pause")) == []


def test_it_recovers_by_itself_and_counts_what_is_sent_again_once(world):
    world.begin()
    done, lost = world.take(2)
    world.ask("c0", world.report(results=(result_of(done),)))
    world.fill_the_disk()
    long = result_of(lost, actions=bytes(30_000))
    for _ in range(3):
        assert world.ask("c0", world.report(results=(long,), held=())) == []
        world.now += BROKEN
    world.make_room()
    (orders,) = world.ask("c0", world.report(results=(result_of(done), long)))
    assert [ack.verdict for ack in orders.acks] == ["duplicate", "accepted"]
    (orders,) = world.ask("c0", world.report(want=2))
    assert len(orders.tickets) == 2
    counted = [event.ticket for _, event in world.ledger.events() if isinstance(event, ResultCounted)]
    assert counted == [done.number, lost.number]
    (page,) = world.ask("viewer", Follow(request=1, since=0))
    assert page.broken == ""


def test_tickets_that_were_handed_out_before_the_failure_are_still_held(world):
    world.begin()
    kept, long_one = world.take(2)
    world.fill_the_disk()
    world.ask("c0", world.report(results=(result_of(long_one, actions=bytes(30_000)),)))
    world.make_room()
    world.now += BROKEN
    (orders,) = world.ask("c0", world.report(held=(HeldTicket(kept.number, 0, 5),)))
    assert orders.revoked == ()
    assert world.service.coordinator.leases.holder(kept.number) == "c0/1"


def test_a_stop_is_not_forgotten_when_a_commit_fails(world):
    world.begin()
    (ticket,) = world.take()
    world.fill_the_disk()
    world.send("operator", Command(request=1, action="stop"))
    world.ask("c0", world.report(results=(result_of(ticket, actions=bytes(30_000)),)))
    world.make_room()
    world.now += BROKEN
    (orders,) = world.ask("c0", world.report())
    assert orders.stop


def test_nothing_is_deleted_for_a_commit_that_failed(world):
    world.begin()
    for version in range(1, 4):
        world.ask("learner", world.progress(version, decisions=version))
    (ticket,) = world.take()
    world.fill_the_disk()
    world.send("c0", world.report(results=(result_of(ticket, actions=bytes(30_000)),)))
    world.ask("learner", world.progress(4, decisions=4))
    assert world.deleted == []
    world.make_room()
    world.now += BROKEN
    world.ask("learner", world.progress(4, decisions=4))
    pruned = [event.snapshot for _, event in world.ledger.events() if isinstance(event, SnapshotPruned)]
    assert world.deleted == pruned != []


# --- viewers ------------------------------------------------------------------------------------------------


def follow_all(world, name="viewer"):
    pages, since = [], 0
    while True:
        (page,) = world.ask(name, Follow(request=1, since=since))
        assert isinstance(page, Page)
        assert page.since == since
        if not page.events:
            return pages
        pages.append(page)
        since += len(page.events)


def test_viewers_get_all_events_in_pages(world, monkeypatch):
    monkeypatch.setattr(module, "PAGE", 10)
    world.begin()
    world.take(40)
    pages = follow_all(world)
    assert {len(page.events) for page in pages[:-1]} == {10}
    bodies = [body for page in pages for body in page.events]
    assert [events.decode(body) for body in bodies] == [event for _, event in world.ledger.events()]
    assert pages[0].head == len(bodies)


def test_a_page_is_bounded_in_bytes_but_never_empty(world):
    world.begin()
    for ticket in world.take(12):
        world.ask("c0", world.report(results=(result_of(ticket, actions=bytes(60_000)),)))
    pages = follow_all(world)
    assert sum(len(page.events) for page in pages) == world.ledger.head
    assert all(sum(map(len, page.events)) <= PAGE_BYTES for page in pages)
    assert len(pages) > 2
    (ticket,) = world.take()
    world.ask("c0", world.report(results=(result_of(ticket, actions=bytes(PAGE_BYTES)),)))
    assert sum(len(page.events) for page in follow_all(world)) == world.ledger.head


def test_a_page_tells_of_workers_and_of_the_time_left(world):
    world.config.budget.minutes = 2.0
    world.begin()
    world.ask("c0", world.report(metrics={"wait_share": 0.25}))
    world.now += 30.0
    (page,) = world.ask("viewer", Follow(request=9, since=10**6))
    assert (page.request, page.events, page.term) == (9, (), 1)
    assert {worker.name: worker.age for worker in page.workers} == {"learner-0": 30.0, "c0": 30.0}
    assert page.seconds_left == pytest.approx(120.0 - page.elapsed)


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        (None, Page),
        (Role.VIEWER, Page),
        (Role.OPERATOR, Page),
        (Role.COLLECTOR, Refused),
        (Role.LEARNER, Refused),
    ],
)
def test_only_viewers_and_operators_may_follow(world, role, kind):
    reply = world.service._answer(Incoming(b"x", role, Follow(request=1, since=0)), world.now)
    assert type(reply) is kind


def test_what_cannot_be_handled_is_refused_and_the_others_are_served(world):
    world.begin()
    world.send("viewer", Follow(request=1, since=2**63))  # more than the database can count
    world.send("odd", Done(term=1, request=1))
    (orders,) = world.ask("c0", world.report(want=1))
    assert isinstance(orders, Orders)
    assert [type(reply) for reply in world.replies("viewer") + world.replies("odd")] == [Refused, Refused]


# --- time and files -----------------------------------------------------------------------------------------


def test_metrics_are_written_at_most_every_five_seconds(world):
    world.begin()
    for _ in range(int(30.0 / 0.5)):
        world.now += 0.5
        world.ask("c0", world.report(metrics={"wait_share": 0.5}))
        world.ask("c1", world.report("c1", metrics={"wait_share": 0.1}))
    assert world.ledger.query("select source, count(*) from metrics group by source") == [
        ("c0", int(30.0 / METRICS)),
        ("c1", int(30.0 / METRICS)),
        ("coordinator", int(30.0 / METRICS)),
    ]
    written = []
    for _ in range(5):
        world.now += METRICS
        world.service.step(0.0)
        written.append(world.rows("metrics"))
    assert written[1:] == [written[0]] * 4, "what was not measured again is not written again"


def test_leases_expire_though_nobody_says_anything(world):
    world.begin()
    (ticket,) = world.take()
    world.now += world.config.lease.seconds
    world.service.step(0.0)
    assert world.state.open[ticket.number].attempt == 1
    world.now += TICK / 2
    commits = world.service.commits
    world.service.step(0.0)
    assert world.service.commits == commits


def test_the_time_of_play_begins_with_the_first_candidate_and_goes_on_in_the_next_term(world):
    world.now += 100.0
    world.service.step(0.0)
    assert world.service.elapsed(world.now) == 0.0
    world.begin()
    world.service.elapsed(world.now)
    world.now += 60.0
    assert world.service.elapsed(world.now) == pytest.approx(60.0)
    world.reopen()
    world.now += 5.0
    world.service.elapsed(world.now)
    world.now += 5.0
    assert world.service.elapsed(world.now) == pytest.approx(65.0, abs=5.0)
    assert world.service.elapsed(world.now) >= 65.0 - 1e-9


def test_pruned_snapshots_are_deleted_and_one_that_cannot_be_stops_nothing(tmp_path, config, env):
    def stuck(snapshot):
        raise OSError(f"{snapshot} is stuck")

    world = World(tmp_path, config(), env("player", "player"), delete=stuck)
    world.begin()
    for version in range(1, 8):
        (roster,) = world.ask("learner", world.progress(version, decisions=version))
        assert roster.term == 1
    assert any(isinstance(event, SnapshotPruned) for _, event in world.ledger.events())
    world.service.close()


def test_a_checkpoint_of_the_fold_is_kept_and_is_never_ahead_of_the_ledger(tmp_path, config, env):
    world = World(tmp_path, config(), env("player", "player"), checkpoint=tmp_path / "fold")
    world.begin()
    world.take(5)
    world.reopen()
    assert (tmp_path / "fold").exists()
    assert encode_fold(world.state, 0) == encode_fold(refold(world.ledger, world.config), 0)
    (tmp_path / "fold").unlink()
    world.take(1)
    world.service.coordinator.reopen()  # decided, but never committed
    world.service.close()
    assert not (tmp_path / "fold").exists()
    world.open()
    assert encode_fold(world.state, 0) == encode_fold(refold(world.ledger, world.config), 0)
    world.service.close()


def test_evaluation_tickets_are_among_what_is_served(world):
    world.begin()
    assert {ticket.purpose for ticket in world.take(30)} == set(Purpose)
