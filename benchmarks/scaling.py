"""(j) Throughput against the number of collectors, each of which never waits for anybody; with a plot as text."""

import os
from pathlib import Path

from benchmarks.collecting import AHEAD, NATIVE, PETTINGZOO, benched
from benchmarks.measure import Slice, emit, summarise
from collectors.config import CollectorConfig
from collectors.envs.config import EnvConfig
from launch.config.config import Config
from league.store.run_directory import RunDirectory

COUNTS = (1, 2, 3, 4)
CASES = {"j: PettingZoo, 128 slots": (PETTINGZOO, 128), "j: native, 256 slots": (NATIVE, 256)}
BAR = 40  # characters


def measure(name: str, env: EnvConfig, slots: int, folder: Path, seconds: float, rounds: int) -> None:
    """Measure 1 to 4 collectors, in turns, so that a machine that drifts drifts for all."""
    config = Config(env=env, collector=CollectorConfig(slots=slots, ahead=AHEAD, heartbeat=0.1))
    found: dict[int, list[Slice]] = {count: [] for count in COUNTS}
    for number in range(rounds):
        for count in COUNTS:
            run = RunDirectory(folder / f"{env.name}-{count}-{number}")
            with benched(config, run, players=2, collectors=count) as bench:
                found[count].append(bench.measure(seconds))
    rates = {count: sorted(one.rate for one in slices)[len(slices) // 2] for count, slices in found.items()}
    for count, slices in found.items():
        summarise(f"{name}, {count} collectors", slices, times_one=rates[count] / rates[1], cores=os.cpu_count())
    top = max(rates.values())
    for count, rate in rates.items():
        emit(f"{name}, {count} collectors", plot="#" * round(BAR * rate / top))


def run(folder: Path, seconds: float, rounds: int) -> None:
    """Measure both games."""
    for name, (env, slots) in CASES.items():
        measure(name, env, slots, folder, seconds, rounds)
