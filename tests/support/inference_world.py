"""A collector and a real inference process over the wire in memory; the test is everybody else."""

import numpy as np

from collectors.actors import Actors
from collectors.collector import Collector
from collectors.config import CollectorConfig
from collectors.envs.native.recall import Recall
from collectors.envs.turns import TurnTakingEnvironment
from collectors.inference_client import InferenceClient
from collectors.learner_client import LearnerClient
from league.per_player import PerPlayer
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.segment import TERMINATED
from league.store.snapshots import SnapshotStore
from league.ticket import Entry, Purpose, Ticket
from league.wire.in_memory import Exchange
from league.wire.messages import Ack, Credit, Host, Orders, Pull, Report, Verdict, Watch, Weights
from learners.inference import Inference
from learners.segment_check import open_segments

POLICY = PolicyConfig(hidden=[8], memory="gru", memory_size=6)


class InferenceWorld:
    """A collector of two turns, its inference process, and a test that is everybody else."""

    def __init__(self, tmp_path):
        self.now, self.exchange = 100.0, Exchange()
        self.env = TurnTakingEnvironment([Recall(slots=3, blanks=4), Recall(slots=2, blanks=4)])
        self.coordinator, self.learner = self.exchange.server("coordinator"), self.exchange.server("learner-0")
        self.flat = initial(POLICY, self.env.spec, 1)
        actors = Actors(self.env.spec, PerPlayer(POLICY), SnapshotStore(tmp_path / "snapshots"), 1 << 20)
        learner_client = LearnerClient("collector-0", "session", self.exchange.client, weights=False)
        self.collector = Collector(
            name="collector-0",
            session="session",
            env=self.env,
            coordinator=self.exchange.client(self.coordinator.address),
            learner_client=learner_client,
            actors=actors,
            run_seed=7,
            config=CollectorConfig(slots=5, ticks=4, flush_decisions=1, inference="central"),
            clock=lambda: self.now,
            inference_client=InferenceClient(
                "session", self.env.spec, actors, learner_client.live, self.exchange.client
            ),
        )
        self.lives, self.tickets, self.episodes = 0, 0, 0
        self.segments = []
        self.start_inference()

    def start_inference(self):
        self.lives += 1
        self.server = self.exchange.server("inference")
        self.inference = Inference(
            session=f"life-{self.lives}",
            learner=self.exchange.client(self.learner.address),
            server=self.server,
            spec=self.env.spec,
            policies=PerPlayer(POLICY),
            clock=lambda: self.now,
        )

    def step(self, answering=True, seconds=0.05):
        self.now += seconds
        if answering:
            self.inference.step(0)
        self.collector.step(0.0)
        for incoming in self.learner.receive(0):
            message, who = incoming.message, {"player": "main", "incarnation": 0, "version": 3}
            if isinstance(message, Watch):
                self.learner.send(incoming.peer, Weights(**who), {"flat": self.flat})
            elif isinstance(message, Pull):
                assert not message.weights, "a collector has no use for them"
                self.learner.send(incoming.peer, Credit(**who, allowance=10**9))
            else:
                self.segments.append(open_segments(message, incoming.arrays, self.env.spec, POLICY.state_size))
        for incoming in self.coordinator.receive(0):
            self.coordinator.send(incoming.peer, self.order(incoming.message))

    def order(self, report: Report) -> Orders:
        self.episodes += sum(len(result.episodes) for result in report.results)
        host = Host(player="main", incarnation=0, address="memory://learner-0", inference="memory://inference")
        first, self.tickets = self.tickets, self.tickets + report.want
        return Orders(
            term=1,
            request=report.request,
            acks=tuple(Ack(one.ticket, one.attempt, Verdict.ACCEPTED) for one in report.results),
            tickets=tuple(
                Ticket(number=n, purpose=Purpose.TRAIN, entries=(Entry("main"),), episodes=4, trains=("main",))
                for n in range(first + 1, self.tickets + 1)
            ),
            directory=1,
            hosts=(host,),
        )

    def check_segments(self):
        """See that weights and memory of every segment give its log-probabilities; return how many decisions."""
        actor = NumpyActor(POLICY, self.env.spec, self.flat)
        for one in self.segments:
            memory = np.array(one.memory[:, 0])
            assert (one.version == 3).all()
            for tick in range(one.present.shape[1]):
                outputs = actor.outputs(one.observation[:, tick, 0], None, memory)
                chances = outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True))
                expected = np.take_along_axis(chances, one.action[:, tick], axis=1)[:, 0]
                here = one.present[:, tick, 0]
                np.testing.assert_allclose(one.log_prob[here, tick, 0], expected[here], atol=1e-5)
                memory[one.end[:, tick, 0] == TERMINATED] = 0
        return sum(one.decisions for one in self.segments)
