"""A league in simulated time: the real coordinator, fold and ledger against a hostile network.

Messages are lost, doubled, delayed and so re-ordered; collectors crash and stall; the coordinator crashes before
its commit, and between its commit and its replies. At the end every client's view is held against the ledger.
"""

import heapq
import itertools
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from shipped_kinds import shipped_kinds

from coordinator.coordinator import Coordinator
from coordinator.learner_reports import LearnerReports
from coordinator.leases import Leases
from coordinator.open_tickets import OpenTickets
from coordinator.opening import open_league, refold
from coordinator.service import Service
from coordinator.workers import holder_of
from league import events
from league.events import CandidateWritten, ResultCounted, TicketReissued
from league.rulebook import LeagueConfig, PlayerConfig
from league.spec import Array, EnvSpec, Seat
from league.store.ledger import Ledger
from league.ticket import Episode, Result
from league.wire.messages import Candidate, Held, Orders, Progress, Report, Roster, Verdict
from league.wire.ports import Incoming

ENV = EnvSpec(
    name="simulated", agents=("a", "b"), seats=(Seat((0,)), Seat((1,))), observation=Array((1,), "float32"), actions=2
)


class CrashError(Exception):
    """The coordinator dies here."""


@dataclass
class Faults:
    loss: float = 0.02
    double: float = 0.02
    delay: float = 3.0
    collector_crash: float = 0.002  # per heartbeat
    stall: float = 0.002
    crash_before_commit: float = 0.0005
    crash_before_replies: float = 0.0005
    learner_crash: float = 0.02  # per report


class DyingLedger:
    """The real ledger; sometimes the process dies just before it commits."""

    def __init__(self, ledger, rng, chance):
        self._ledger, self._rng, self._chance = ledger, rng, chance

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def commit(self, batch, *more):
        if batch and self._rng.random() < self._chance:
            raise CrashError
        self._ledger.commit(batch, *more)


class Port:
    """The coordinator's end of the simulated network."""

    address = "simulated"

    def __init__(self, world):
        self.world = world
        self.inbox = []

    def receive(self, timeout, limit=1000):
        batch, self.inbox = self.inbox[:limit], self.inbox[limit:]
        return batch

    def send(self, peer, message, arrays=None):
        if self.world.rng.random() < self.world.faults.crash_before_replies / 10:
            raise CrashError
        self.world.carry(lambda: self.world.clients[peer].hear(message))
        return True

    def close(self):
        pass


@dataclass
class SimulatedCollector:
    """Plays tickets that take a random time; re-sends every result until it is acknowledged."""

    world: "World"
    name: str
    beat: float
    session: str = ""
    held: dict = field(default_factory=dict)
    results: dict = field(default_factory=dict)
    ticks: int = 0
    request: int = 0
    term: int = 0

    def start(self):
        self.session = f"{self.name}/{next(self.world.counter)}"
        self.held, self.results, self.term = {}, {}, 0
        self.heartbeat(self.session)

    def heartbeat(self, session):
        if session != self.session:
            return
        world, rng = self.world, self.world.rng
        if rng.random() < world.faults.collector_crash:
            self.session = ""
            world.crashes["collector"] += 1
            world.at(rng.uniform(1, 60), self.start)
            return
        if rng.random() < world.faults.stall:
            world.crashes["stall"] += 1
            world.at(rng.uniform(30, 300), lambda: self.heartbeat(session))
            return
        self.finish()
        self.ticks += 1
        self.request += 1
        report = Report(
            request=self.request,
            name=self.name,
            session=self.session,
            want=max(0, 2 - len(self.held)),
            held=tuple(Held(n, a, self.ticks) for n, a in self.held),
            results=tuple(self.results.values()),
        )
        world.carry(lambda: world.to_coordinator(self.name.encode(), report))
        world.at(self.beat, lambda: self.heartbeat(session))

    def finish(self):
        for key, (ticket, ready) in list(self.held.items()):
            if ready <= self.world.now:
                del self.held[key]
                mark = next(self.world.counter)  # tells this very result from all others
                episodes = tuple(Episode((i % 2, 1 - i % 2), (0.0, 0.0), mark) for i in range(ticket.episodes))
                self.results[key] = Result(ticket=key[0], attempt=key[1], episodes=episodes)
                self.world.played[key].add(mark)

    def hear(self, orders):
        if not isinstance(orders, Orders) or not self.session or orders.term < self.term:
            return
        self.term = orders.term
        for ack in orders.acks:
            result = self.results.pop((ack.ticket, ack.attempt), None)
            if result is not None:
                self.world.acked.append((ack, result.episodes[0].length))
        for key in orders.revoked:
            self.held.pop(tuple(key), None)
        for ticket in orders.tickets:
            key = (ticket.number, ticket.attempt)
            if key not in self.held and key not in self.results and key not in self.world.played:
                self.held[key] = (ticket, self.world.now + self.world.rng.exponential(self.world.match_seconds))


