"""A learner with its coordinator and collectors, over the wire in memory, and a clock that the test moves."""

from dataclasses import dataclass, field
from typing import Any

from league.per_player import PerPlayer
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.wire.in_memory import Exchange
from league.wire.messages import (
    Assignment,
    Progress,
    Pull,
    Roster,
    SegmentsHead,
    Weights,
)
from learners.algorithms.ppo_config import PPOConfig
from learners.config import LearnerConfig
from learners.learner import Learner
from learners.player_settings import PlayerSettings
from learners.trainee_store import TraineeStore

BATCH = 64

SEED = 3

HERO = Assignment(player="hero", incarnation=0)


@dataclass
class Collector:
    client: Any
    session: str
    sent: int = 0
    received: list[Any] = field(default_factory=list)
    flat: Any = None

    def pull(self, version=-1, incarnation=0, player="hero"):
        self.client.send(
            Pull(
                name="c", session=self.session, player=player, incarnation=incarnation, version=version, sent=self.sent
            )
        )

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
        """Return the messages that came since the last time."""
        new = []
        for message, arrays in self.client.receive(0):
            if isinstance(message, Weights):
                self.flat = arrays["flat"]
            new.append(message)
        self.received += new
        return new

    def last(self, kind):
        self.hear()
        found = [message for message in self.received if isinstance(message, kind)]
        return found[-1] if found else None


class World:
    """A coordinator that says what the test wants, collectors with canned segments, a clock by hand."""

    def __init__(self, path, spec, policy, **settings):
        self.path, self.spec, self.policy, self.settings = path, spec, policy, settings
        self.exchange, self.now, self.term, self.spent = Exchange(), 0.0, 1, 0.0
        self.coordinator = self.exchange.server("coordinator")
        self.store = SnapshotStore(path / "snapshots")
        self.progress: list[Progress] = []
        self.learner = self.start()

    def start(self, **changes):
        settings = {"batch": BATCH, "minibatch": 32, "epochs": 2} | self.settings.get("algo", {})
        config = {"heartbeat": 5.0, "candidate_decisions": 2 * BATCH} | self.settings.get("config", {})
        self.inbox = self.exchange.server("learner")
        player = PlayerSettings(changes.pop("policy", self.policy), changes.pop("algo", PPOConfig(**settings)))
        inbox, measure = changes.pop("inbox", self.inbox), changes.pop("measure", None)
        parts = {
            "snapshots": self.store,
            "checkpoint_path": RunDirectory(self.path).checkpoint,
            "spec": self.spec,
            "players": PerPlayer(player),
            "seed": SEED,
            "config": LearnerConfig(**config),
        }
        return Learner(
            name="learner-0",
            session="s",
            coordinator=self.exchange.client(self.coordinator.address),
            inbox=inbox,
            store=TraineeStore(**parts | changes),
            clock=lambda: self.now,
            measure=measure,
        )

    def restart(self, **changes):
        """Kill the learner and start another one on the same files."""
        self.inbox.close()
        self.learner = self.start(**changes)

    def collector(self, session="one"):
        return Collector(self.exchange.client(self.inbox.address), session)

    def answer(self, *players, stop=False, term=None):
        """Read the learner's reports and answer each with this roster."""
        for incoming in self.coordinator.receive(0):
            assert isinstance(incoming.message, Progress)
            self.progress.append(incoming.message)
            roster = Roster(
                term=term or self.term,
                request=incoming.message.request,
                players=players,
                spent=self.spent,
                stop=stop,
            )
            self.coordinator.send(incoming.peer, roster)

    def run(self, *players, steps=1):
        """Step the learner, answering with this roster, a heartbeat apart."""
        for _ in range(steps):
            self.now += 5.0
            assert self.learner.step(0)
            self.answer(*players)

    def candidates(self, player="hero"):
        found = [c for report in self.progress for c in report.candidates if c.player == player]
        return list(dict.fromkeys(found))

    @property
    def metrics(self):
        return self.progress[-1].metrics


def feed(world, collector, play, batches=1, **more):
    for number in range(batches):
        version = collector.last(Weights).version
        collector.feed(play(collector.flat, lanes=16, seed=number, version=version, **more))
        world.run(HERO)
        collector.hear()


def replace_train(assignment):
    return Assignment(player=assignment.player, incarnation=assignment.incarnation, train=False)
