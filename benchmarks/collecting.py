"""(b, c) One real collector process: environment, inference, recording and sending, by its own CPU time."""

import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import Child, cpu_of, go_on, pause
from benchmarks.measure import Slice, Verdict, alternate, by_cpu, paired, summarise
from benchmarks.raw import raw_reference
from benchmarks.stand_in import StandIn
from collectors.collector import CollectorConfig
from collectors.envs.config import EnvConfig
from launch.build import describe_environment
from launch.config import Config, to_plain
from league.store.run_directory import RunDirectory
from league.wire.sockets import SEGMENTS_LIMIT, Sockets

WARM_UP = 2.0  # seconds from the first ticket on
PATIENCE = 30.0  # seconds without a report after which something is wrong
PETTINGZOO = EnvConfig(name="pettingzoo", id="classic/connect_four_v3")
NATIVE = EnvConfig(name="connect_four")


@dataclass(frozen=True, slots=True)
class Case:
    """One collector: its game, its slots, how many players play in them, and how fast it should be."""

    name: str
    env: EnvConfig
    slots: int
    players: int
    target: float  # times the speed of raw_env


B = (Case("b: PettingZoo, 128 slots, two players", PETTINGZOO, 128, 2, 0.8),)
C = (
    Case("c: native, 256 slots, two players", NATIVE, 256, 2, 12),
    Case("c: native, 256 slots, eight players", NATIVE, 256, 8, 10),
)


class Bench:
    """A collector process that plays only while it is measured."""

    def __init__(self, child: Child, around: StandIn) -> None:
        self._child, self._around = child, around

    def warm_up(self) -> None:
        """Serve until the collector plays, and a little longer; then stop it."""
        self._until(self._next()[0] + WARM_UP)
        pause([self._child.pid])

    def measure(self, seconds: float) -> Slice:
        """Let it play; the slice lies between two of its reports, so steps and CPU time belong together."""
        go_on([self._child.pid])
        self._next()  # the first report after the rest was late
        decisions, first = sum(self._around.decisions.values()), self._next()
        last = self._until(first[0] + seconds)
        sent = sum(self._around.decisions.values()) - decisions
        pause([self._child.pid])
        wall, cpu, steps = (b - a for a, b in zip(first, last, strict=True))
        return Slice(steps, wall, cpu, {"sent_decisions_per_second": sent / wall})

    def _next(self) -> tuple[float, float, float]:
        """Return time, CPU time and env steps at the next report that tells of steps."""
        deadline = time.perf_counter() + PATIENCE
        while time.perf_counter() < deadline:
            told = [steps for steps in self._around.serve() if steps > 0]
            if told:
                return time.perf_counter(), cpu_of([self._child.pid]), told[-1]
        raise RuntimeError(f"the collector {self._child.pid} told nothing of its steps for {PATIENCE:g} s")

    def _until(self, end: float) -> tuple[float, float, float]:
        while (told := self._next())[0] < end:
            pass
        return told


def measure(case: Case, folder: Path, seconds: float, rounds: int) -> Verdict:
    """Measure one case against raw_env, in turns."""
    config = Config(
        env=case.env,
        collector=CollectorConfig(slots=case.slots, heartbeat=0.05),  # reports are the marks of the slices
    )
    run = RunDirectory(folder / f"{case.env.name}-{case.players}").create()
    run.write_config(to_plain(config))
    spec = describe_environment(config, run, ())
    command = ["-m", "launch.process", "--run", str(run.root.resolve()), "--role", "collector"]
    with Sockets(SEGMENTS_LIMIT) as sockets, Child(command, run.log("collector", 0)) as child:
        bench = Bench(child, StandIn(sockets, config, run, spec, case.players))
        bench.warm_up()
        raw, found = alternate(raw_reference(), bench.measure, seconds, rounds)
    ratios = paired(raw, found, by_cpu)
    summarise(case.name, found)
    return Verdict.of(f"{case.name}: CPU, times raw_env", ratios, case.target)


def run(cases: tuple[Case, ...], folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure some cases one after the other."""
    return [measure(case, folder, seconds, rounds) for case in cases]