@dataclass
class SimulatedLearner:
    """Writes a candidate of every player on its roster every few minutes."""

    world: "World"
    name: str = "learner-0"
    session: str = "learner-0/0"
    versions: dict = field(default_factory=dict)
    written: dict = field(default_factory=dict)  # those of them that a crash does not undo
    begun: dict = field(default_factory=dict)  # decisions of a player when each of its incarnations began
    request: int = 0
    reported: dict = field(default_factory=dict)  # candidates by request
    acknowledged: set = field(default_factory=set)  # requests that were answered

    def start(self):
        self.session = f"{self.name}/{next(self.world.counter)}"
        self.versions = dict(self.written)
        self.beat()

    def beat(self):
        if self.world.rng.random() < self.world.faults.learner_crash:
            self.session = ""
            self.world.crashes["learner"] += 1
            self.world.at(self.world.rng.uniform(1, 120), self.start)
            return
        self.request += 1
        self.written = dict(self.versions)
        candidates = tuple(
            Candidate(player=p, incarnation=i, version=v, snapshot=f"{p}-{i}-{v}", decisions=self.decisions(p, i, v))
            for (p, i), v in self.versions.items()
        )
        self.reported[self.request] = candidates
        progress = Progress(
            request=self.request,
            name=self.name,
            session=self.session,
            address="memory://learner-0",
            candidates=candidates,
        )
        self.world.carry(lambda: self.world.to_coordinator(b"learner-0", progress))
        self.world.at(300 if candidates else 10, self.beat)  # its first candidates are news

    def decisions(self, player, incarnation, version):
        """Return how many decisions a player was trained on: a reset does not make them undone."""
        return self.begun[player, incarnation] + version * 50_000

    def hear(self, roster):
        if isinstance(roster, Roster) and self.session:
            self.acknowledged.add(roster.request)
            rows = {(a.player, a.incarnation) for a in roster.players}
            for player, incarnation in sorted(rows - self.begun.keys()):
                before = [self.decisions(p, i, v) for (p, i), v in self.versions.items() if p == player]
                self.begun[player, incarnation] = max(before, default=0)
            self.versions = {row: self.versions.get(row, -1) + 1 for row in rows}


