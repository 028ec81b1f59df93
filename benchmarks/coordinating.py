"""(d) A real coordinator process and 200 collectors that do nothing but report a result and want a ticket.

One cycle is one report with the last result that wants the next ticket, and its answer: a result and a ticket,
both on the disk (SQLite, WAL, synchronous=FULL) before the answer leaves.
"""

import json
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import zmq

from benchmarks.children import Child, cpu_of
from benchmarks.measure import Slice, Verdict, emit
from launch.config.compose import compose
from launch.config.config import Config, LaunchConfig, to_plain
from launch.config.env_spec import describe_environment, read_spec
from league.ids import Hash, PlayerId
from league.promotion import PromotionConfig
from league.rulebook import EvaluationConfig, LeagueConfig, PlayerConfig
from league.store.run_directory import RunDirectory
from league.store.snapshots import Manifest, SnapshotStore
from league.ticket import Episode, Purpose, Result, Ticket
from league.wire.codec import decode, encode
from league.wire.messages import Candidate, Orders, Progress, Report, Roster
from league.wire.sockets import Sockets

Floats = npt.NDArray[np.float64]

COLLECTORS = 200
LENGTH = 21  # moves in an episode
TARGET, SLOWEST = 5000.0, 0.1  # cycles in a second; seconds that 99 of 100 cycles take at most
PATIENCE = 30.0


def league() -> LeagueConfig:
    """Return the laptop league of alphastar, with the shortest tickets that play both seat orders."""
    return LeagueConfig(
        players={
            "main": PlayerConfig(kind="main", rate=0.6),
            "main_exploiter": PlayerConfig(kind="main_exploiter", rate=0.2),
            "league_exploiter": PlayerConfig(kind="league_exploiter", rate=0.2),
            "random": PlayerConfig(kind="scripted", bot="random", anchor=0.0),
        },
        kinds=compose(["experiment=null"]).league.kinds,
        episodes=2,
        evaluation=EvaluationConfig(episodes=2),
        promotion=PromotionConfig(min_decisions=1, max_decisions=1000),
    )


class Load:
    """200 collectors in one process, each a socket of its own, each with at most one report under way."""

    def __init__(self, address: str, rng: np.random.Generator) -> None:
        self._context = zmq.Context()
        self._poller = zmq.Poller()
        self._rng = rng
        self._sockets: dict[zmq.Socket[bytes], str] = {}
        for i in range(COLLECTORS):
            socket = self._context.socket(zmq.DEALER)
            socket.linger = 0
            socket.connect(address)
            self._poller.register(socket, zmq.POLLIN)
            self._sockets[socket] = f"collector-{i}"
        self._sent: dict[zmq.Socket[bytes], float] = {}
        self._request = 0
        self.latencies: list[float] = []
        self.idle = 0  # answers without a ticket

    def begin(self) -> None:
        """Let every collector ask for its first ticket."""
        for socket in self._sockets:
            self._report(socket, (), 0)

    def work(self, until: float) -> int:
        """Go round until the time is up; return the number of cycles."""
        cycles, before = 0, time.perf_counter() + PATIENCE
        while (now := time.perf_counter()) < until:
            for socket, _ in self._poller.poll(1000):
                cycles += self._cycle(socket)
                before = now + PATIENCE
            if now > before:
                raise RuntimeError(f"the coordinator answered nothing for {PATIENCE:g} s")
        return cycles

    def _cycle(self, socket: zmq.Socket[bytes]) -> int:
        orders, _ = decode(socket.recv_multipart())
        assert isinstance(orders, Orders), orders
        self.latencies.append(time.perf_counter() - self._sent[socket])
        self.idle += not orders.tickets
        self._report(socket, tuple(self._result(ticket) for ticket in orders.tickets), orders.directory)
        return len(orders.acks)

    def _report(self, socket: zmq.Socket[bytes], results: tuple[Result, ...], directory: int) -> None:
        self._request += 1
        name = self._sockets[socket]
        report = Report(request=self._request, name=name, session=name, want=1, results=results, directory=directory)
        self._sent[socket] = time.perf_counter()
        socket.send_multipart(encode(report))

    def _result(self, ticket: Ticket) -> Result:
        actions = bytes(LENGTH) if ticket.purpose == Purpose.EVALUATE else b""
        wins = self._rng.random(ticket.episodes) < 0.5
        outcomes = [((0, 1), (1.0, -1.0)) if won else ((1, 0), (-1.0, 1.0)) for won in wins.tolist()]
        episodes = tuple(Episode(ranks, returns, LENGTH, actions) for ranks, returns in outcomes)
        return Result(ticket=ticket.number, attempt=ticket.attempt, episodes=episodes)

    def close(self) -> None:
        """Hang up."""
        self._context.destroy(linger=0)


