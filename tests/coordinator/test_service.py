"""The service: one commit for many messages, answers only after it, and what happens when it fails."""

import hashlib
import json
import subprocess
import sys

import pytest

from coordinator import pages as paging
from coordinator import service as module
from coordinator.coordinator import Coordinator
from coordinator.opening import open_league, refold
from coordinator.pages import PAGE_BYTES
from coordinator.service import BROKEN, FEED_REST, LATE, METRICS, TICK, Service
from launch.viewers.live import status_text
from launch.viewers.tables import status_json
from launch.viewers.view import View
from league import events
from league.events import ResultCounted, SnapshotPruned, TicketIssued
from league.plugins import PluginError
from league.store.fold import encode_fold, read_fold, resume_fold
from league.store.ledger import Ledger
from league.ticket import Episode, Purpose, Result
from league.wire.in_memory import Exchange
from league.wire.messages import (
    Candidate,
    Command,
    Done,
    FetchFold,
    Follow,
    Note,
    Orders,
    Page,
    Progress,
    Refused,
    Report,
    Role,
)
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
        self.server, self.feed = self.exchange.server("coordinator"), self.exchange.server("feed")
        self.ledger = Ledger.open(self.path)
        self.ledger._connection.execute("pragma synchronous=off")
        checkpoint = self.options.get("checkpoint")
        state = open_league(self.ledger, self.config, 7, self.env, "hash", checkpoint)
        coordinator = Coordinator(state, ["learner-0"], self.now)
        delete = self.options.get("delete", self.deleted.append)
        self.service = Service(coordinator, self.ledger, self.server, lambda: self.now, delete, checkpoint, self.feed)
        self.clients = {}

    def reopen(self):
        self.service.close()
        self.open()

    @property
    def state(self):
        return self.service.coordinator.state

    def client(self, name):
        if name not in self.clients:
            server = self.feed if name == "replica" else self.server
            self.clients[name] = self.exchange.client(server.address)
        return self.clients[name]

    def send(self, name, message):
        assert self.client(name).send(message)

    def replies(self, name):
        return [message for message, _ in self.client(name).receive(0)]

    def ask(self, name, message):
        self.send(name, message)
        self.now += 2 * FEED_REST if name == "replica" else 0.0
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
                snapshot=hashlib.sha256(f"{p}-{i}-{version}".encode()).hexdigest(),
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
    episode = Episode((0, 1), (1.0, -1.0), max(length, len(actions)), actions)
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


def test_a_rule_that_is_not_allowed_ends_the_service_with_its_message(world):
    world.begin()
    world.state.config.matchmaking.name = "my_rules:mine"
    world.send("c0", world.report(want=1))
    with pytest.raises(PluginError, match="--allow my_rules"):
        world.service.step(0.0)


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


def test_while_the_ledger_is_broken_only_the_replica_is_answered(world):
    world.begin()
    (ticket,) = world.take()
    world.fill_the_disk()
    long = result_of(ticket, actions=bytes(30_000))
    world.ask("c0", world.report(results=(long,)))
    world.now += BROKEN / 2
    assert world.ask("c1", world.report("c1", want=1)) == []
    (page,) = world.ask("replica", Follow(request=1, since=0))
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
    (page,) = world.ask("replica", Follow(request=1, since=0))
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
    assert world.service.coordinator.leases.holder(kept.number) == "c0 c0/1"


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


def follow_all(world, name="replica"):
    pages, since = [], 0
    while True:
        (page,) = world.ask(name, Follow(request=1, since=since))
        assert isinstance(page, Page)
        assert page.since == since
        if not page.events:
            return pages
        pages.append(page)
        since += len(page.events)


def test_the_feed_gives_all_events_in_pages(world, monkeypatch):
    monkeypatch.setattr(paging, "PAGE", 10)
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
    (page,) = world.ask("replica", Follow(request=9, since=10**6))
    assert (page.request, page.events, page.term) == (9, (), 1)
    assert {worker.name: worker.age for worker in page.workers} == pytest.approx({"learner-0": 30.0, "c0": 30.0}, abs=1)
    assert page.seconds_left == pytest.approx(120.0 - page.elapsed)


@pytest.mark.parametrize("role", [None, *Role])
@pytest.mark.parametrize(
    "wish", [Follow(request=1, since=0), Note(request=1, name="csv", text="x"), FetchFold(request=1)]
)
def test_nobody_is_shown_the_ledger_where_others_play(world, role, wish):
    reply = world.service._answer(Incoming(b"x", role, wish), world.now)
    assert isinstance(reply, Refused)
    assert "replica" in reply.reason


