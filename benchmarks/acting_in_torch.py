"""(n) The same network in numpy and in torch: a collector on the native game, with `collector.act_in` of both kinds."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from benchmarks.collecting import AHEAD, NATIVE, benched
from benchmarks.measure import Verdict, alternate, by_cpu, by_wall, paired, summarise
from collectors.config import CollectorConfig
from launch.config.config import Config
from league.store.run_directory import RunDirectory

SLOTS, LEAST = 256, 0.5


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure both in turns, with two players and with eight."""
    verdicts = []
    for players in (2, 8):
        collector = CollectorConfig(slots=SLOTS, ahead=AHEAD, heartbeat=0.05)
        with ExitStack() as stack:
            benches = []
            for kind in ("numpy", "torch"):
                config = Config(env=NATIVE, collector=replace(collector, act_in=kind))
                bench = stack.enter_context(benched(config, RunDirectory(folder / f"{kind}-{players}"), players))
                benches.append(bench.measure)
            numpy, torch = alternate(*benches, seconds, rounds)
        name = f"n: Connect Four, mlp, {players} players"
        summarise(f"{name}, numpy", numpy)
        summarise(f"{name}, torch", torch)
        for measure, speed in (("wall", by_wall), ("CPU", by_cpu)):
            runs = paired(numpy, torch, speed)
            verdicts.append(Verdict.of(f"{name}: torch, times numpy, {measure}", runs, LEAST))
    return verdicts