class World:
    def __init__(self, path, seed, collectors, beat, match_seconds, faults):
        self.path, self.faults, self.match_seconds = path, faults, match_seconds
        self.rng = np.random.default_rng(seed)
        self.now, self.counter, self.heap = 0.0, itertools.count(1), []
        self.crashes, self.handled = Counter(), 0
        self.acked, self.played = [], _Marks()
        self.config = LeagueConfig(
            players={
                "main": PlayerConfig(kind="main", rate=2.0),
                "exploiter": PlayerConfig(kind="main_exploiter"),
                "random": PlayerConfig(kind="scripted", bot="random", anchor=0.0),
            },
            kinds=shipped_kinds(),
            episodes=2,
        )
        self.config.lease.attempts = 1000  # stalls are common here; poison is tested elsewhere
        self.clients = {}
        self.service, self.port, self.ledger = None, Port(self), None
        self.restart()
        learner = SimulatedLearner(self)
        self.clients[b"learner-0"] = learner
        learner.beat()
        for i in range(collectors):
            collector = SimulatedCollector(self, f"collector-{i}", beat)
            self.clients[collector.name.encode()] = collector
            self.at(self.rng.uniform(0, beat), collector.start)

    def at(self, delay, action):
        heapq.heappush(self.heap, (self.now + delay, next(self.counter), action))

    def carry(self, deliver):
        """The network: it loses, doubles and delays; what is delayed overtakes and is overtaken."""
        if self.rng.random() < self.faults.loss:
            return
        copies = 2 if self.rng.random() < self.faults.double else 1
        for _ in range(copies):
            self.at(self.rng.uniform(0, self.faults.delay), deliver)

    def to_coordinator(self, peer, message):
        if self.service is not None:
            self.port.inbox.append(Incoming(peer, None, message))

    def restart(self):
        self.ledger = Ledger.open(self.path)
        self.ledger._connection.execute("pragma synchronous=off")  # processes crash here, machines do not
        state = open_league(self.ledger, self.config, 7, ENV, "hash")
        dying = DyingLedger(self.ledger, self.rng, self.faults.crash_before_commit)
        self.service = Service(Coordinator(state, ["learner-0"], self.now), dying, self.port, lambda: self.now)

    def crash(self):
        self.crashes["coordinator"] += 1
        self.ledger.close()
        self.service, self.port.inbox = None, []
        self.at(self.rng.uniform(1, 30), self.restart)

    def serve(self):
        if self.service is not None:
            try:
                waiting = len(self.port.inbox)
                while self.port.inbox:
                    self.service.step(0)
                self.handled += waiting
            except CrashError:
                self.crash()

    def run(self, seconds, quantum=2.0):
        end = self.now + seconds
        next_serve = self.now + quantum
        while self.heap and self.now < end:
            at, _, action = heapq.heappop(self.heap)
            while at >= next_serve:
                self.now = next_serve
                self.serve()
                next_serve += quantum
            self.now = max(self.now, at)
            action()
        self.serve()

    def quiet(self):
        """No more faults: let every message arrive and every result be acknowledged."""
        self.faults = Faults(0, 0, 0.1, 0, 0, 0, 0, 0)
        if self.service is not None:
            self.service._ledger._chance = 0
        self.match_seconds = 1e12  # what is taken from now on is never finished
        self.run(1200)
        if self.service is None:
            self.restart()


class _Marks(dict):
    def __missing__(self, key):
        self[key] = set()
        return self[key]


def check(world):
    """Hold every client's view against the ledger."""
    counted, attempts = {}, Counter()
    for _, event in world.ledger.events():
        if isinstance(event, TicketReissued):
            attempts[event.ticket] = event.attempt
        if isinstance(event, ResultCounted):
            assert event.attempt == attempts[event.ticket], (
                f"ticket {event.ticket}: counted an attempt that was given up"
            )
            assert event.ticket not in counted, f"ticket {event.ticket} was counted twice"
            counted[event.ticket] = (event.attempt, event.episodes[0].length)
    for ticket, (attempt, mark) in counted.items():
        assert mark in world.played[ticket, attempt], f"ticket {ticket}: counted what nobody played"
    for ack, mark in world.acked:
        if ack.verdict == Verdict.ACCEPTED:
            assert counted[ack.ticket] == (ack.attempt, mark), f"ticket {ack.ticket}: acknowledged but not counted"
        else:
            assert ack.verdict in (Verdict.DUPLICATE, Verdict.SUPERSEDED)
    state = world.service.coordinator.state
    again = refold(world.ledger, world.config)
    assert sum(again.results.values()) == len(counted) == sum(state.results.values())
    assert again.open == state.open
    assert again.steps == state.steps
    assert len(counted) + len(again.open) + again.voids == again.tickets
    check_collectors(world, again.open)
    check_learner(world, again.incarnations)
    return counted


def check_collectors(world, still_open):
    """What collectors hold is what is open, and nobody else has it; the rest waits for somebody."""
    collectors = [client for client in world.clients.values() if isinstance(client, SimulatedCollector)]
    assert not any(c.results for c in collectors), "a result is still not acknowledged after the network healed"
    leases = world.service.coordinator.leases
    holders = {}
    for collector in collectors:
        for number, attempt in collector.held:
            assert number not in holders, f"ticket {number} is held by two collectors"
            assert still_open[number].attempt == attempt, f"ticket {number}: an attempt is held that was given up"
            assert leases.holder(number) == holder_of(collector.name, collector.session), (
                f"ticket {number} is held without a lease"
            )
            holders[number] = collector.session
    assert holders.keys() | set(leases.waiting) == still_open.keys(), "an open ticket was lost"
    assert holders.keys().isdisjoint(leases.waiting)