def test_the_feed_refuses_a_checkpoint_of_another_history(world):
    world.begin()
    mark = world.ledger.mark(5)
    (page,) = world.ask("replica", Follow(request=1, since=5, mark=mark))
    assert page.since == 5
    for since, wrong in ((4, mark), (5, "0" * 64), (10**6, mark)):
        (refused,) = world.ask("replica", Follow(request=1, since=since, mark=wrong))
        assert "another history" in refused.reason


def test_the_feed_answers_at_most_once_in_a_while(world):
    world.begin()
    answered = 0
    for number in range(50):
        world.send("replica", Follow(request=number, since=0))
    for _ in range(40):
        world.service.step(0.0)
        world.now += FEED_REST / 3.9  # so that each fourth step is due
        answered += len(world.replies("replica"))
    assert answered == 10


def test_what_cannot_be_handled_is_refused_and_the_others_are_served(world, monkeypatch):
    def read(since, limit):
        raise OverflowError("more than the database can count")

    world.begin()
    monkeypatch.setattr(world.ledger, "read", read)
    world.send("replica", Follow(request=1, since=0))
    world.send("odd", Done(term=1, request=1))
    (orders,) = world.ask("c0", world.report(want=1))
    assert isinstance(orders, Orders)
    assert [type(reply) for reply in world.replies("replica") + world.replies("odd")] == [Refused, Refused]


# --- time and files -----------------------------------------------------------------------------------------


def count_of_rows(world, seconds, every=0.5):
    """Report for so many seconds, and return how many rows of metrics each process has."""
    for _ in range(int(seconds / every)):
        world.now += every
        world.ask("c0", world.report(metrics={"wait_share": 0.5}))
        world.ask("c1", world.report("c1", metrics={"wait_share": 0.1}))
    return world.ledger.query("select source, count(*) from metrics group by source")


def test_the_first_minute_has_tens_of_rows_of_metrics_and_the_first_hour_some_hundreds(world, figure):
    world.begin()
    rows = count_of_rows(world, 60.0)
    assert rows == [("c0", 30), ("c1", 30), ("coordinator", 30)]
    world.now += 3600.0
    count_of_rows(world, 5.0)
    before = count_of_rows(world, 0.0)[0][1]
    assert count_of_rows(world, 100.0)[0][1] - before == 100.0 / METRICS[1]
    figure("30 rows of metrics of each process in the first minute (12 before), one in 5 s after an hour")


