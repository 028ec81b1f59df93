"""(k) Where replays are: a learner that has its own, and one that draws from a buffer process. DQN, made-up data."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks.children import Child, cpu_of
from benchmarks.collecting import NATIVE
from benchmarks.inferring import IMAGES
from benchmarks.learning import made_up
from benchmarks.measure import Measure, Slice, alternate, by_cpu, by_wall, emit, paired, summarise
from collectors.envs.config import EnvConfig
from launch.config.config import Config, to_plain
from launch.config.env_spec import describe_environment
from launch.topology.endpoints import Endpoints
from league.ids import PlayerId
from league.policies.layout import PolicyConfig, initial
from league.spec import EnvSpec
from league.store.run_directory import RunDirectory
from league.wire.messages import Credit, Pull, SegmentsHead
from league.wire.ports import Client
from league.wire.sockets import SEGMENTS_LIMIT
from learners.algorithms.dqn import DQN
from learners.algorithms.dqn_config import DQNConfig
from learners.batcher import Batcher
from learners.config import LearnerConfig
from learners.remote_replay import REST, BufferClient, RemoteReplay, RemoteTrainee
from learners.segment_check import open_segments

ALLOW = ("benchmarks",)
MAIN = PlayerId("main")


@dataclass(frozen=True, slots=True)
class Case:
    """One game, network and algorithm."""

    name: str
    env: EnvConfig
    policy: PolicyConfig
    algo: DQNConfig


CASES = (
    Case("k: Connect Four, mlp", NATIVE, PolicyConfig(head="values"), DQNConfig(warmup=1024)),
    Case(
        "k: images of 84x84x4, cnn",
        IMAGES,
        PolicyConfig(name="cnn", head="values"),
        DQNConfig(batch=128, minibatch=32, replay=4000, warmup=128),
    ),
)


class Feeder:
    """A collector that has one batch, and sends it as often as its credit allows."""

    def __init__(self, case: Case, spec: EnvSpec) -> None:
        segments = made_up(case.algo.batch, np.random.default_rng(0), spec).segments
        self.decisions, self.arrays, self.sent, self.allowance = segments.decisions, segments.arrays(), 0, 0
        self.wall = self.cpu = 0.0  # that it took

    def head(self) -> SegmentsHead:
        """Return the head of the next message."""
        self.sent += self.decisions
        return SegmentsHead(name="c", session="c", player=MAIN, incarnation=0, decisions=self.decisions, sent=self.sent)

    def feed(self, client: Client) -> None:
        """Send what may be sent."""
        wall, cpu = time.perf_counter(), time.process_time()
        for message, _ in client.receive(0):
            self.allowance = message.allowance if isinstance(message, Credit) else self.allowance
        if not self.allowance:
            client.send(Pull(name="c", session="c", player=MAIN, incarnation=0, version=-1, weights=False))
        while self.sent + self.decisions <= self.allowance:
            client.send(self.head(), self.arrays)
        self.wall, self.cpu = self.wall + time.perf_counter() - wall, self.cpu + time.process_time() - cpu


def algorithm_of(case: Case, spec: EnvSpec) -> DQN:
    """Return a fresh DQN."""
    return DQN(case.algo, case.policy, spec, initial(case.policy, spec, 0))


def inside(case: Case, spec: EnvSpec) -> Measure:
    """Return what measures a learner with its own replay: segments are checked, kept and learned from."""
    algorithm, feeder, rng = algorithm_of(case, spec), Feeder(case, spec), np.random.default_rng(0)

    def measure(seconds: float) -> Slice:
        wall, cpu, samples = time.perf_counter(), time.process_time(), 0.0
        while time.perf_counter() < wall + seconds:
            batcher = Batcher(incarnation=0, batch=case.algo.batch, max_lag=1000)
            batcher.add(open_segments(feeder.head(), feeder.arrays, spec), "c", version=0)
            metrics = algorithm.update(batcher.take(version=0), rng)
            samples += metrics["losses/gradient_steps"] * case.algo.minibatch
        return Slice(samples, time.perf_counter() - wall, time.process_time() - cpu)

    return measure


@contextmanager
def beside(case: Case, spec: EnvSpec, run: RunDirectory) -> Iterator[Measure]:
    """Yield what measures a learner that draws from a buffer process, whose CPU time is told beside the learner's."""
    command = [
        "-m",
        "launch.processes",
        "--run",
        str(run.root.resolve()),
        "--role",
        "buffer",
        "--allow",
        *ALLOW,
    ]
    with (
        Child(command, run.log("buffer", 0)) as child,
        Endpoints(run, "learner-0", "ipc", SEGMENTS_LIMIT) as doors,
    ):
        feeder, line = Feeder(case, spec), BufferClient("l", doors.buffer(0), time.monotonic)
        while not line.address:
            line.find_address()
            line.serve({}, REST)
        collector, algorithm = doors.connect(line.address), algorithm_of(case, spec)
        trainee = RemoteTrainee(
            player=MAIN,
            incarnation=0,
            algorithm=algorithm,
            weights=algorithm.flat(),
            batcher=Batcher(incarnation=0, batch=case.algo.batch, max_lag=1000),
            rng=np.random.default_rng(0),
            replay=RemoteReplay(lambda timeout: wait(timeout)),
        )
        line.publish(trainee)

        def wait(timeout: float) -> None:
            line.serve({MAIN: trainee}, timeout)
            feeder.feed(collector)

        def spent() -> np.ndarray:
            """Return wall and CPU time without what the feeder took, and the CPU time of the buffer process."""
            own = time.perf_counter() - feeder.wall, time.process_time() - feeder.cpu
            return np.array([*own, cpu_of([child.pid])])

        def measure(seconds: float) -> Slice:
            before = spent()
            until, samples = time.perf_counter() + seconds, 0.0
            while time.perf_counter() < until:
                wait(0)
                while not trainee.full:
                    wait(REST)
                trainee.replay.begin()
                metrics = algorithm.learn(trainee.replay, trainee.rng)
                samples += metrics["losses/gradient_steps"] * case.algo.minibatch
            wall, cpu, buffer = (spent() - before).tolist()
            return Slice(samples, wall, cpu, {"buffer_cpu_seconds_per_1000": 1000 * buffer / max(samples, 1)})

        yield measure


def run(folder: Path, seconds: float, rounds: int) -> None:
    """Measure all cases; steps are samples: decisions learned from, each time."""
    torch.set_num_threads(1)
    for case in CASES:
        config = Config(
            env=case.env, policy=case.policy, algo=asdict(case.algo), learner=LearnerConfig(replay_in="buffer")
        )
        run = RunDirectory(folder / f"replay-{case.env.name.replace(':', '-')}").create()
        run.write_config(to_plain(config))
        spec = describe_environment(config, run, ALLOW)
        with beside(case, spec, run) as served:
            own = inside(case, spec)
            for measure in (own, served):
                measure(seconds / 4)
            learner, buffer = alternate(own, served, seconds, rounds)
        summarise(f"{case.name}, replay in the learner", learner)
        summarise(f"{case.name}, replay in a buffer process", buffer)
        for name, speed in (("wall", by_wall), ("CPU of the learner", by_cpu)):
            runs = paired(learner, buffer, speed)
            emit(f"{case.name}: buffer, times learner, {name}", ratio=sorted(runs)[len(runs) // 2], runs=runs)