def check_learner(world, incarnations):
    """What was acknowledged is in the ledger, unless its player was reset; what is in the ledger was reported."""
    learner = world.clients[b"learner-0"]
    names = ("player", "incarnation", "version", "snapshot", "decisions")
    told = {tuple(getattr(c, n) for n in names) for found in learner.reported.values() for c in found}
    newest = {}
    for _, event in world.ledger.events():
        if isinstance(event, CandidateWritten):
            key = (event.player, event.incarnation)
            assert tuple(getattr(event, n) for n in names) in told, f"nobody reported {event}"
            assert event.version > newest.get(key, -1), f"an older candidate was written after a newer one: {event}"
            newest[key] = event.version
    for request in learner.acknowledged:
        for c in learner.reported[request]:
            written = newest.get((c.player, c.incarnation), -1) >= c.version
            assert written or c.incarnation < incarnations[c.player], f"acknowledged but not written: {c}"
    assert newest, "no candidate was written"


@pytest.mark.parametrize(
    ("collectors", "hours", "beat", "match_seconds", "quantum"),
    [
        pytest.param(50, 20.0, 10.0, 120.0, 5.0, id="50x20h"),
        pytest.param(1000, 1 / 6, 10.0, 60.0, 2.0, id="1000x10min"),
    ],
)
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_view_agrees_with_the_ledger(tmp_path, collectors, hours, beat, match_seconds, quantum, figure):
    began = time.monotonic()
    world = World(tmp_path / "ledger.sqlite", 11, collectors, beat, match_seconds, Faults())
    world.run(hours * 3600, quantum)
    world.quiet()
    counted = check(world)
    figure(
        f"{world.handled:,} messages handled in {time.monotonic() - began:.0f} s, {len(counted):,} results counted, "
        f"faults: {dict(world.crashes)}"
    )
    assert world.handled >= (300_000 if collectors == 50 else 50_000)
    assert len(counted) > 1000
    assert world.crashes["collector"] > 10
    assert world.crashes["learner"] or collectors == 1000, "in ten minutes a learner reports too rarely"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3, 4))])
def test_a_short_and_nasty_league(tmp_path, seed):
    faults = Faults(0.1, 0.1, 20.0, 0.02, 0.02, 0.01, 0.01, 0.2)
    world = World(tmp_path / "ledger.sqlite", seed, 10, 10.0, 30.0, faults)
    world.run(3600)
    world.quiet()
    assert len(check(world)) > 100
    assert world.crashes["coordinator"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "planted", ["no attempt check", "reply before commit", "leases without end", "candidates lost"]
)
def test_planted_bugs_are_found(tmp_path, monkeypatch, planted):
    """The net itself is tested: with a bug planted, some check must fail."""
    if planted == "no attempt check":
        monkeypatch.setattr(
            OpenTickets,
            "verdict",
            lambda self, ticket, attempt, holder: Verdict.ACCEPTED if ticket in self._state.open else Verdict.DUPLICATE,
        )
    elif planted == "leases without end":
        monkeypatch.setattr(Leases, "expired", lambda self, now: [])
    elif planted == "candidates lost":
        candidate = LearnerReports._count

        def forgetful(self, found):
            if found.version < 3:
                candidate(self, found)

        monkeypatch.setattr(LearnerReports, "_count", forgetful)
    else:
        real = Service._commit

        def late(self, metrics, now):  # answers a batch at once and commits it with the next one
            batch, self.late = getattr(self, "late", []), self.coordinator.take()
            self.coordinator.league._pending = batch
            return real(self, metrics, now)

        monkeypatch.setattr(Service, "_commit", late)
    faults = Faults(0.1, 0.1, 20.0, 0.02, 0.05, 0.01, 0.01)
    world = World(tmp_path / "ledger.sqlite", 3, 10, 10.0, 30.0, faults)

    def live_and_check():
        world.run(3600)
        world.quiet()
        check(world)

    with pytest.raises((AssertionError, KeyError)):
        live_and_check()


def test_events_survive_a_round_trip(tmp_path):
    world = World(tmp_path / "ledger.sqlite", 1, 3, 10.0, 30.0, Faults())
    world.run(600)
    world.quiet()
    for _, event in world.ledger.events():
        assert events.decode(events.encode(event)) == event