def found_pool(run: RunDirectory) -> None:
    """Speak as the learner: write candidates until ten players are frozen and each learning one has a new one."""
    with Sockets() as sockets:
        client = sockets.connect(run.address("coordinator"))
        incarnations: dict[PlayerId, int] = {}
        for version, decisions in enumerate([0, 0, 1000, 2000, 3000, 3000]):
            candidates = tuple(
                Candidate(
                    player=player,
                    incarnation=incarnation,
                    version=version,
                    snapshot=_written(run, player, incarnation, version, decisions),
                    decisions=decisions,
                )
                for player, incarnation in incarnations.items()
            )
            client.send(
                Progress(request=version, name="learner-0", session="s", address="ipc:///x", candidates=candidates)
            )
            answers = [message for message, _ in client.receive(PATIENCE) if isinstance(message, Roster)]
            incarnations = {row.player: row.incarnation for row in answers[-1].players}


def _written(run: RunDirectory, player: PlayerId, incarnation: int, version: int, decisions: int) -> Hash:
    """Write a snapshot: the coordinator looks at it."""
    manifest = Manifest(
        player=player,
        incarnation=incarnation,
        version=version,
        decisions=decisions,
        policy={},
        signature=read_spec(run).signature,
    )
    return SnapshotStore(run.snapshots).put({"flat": np.zeros(4, np.float32)}, manifest)


def run(folder: Path, seconds: float, rounds: int, profile: Path | None = None) -> list[Verdict]:
    """Measure `rounds` slices of one coordinator's life."""
    config = Config(league=league(), launch=LaunchConfig(collectors=COLLECTORS))
    directory = RunDirectory(folder / "coordinator").create()
    directory.write_config(to_plain(config))
    describe_environment(config, directory, ())
    report = directory.root / "report.json"
    command = ["-m", "benchmarks.coordinator_process", str(directory.root.resolve()), str(report.resolve())]
    with Child([*command, *([str(profile)] if profile else [])], directory.log("coordinator", 0)) as child:
        found_pool(directory)
        load = Load(directory.address("coordinator"), np.random.default_rng(0))
        load.begin()
        load.work(time.perf_counter() + 1.0)
        load.latencies.clear()
        slices = [_slice(load, child, seconds) for _ in range(rounds)]
        load.close()
        child.stop()
    served = json.loads(report.read_text())
    emit("d: pool", frozen_players=served["frozen"], answers_without_ticket=load.idle)
    return _verdicts(slices, np.array(load.latencies), served["results"] / served["commits"])


def _slice(load: Load, child: Child, seconds: float) -> Slice:
    wall, cpu = time.perf_counter(), cpu_of([child.pid])
    cycles = load.work(wall + seconds)
    return Slice(cycles, time.perf_counter() - wall, cpu_of([child.pid]) - cpu)


def _verdicts(slices: list[Slice], latencies: Floats, grouped: float) -> list[Verdict]:
    rate = float(np.median([one.rate for one in slices]))
    slowest = float(np.quantile(latencies, 0.99))
    emit(
        "d: coordinator, 200 collectors",
        steps_per_second=rate,
        cpu_seconds_per_1000=float(np.median([one.cost for one in slices])),
        latency_p50=float(np.quantile(latencies, 0.5)),
        latency_p99=slowest,
        fsyncs_per_second=rate / grouped,  # one for each commit; checkpoints of the log come to it, once in a while
        cycles_per_commit=grouped,
    )
    runs = [one.rate / TARGET for one in slices]
    return [
        Verdict("d: coordinator, cycles/s over 5000", rate / TARGET, 1.0, runs),
        Verdict("d: coordinator, 100 ms over p99 latency", SLOWEST / slowest, 1.0),
    ]
