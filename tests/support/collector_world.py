"""A collector over the wire in memory, whose coordinator and learner is the test."""

from collectors.actors import Actors
from collectors.collector import Collector
from collectors.config import CollectorConfig
from collectors.learner_client import LearnerClient
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig, initial
from league.store.snapshots import Manifest, SnapshotStore
from league.ticket import Entry, Purpose, Ticket
from league.wire.in_memory import Exchange
from league.wire.messages import (
    Ack,
    Credit,
    Host,
    Orders,
    Pull,
    Report,
    SegmentsHead,
    Verdict,
    Weights,
)
from learners.segment_check import open_segments

POLICY = PolicyConfig(hidden=[8])


BOT = Entry("random", bot="random")


class World:
    """A collector, its clock, and the other ends of its wires."""

    def __init__(
        self, tmp_path, env, allowance=10**9, cache_bytes=1 << 20, allow=(), players=("main",), sigmas=None, **config
    ):
        self.now = 100.0
        self.env, self.allowance, self.players = env, allowance, players
        self.denied = set()  # players without credit
        exchange = Exchange()
        self.coordinator, self.learner = exchange.server("coordinator"), exchange.server("learner-0")
        self.store = SnapshotStore(tmp_path / "snapshots")
        self.journal = []
        self.collector = Collector(
            name="collector-0",
            session="session",
            env=env,
            coordinator=exchange.client(self.coordinator.address),
            learner_client=LearnerClient("collector-0", "session", exchange.client),
            actors=Actors(env.spec, PerPlayer(POLICY), self.store, cache_bytes, allow),
            run_seed=7,
            config=CollectorConfig(slots=env.slots, **{"ticks": 4, **config}),
            clock=lambda: self.now,
            journal=lambda acks, head: self.journal.extend(acks),
            sigmas=sigmas or PerPlayer(0.0),
        )
        self.peer = None
        self.incarnation, self.version = 0, 0
        self.heads, self.pulls = [], []
        self.trains, self.credited = True, 0
        self.sent = 0
        self.flat = None  # the weights to publish, if not those of the version

    def step(self, steps=1):
        """Return the reports of some ticks. The learner answers pulls, the coordinator nothing."""
        reports = []
        for _ in range(steps):
            self.now += 0.05
            self.running = self.collector.step(0.0)
            self.learn()
            for incoming in self.coordinator.receive(0):
                self.peer = incoming.peer
                assert isinstance(incoming.message, Report)
                reports.append(incoming.message)
        return reports

    def learn(self):
        for incoming in self.learner.receive(0):
            message = incoming.message
            self.learner_peer = incoming.peer
            if isinstance(message, Pull):
                self.pulls.append(message)
                self.credited = message.sent if self.trains else self.credited  # all that came was trained on
                self.publish(incoming.peer, message.player)
            else:
                assert isinstance(message, SegmentsHead)
                self.heads.append(message)
                self.sent = message.sent
                self.open(message, incoming.arrays)

    def open(self, message, arrays):
        open_segments(message, arrays, self.env.spec)

    def publish(self, peer, player="main"):
        flat = initial(POLICY, self.env.spec, self.version) if self.flat is None else self.flat
        who = {"player": player, "incarnation": self.incarnation, "version": self.version}
        self.learner.send(peer, Weights(**who), {"flat": flat})
        self.learner.send(peer, Credit(**who, allowance=0 if player in self.denied else self.credited + self.allowance))

    def order(self, **orders):
        self.coordinator.send(self.peer, Orders(**{"term": 1, "request": 0, **orders}))

    def answer(self, report, **orders):
        self.order(request=report.request, **orders)

    def hosts(self):
        return tuple(Host(player=p, incarnation=self.incarnation, address=self.learner.address) for p in self.players)

    def begin(self, *tickets):
        """Answer the first report with tickets and the directory."""
        (report,) = self.step()
        self.answer(report, tickets=tickets, directory=5, hosts=self.hosts())
        return report

    def play(self, steps=400, acknowledge=True, until=lambda report: report.results or report.faults):
        """Play on, answering every report; return the first report with news."""
        for _ in range(steps):
            for report in self.step():
                news = [*report.results, *report.faults]
                accepted = [Ack(item.ticket, item.attempt, Verdict.ACCEPTED) for item in news]
                self.answer(report, acks=tuple(accepted) if acknowledge else ())
                if until(report):
                    return report
        raise AssertionError("nothing came of it")


def evaluation(number=1, episodes=4, entries=(BOT, BOT), attempt=0):
    return Ticket(number=number, purpose=Purpose.EVALUATE, entries=entries, episodes=episodes, attempt=attempt)


def training(number=1, episodes=4, opponent=BOT):
    return Ticket(
        number=number, purpose=Purpose.TRAIN, entries=(Entry("main"), opponent), episodes=episodes, trains=("main",)
    )


def freeze(world, seed):
    manifest = Manifest(
        player="main",
        incarnation=0,
        version=seed,
        decisions=0,
        policy={"name": "mlp", "hidden": [8]},
        signature=world.env.spec.signature,
    )
    return Entry(f"main.{seed}", world.store.put({"flat": initial(POLICY, world.env.spec, seed)}, manifest))
