"""(b, c) One real collector process: environment, inference, recording and sending, by its own CPU time."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import Child, cpu_of, go_on, pause
from benchmarks.measure import Slice, Verdict, alternate, by_cpu, paired, summarise
from benchmarks.raw import raw_reference
from benchmarks.stand_in import StandIn
from collectors.config import CollectorConfig
from collectors.envs.config import EnvConfig
from launch.config.config import Config, to_plain
from launch.config.env_spec import describe_environment
from league.store.run_directory import RunDirectory
from league.wire.sockets import SEGMENTS_LIMIT, Sockets

WARM_UP = 2.0  # seconds from the first ticket on
ALLOW = ("benchmarks",)  # packages that a config may name code of
PATIENCE = 120.0  # seconds without a report after which something is wrong, on a crowded machine, too
PETTINGZOO = EnvConfig(name="pettingzoo", id="classic/connect_four_v3")
NATIVE = EnvConfig(name="connect_four")
AHEAD = 2  # keeps the slots of the native game full


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
    """Collector processes, and perhaps what answers them, that work only while they are measured."""

    def __init__(self, children: Sequence[Child], around: StandIn, collectors: int = 1) -> None:
        self._children, self._around, self._collectors = children, around, collectors

    @property
    def _pids(self) -> list[int]:
        return [child.pid for child in self._children]

    def warm_up(self) -> None:
        """Serve until all collectors play, and a little longer; then stop them."""
        while len(self._around.steps) < self._collectors:
            self._next()
        self._until(self._next()[0] + WARM_UP)
        pause(self._pids)

    def measure(self, seconds: float) -> Slice:
        """Let them play; the slice lies between two reports, so steps and CPU time belong together."""
        go_on(self._pids)
        self._next()  # the first report after the rest was late
        decisions, first = sum(self._around.decisions.values()), self._next()
        last = self._until(first[0] + seconds)
        sent = sum(self._around.decisions.values()) - decisions
        pause(self._pids)
        wall, cpu, steps = (b - a for a, b in zip(first, last, strict=True))
        waited = sum(self._around.waits.values()) / len(self._around.waits)
        return Slice(steps, wall, cpu, {"sent_decisions_per_second": sent / wall, "wait_share": waited})

    def _next(self) -> tuple[float, float, float]:
        """Return time, CPU time and env steps at the next report that has steps."""
        deadline = time.perf_counter() + PATIENCE
        while time.perf_counter() < deadline:
            if self._around.serve():
                return time.perf_counter(), cpu_of(self._pids), sum(self._around.steps.values())
        raise RuntimeError(f"the collectors {self._pids} told nothing of their steps for {PATIENCE:g} s")

    def _until(self, end: float) -> tuple[float, float, float]:
        while (told := self._next())[0] < end:
            pass
        return told


@contextmanager
def benched(config: Config, run: RunDirectory, players: int, collectors: int = 1) -> Iterator[Bench]:
    """Start collectors, and an inference process if they need one, around a stand-in; they are warm, and at rest."""
    run.create().write_config(to_plain(config))
    spec = describe_environment(config, run, ALLOW)
    parts = [("collector", index) for index in range(collectors)]
    if config.collector.inference == "central":
        parts.append(("inference", 0))
    with ExitStack() as stack:
        sockets = stack.enter_context(Sockets(SEGMENTS_LIMIT))
        around = StandIn(sockets, config, run, spec, players)
        children = [
            stack.enter_context(Child(_command(run, role, index), run.log(role, index))) for role, index in parts
        ]
        bench = Bench(children, around, collectors)
        bench.warm_up()
        yield bench
        go_on([child.pid for child in children])


def _command(run: RunDirectory, role: str, index: int) -> list[str]:
    words = ["-m", "launch.processes", "--run", str(run.root.resolve()), "--role", role, "--index", str(index)]
    return words + [word for package in ALLOW for word in ("--allow", package)]


def measure(case: Case, folder: Path, seconds: float, rounds: int) -> Verdict:
    """Measure one case against raw_env, in turns."""
    config = Config(
        env=case.env,
        collector=CollectorConfig(slots=case.slots, ahead=AHEAD, heartbeat=0.05),  # reports are the marks of the slices
    )
    with benched(config, RunDirectory(folder / f"{case.env.name}-{case.players}"), case.players) as bench:
        raw, found = alternate(raw_reference(), bench.measure, seconds, rounds)
    ratios = paired(raw, found, by_cpu)
    summarise(case.name, found)
    return Verdict.of(f"{case.name}: CPU, times raw_env", ratios, case.target)


def run(cases: tuple[Case, ...], folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure some cases one after the other."""
    return [measure(case, folder, seconds, rounds) for case in cases]