def test_the_speeds_in_the_ledger_add_up_to_the_steps_whenever_collectors_report(world):
    """One reports twice as often as rows are written, one half as often: no row has half of the league's speed."""
    world.begin()
    for number in range(1, 241):
        world.now += 0.5
        fast = {"env_steps_per_second": 200.0 * (number // 2 % 2), "seconds": 1.0}  # every other second it rests
        slow = {"env_steps_per_second": 30.0, "seconds": 4.0}
        world.ask("c0", world.report(metrics=fast if number % 2 == 0 else {}))
        world.ask("c1", world.report("c1", metrics=slow if number % 8 == 0 else {}))
    rows = world.ledger.query("select elapsed, source, body from metrics where source != 'coordinator' order by id")
    speeds = {}
    for elapsed, _, body in rows:
        speeds.setdefault(elapsed, []).append(json.loads(body)["env_steps_per_second"])
    assert len(speeds) >= 20
    assert set(map(sum, list(speeds.values())[2:])) == {130.0}, "from the first report of each on"


def test_a_collector_that_died_holds_up_the_metrics_of_the_others_only_for_a_while(world):
    world.begin()
    world.ask("c1", world.report("c1", metrics={"wait_share": 0.1}))
    written = []
    for _ in range(60):
        world.now += 0.5
        world.ask("c0", world.report(metrics={"wait_share": 0.5}))
        written.append(dict(world.ledger.query("select source, count(*) from metrics group by source")).get("c0", 0))
    assert written[-1] > 8
    assert max(written.count(rows) for rows in set(written)) * 0.5 <= LATE + METRICS[0]


def test_what_was_not_measured_again_is_not_written_again(world):
    world.begin()
    count_of_rows(world, 10.0)
    world.now += LATE  # nobody is waited for any more
    written = []
    for _ in range(5):
        world.now += METRICS[1]
        world.service.step(0.0)
        written.append(world.rows("metrics"))
    assert written[1:] == [written[0]] * 4


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


def test_a_pause_takes_nothing_from_the_budget_of_time(world):
    world.begin()
    world.service.elapsed(world.now)
    world.now += 10.0
    (done,) = world.ask("operator", Command(request=1, action="pause"))
    assert done.error == ""
    for _ in range(3):
        world.now += 1000.0
        world.service.step(0.0)
        assert world.service.elapsed(world.now) == pytest.approx(10.0)
    world.reopen()
    world.service.step(0.0)
    world.now += 1000.0
    assert world.service.elapsed(world.now) == pytest.approx(10.0)
    world.ask("operator", Command(request=2, action="unpause"))
    world.now += 5.0
    assert world.service.elapsed(world.now) == pytest.approx(15.0)


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


def test_a_failed_commit_goes_back_to_the_newest_checkpoint_and_reads_little(
    tmp_path, config, env, monkeypatch, figure
):
    monkeypatch.setattr(module, "CHECKPOINT", 50)
    world = World(tmp_path, config(), env("player", "player"), checkpoint=tmp_path / "nowhere" / "fold")
    world.begin()
    for _ in range(40):
        tickets = world.take(2)
        world.ask("c0", world.report(results=tuple(result_of(ticket) for ticket in tickets)))
    rows, read = [], world.ledger.read
    monkeypatch.setattr(world.ledger, "read", lambda *page: rows.append(read(*page)) or rows[-1])
    for attempt in range(3):  # there is no checkpoint on the disk, which is full
        before = encode_fold(world.state, 0)
        world.fill_the_disk()
        rows.clear()
        world.send("c1", world.report("c1", want=400))
        world.service.step(0.0)
        assert world.replies("c1") == []
        assert encode_fold(world.state, 0) == before == encode_fold(refold(world.ledger, world.config), 0)
        told = sum(map(len, rows)) - world.ledger.head  # but for those that the line above has read
        assert told <= (50 if attempt == 0 else 0) + 4, "the tail, and the rows that name a history"
        world.now += 2 * BROKEN
    figure(f"{told} of {world.ledger.head} rows read after a failed commit")
    world.make_room()
    assert len(world.take(3)) == 3
    world.service.close()


def test_a_damaged_checkpoint_is_written_again_when_a_coordinator_stops(tmp_path, config, env):
    world = World(tmp_path, config(), env("player", "player"), checkpoint=tmp_path / "fold")
    world.begin()
    world.service.close()
    good = (tmp_path / "fold").read_bytes()
    world.open()
    (tmp_path / "fold").write_bytes(good[:-7])
    world.service.close()
    with Ledger.open(world.path) as ledger:
        state, seq = resume_fold(tmp_path / "fold", world.config, ledger)
        assert seq == ledger.head
        assert encode_fold(state, 0) == encode_fold(refold(ledger, world.config), 0)


def test_evaluation_tickets_are_among_what_is_served(world):
    world.begin()
    assert {ticket.purpose for ticket in world.take(30)} == set(Purpose)


def change_beneath(ledger, old, new):
    """Change bytes of the ledger's file from another process, which does not touch its locks."""
    assert ledger.settle()
    code = "import pathlib, sys; f = pathlib.Path(sys.argv[1]).open('r+b'); d = f.read(); "
    code += "f.seek(d.index(sys.argv[2].encode())); f.write(sys.argv[3].encode())"
    subprocess.run([sys.executable, "-c", code, str(ledger.path), old, new], check=True, timeout=60)


def test_a_row_that_changes_beneath_a_running_league_is_told_and_recorded(world, caplog):
    world.begin()
    (ticket,) = world.take()
    world.ask("c0", world.report(results=(result_of(ticket, length=31),)))
    change_beneath(world.ledger, "[[0,1],[1.0,-1.0],31", "[[1,0],[1.0,-1.0],31")
    for _ in range(40):
        world.now += 1.0
        world.service.step(0.0)
    assert "the ledger is damaged: event" in caplog.text
    assert world.state.damaged.startswith("event ")
    assert world.ledger.query("select count(*) from events where kind = 'ledger_damaged'") == [(1,)]
    view = View(world.config)
    view.begin_at(world.state, world.ledger.head)
    assert "the ledger is damaged: event" in status_text("run", view).plain
    assert status_json(view)["damaged"] == world.state.damaged
    world.reopen()
    assert world.state.damaged == "", "what was found is of its term; the next one looks for itself"


def test_looking_again_takes_a_bounded_share_of_the_time(world):
    world.begin()
    looks = []

    def slow_look():
        looks.append(world.now)
        world.now += 0.5
        return ""

    world.service._scrub.look = slow_look
    start = world.now
    while world.now < start + 1000:
        world.now += 1.0
        world.service.step(0.0)
    assert 0.5 * len(looks) <= 0.011 * (world.now - start)
    assert len(looks) > 10


def test_acknowledgements_name_the_head_of_the_ledger(world):
    world.begin()
    (ticket,) = world.take()
    (orders,) = world.ask("c0", world.report(results=(result_of(ticket),)))
    assert orders.head == f"{world.ledger.head} {world.ledger.mark(world.ledger.head)}"
    (orders,) = world.ask("c0", world.report())
    assert orders.head == ""


@pytest.mark.parametrize("damage", [b"", b"rubbish", None])
def test_a_damaged_checkpoint_is_written_again_at_the_start_and_at_the_stop(tmp_path, config, env, damage, caplog):
    fold = tmp_path / "fold"
    world = World(tmp_path, config(), env("player", "player"), checkpoint=fold)
    world.begin()
    world.reopen()

    def spoil():
        fold.write_bytes(fold.read_bytes()[:-9] if damage is None else damage)
        assert read_fold(fold, world.config) is None

    spoil()
    world.service.close()  # with nothing new since the start
    assert read_fold(fold, world.config) is not None
    spoil()
    world.open()
    assert resume_fold(fold, world.config, world.ledger)[1] == world.ledger.head - 1, "all but the new term"
    assert "is damaged" in caplog.text
    world.service.close()


def test_an_older_ledger_is_not_taken_for_the_one_of_the_checkpoint(tmp_path, config, env, caplog):
    fold = tmp_path / "fold"
    world = World(tmp_path, config(), env("player", "player"), checkpoint=fold)
    world.begin()
    world.service.close()
    older = world.path.read_bytes()
    world.open()
    world.ask("c0", world.report(results=(result_of(world.take()[0]),)))
    world.service.close()
    world.path.write_bytes(older)
    world.open()
    assert world.state.results == {}, "the older ledger has no result, whatever the checkpoint says"
    assert "is of another ledger" in caplog.text
    assert encode_fold(world.state, 0) == encode_fold(refold(world.ledger, world.config), 0)
    world.service.close()


def archiving(config, keep=10, segment=10):
    rules = config()
    rules.archive.keep_events, rules.archive.segment_events = keep, segment
    return rules


def play_matches(world, count):
    for _ in range(count):
        (ticket,) = world.take()
        world.now += TICK
        world.ask("c0", world.report(results=(result_of(ticket),)))


def test_old_events_are_archived_and_viewers_still_get_all(tmp_path, config, env):
    world = World(tmp_path, archiving(config), env("player", "player"), checkpoint=tmp_path / "fold")
    world.begin()
    play_matches(world, 50)
    assert len(world.ledger.archive) > 5
    assert world.ledger.live < 25
    found, since = [], 0
    while since < world.ledger.head:
        page = world.service._page(Follow(request=1, since=since), world.now).events
        found += page
        since += len(page)
    assert [events.kind_of(events.decode(body)) for body in found].count("result_counted") == 50
    assert encode_fold(world.state, 0) == encode_fold(refold(world.ledger, world.config), 0)
    world.reopen()
    assert sum(world.state.results.values()) == 50
    (orders,) = world.ask("c0", world.report(results=(Result(ticket=3, attempt=0, episodes=()),)))
    assert orders.acks[0].verdict == "duplicate"
    world.service.close()


def test_damaged_events_are_told_and_stay_where_they_are(tmp_path, config, env, caplog):
    world = World(tmp_path, archiving(config), env("player", "player"))
    world.begin()
    play_matches(world, 2)
    world.ledger._connection.execute("update events set body = body || ' ' where seq = 4")
    play_matches(world, 30)
    assert len(world.ledger.archive) == 0
    assert "old events are not archived any more" in world.state.damaged
    assert caplog.text.count("old events are not archived any more") == 1
    world.service.close()


def test_an_archive_that_cannot_be_written_stops_no_play(tmp_path, config, env, caplog):
    world = World(tmp_path, archiving(config), env("player", "player"))
    (tmp_path / "archive").write_text("a file in the place of the folder")
    world.begin()
    play_matches(world, 30)
    assert sum(world.state.results.values()) == 30
    assert caplog.text.count("could not be archived") == 1
    (tmp_path / "archive").unlink()
    world.now += module.ARCHIVE_AGAIN
    play_matches(world, 10)
    assert len(world.ledger.archive) > 0
    world.service.close()
