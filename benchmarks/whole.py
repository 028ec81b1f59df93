"""(f) The whole league, `launch=local`: coordinator, learner and collectors as processes, training included.

All processes of the league are stopped while a reference is measured, and go on for the next slice.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.children import cpu_of, go_on, pause
from benchmarks.collecting import NATIVE, PETTINGZOO
from benchmarks.learning import update_reference
from benchmarks.measure import Measure, Slice, Verdict, alternate, by_wall, paired, summarise
from benchmarks.raw import raw_reference
from collectors.config import CollectorConfig
from collectors.envs.config import EnvConfig
from launch.config.compose import compose
from launch.config.config import Config, LaunchConfig, to_plain
from launch.config.env_spec import describe_environment
from launch.processes.supervisor import Supervisor
from launch.topology.endpoints import Endpoints
from launch.topology.parts import topology
from launch.viewers.view import Viewer
from league.promotion import PromotionConfig
from league.rulebook import LeagueConfig, PlayerConfig
from league.store.run_directory import RunDirectory
from league.wire.messages import Role, Worker
from league.wire.sockets import PAGE_LIMIT
from learners.config import LearnerConfig

WARM_UP = 8.0  # seconds from the first trained batch on
PATIENCE = 60.0  # seconds until it must have come
LOOK = 0.05  # seconds between two looks at the league
LONGER = 4  # a slice of the league is as many times longer than one of its reference
DROPPED = ("dropped_stale", "dropped_full", "dropped_incarnation")


@dataclass(frozen=True, slots=True)
class Case:
    """One league: its game, how many collectors with how many slots (0: as many as cores)."""

    name: str
    env: EnvConfig
    collectors: int
    slots: int


F_PETTINGZOO = Case("f: league on PettingZoo", PETTINGZOO, 0, 128)
F_NATIVE = Case("f: league on the native game", NATIVE, 1, 128)


def configure(case: Case) -> Config:
    """Return the league of alphastar with the default PPO: 4096 decisions, minibatch 512, 4 epochs."""
    players = {
        "main": PlayerConfig(kind="main", rate=0.6),
        "main_exploiter": PlayerConfig(kind="main_exploiter", rate=0.2),
        "league_exploiter": PlayerConfig(kind="league_exploiter", rate=0.2),
        "random": PlayerConfig(kind="scripted", bot="random", anchor=0.0),
    }
    promotion = PromotionConfig(min_decisions=20_000, max_decisions=32_768)  # soon enough for a short run
    return Config(
        env=case.env,
        league=LeagueConfig(players=players, kinds=compose(["experiment=null"]).league.kinds, promotion=promotion),
        collector=CollectorConfig(slots=case.slots, heartbeat=0.25),  # more often than usual: it is what we see
        learner=LearnerConfig(heartbeat=0.25, candidate_decisions=32_768),
        launch=LaunchConfig(collectors=case.collectors),
    )


@dataclass(slots=True)
class Curve:
    """A counter that a process reports: when it had which value."""

    marks: list[tuple[float, float]] = field(default_factory=list)

    def mark(self, now: float, value: float) -> None:
        """Note the value if it has changed."""
        if not self.marks or value != self.marks[-1][1]:
            self.marks.append((now, value))

    @property
    def rate(self) -> float:
        """Growth in a second. The first value is old news, of a time unknown, and stays out."""
        if len(self.marks) < 3:
            return 0.0
        (start, first), (end, last) = self.marks[1], self.marks[-1]
        return max(0.0, last - first) / (end - start)


class League:
    """A league of processes that plays only while it is measured."""

    def __init__(self, supervisor: Supervisor, viewer: Viewer) -> None:
        self._supervisor, self._viewer = supervisor, viewer

    def warm_up(self) -> None:
        """Wait until it trains, and a little longer; then stop it."""
        deadline = time.perf_counter() + PATIENCE
        while not any(trained(worker) for worker in self._look()):
            if time.perf_counter() > deadline:
                raise RuntimeError(f"the league trained nothing in {PATIENCE:g} s: see its logs")
        end = time.perf_counter() + WARM_UP
        while time.perf_counter() < end:
            self._look()
        pause(self._supervisor.alive())

    def measure(self, seconds: float) -> Slice:
        """Let it go on for some time."""
        pids = self._supervisor.alive()
        go_on(pids)
        curves: dict[str, Curve] = {}
        seen: list[Worker] = []
        start, cpu = time.perf_counter(), cpu_of(pids)
        while time.perf_counter() < start + LONGER * seconds:
            for worker in self._look():
                seen.append(worker)
                for name, value in counters(worker).items():
                    curves.setdefault(name, Curve()).mark(time.perf_counter(), value)
        wall, cpu = time.perf_counter() - start, cpu_of(pids) - cpu
        pause(pids)
        return Slice(_total(curves, "env_steps") * wall, wall, cpu, _more(curves, seen))

    def _look(self) -> Sequence[Worker]:
        time.sleep(LOOK)
        self._supervisor.poll()
        self._viewer.refresh(5.0)
        return self._viewer.workers

    @property
    def frozen(self) -> int:
        """How many frozen players there are."""
        return len(self._viewer.state.population.frozen())


def trained(worker: Worker) -> float:
    """Return on how many decisions a learner has trained, all its players together."""
    return sum(value for name, value in worker.metrics.items() if name.endswith("/decisions"))


def counters(worker: Worker) -> dict[str, float]:
    """Return what grows: env steps of a collector, trained and dropped decisions."""
    if worker.role == Role.COLLECTOR:
        names = {"env_steps": "env_steps", "dropped_decisions": "dropped"}
        return {f"{worker.name}/{to}": worker.metrics[name] for name, to in names.items() if name in worker.metrics}
    dropped = sum(value for name, value in worker.metrics.items() if name.endswith(DROPPED))
    return {f"{worker.name}/trained": trained(worker), f"{worker.name}/dropped": dropped}


def _total(curves: dict[str, Curve], counter: str) -> float:
    return sum(curve.rate for name, curve in curves.items() if name.endswith(f"/{counter}"))


def _more(curves: dict[str, Curve], workers: Sequence[Worker]) -> dict[str, float]:
    learned, dropped = _total(curves, "trained"), _total(curves, "dropped")
    return {
        "trained_decisions_per_second": learned,
        "dropped_share": dropped / max(learned + dropped, 1e-9),
        "collectors_wait": _mean(workers, Role.COLLECTOR, "wait_share"),
        "learner_wait": _mean(workers, Role.LEARNER, "wait_share"),
        "lag_of_main": _mean(workers, Role.LEARNER, "player/main/lag_mean"),
    }


def _mean(workers: Sequence[Worker], role: Role, metric: str) -> float:
    """Return the mean of a metric over all looks at the processes of a role that told it."""
    told = [worker.metrics[metric] for worker in workers if worker.role == role and metric in worker.metrics]
    return sum(told) / max(len(told), 1)


def measure(case: Case, reference: Measure, folder: Path, seconds: float, rounds: int) -> tuple[list[Slice], ...]:
    """Return the slices of a reference and of a league, in turns."""
    config = configure(case)
    run = RunDirectory(folder / f"league-{case.env.name}").create()
    run.write_config(to_plain(config))
    describe_environment(config, run, ())
    doors = Endpoints(run, "viewer", config.launch.transport, PAGE_LIMIT)
    with doors, Supervisor(run, topology(config)) as supervisor:
        league = League(supervisor, Viewer(doors.replica(), config.league))
        league.warm_up()
        before, found = alternate(reference, league.measure, seconds, rounds)
        go_on(supervisor.alive())
    if not league.frozen:
        raise RuntimeError(f"{case.name}: nobody was frozen, so this was no league; give it more --seconds or --rounds")
    summarise(case.name, found, frozen_players=league.frozen)
    return before, found


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure both leagues: one against raw_env, one against updates alone."""
    raw, zoo = measure(F_PETTINGZOO, raw_reference(), folder, seconds, rounds)
    updates, native = measure(F_NATIVE, update_reference(), folder, seconds, rounds)
    learned = [Slice(one.more["trained_decisions_per_second"] * one.wall, one.wall, one.cpu) for one in native]
    return [
        Verdict.of(f"{F_PETTINGZOO.name}: env steps/s, times raw_env", paired(raw, zoo, by_wall), 0.8),
        Verdict.of(f"{F_NATIVE.name}: trained decisions/s, times (e)", paired(updates, learned, by_wall), 0.75),
        Verdict.of(f"{F_PETTINGZOO.name}: share of time that collectors do not wait", _busy(zoo, "collectors"), 0.97),
        Verdict.of(f"{F_NATIVE.name}: share of time that the learner does not wait", _busy(native, "learner"), 0.97),
    ]


def _busy(slices: Sequence[Slice], who: str) -> list[float]:
    """Return the share of time that the bottleneck of a league did not wait: nobody else may make it."""
    return [1 - one.more[f"{who}_wait"] for one in slices]
