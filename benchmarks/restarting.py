"""(l) A league of a million results: how long a start takes, a look at it, and a fold without a checkpoint.

    python -m benchmarks --only l --rounds 5
    python -m benchmarks.restarting runs/big --rounds 5     # of a run that `benchmarks.ledgers` made

Each start and each command is a process of its own, imports included. The reference is a process that imports sqlite3
and reads the last page of the same ledger: less than that nobody can do. They take turns.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.ledgers import make_run
from benchmarks.measure import Slice, Verdict, emit
from coordinator.opening import refold
from launch.viewers.view import read_rules
from league.store.ledger import open_copy
from league.store.run_directory import RunDirectory

RESULTS, PLAYERS = 1_000_000, 300
FAST = 100_000  # results that are folded in a second of CPU, at least
SOON = 1.0  # seconds that a start or a look may take
FOLDS = 3  # a fold of everything takes long
PAGE = 1000  # events

BARE = f"""
import sqlite3, sys
ledger = sqlite3.connect(f"file:{{sys.argv[1]}}?mode=ro&immutable=1", uri=True)
print(len(ledger.execute("select seq, body from events order by seq desc limit {PAGE}").fetchall()))
"""
START = """
import sys, time
from pathlib import Path
from coordinator.coordinator import Coordinator
from coordinator.opening import open_league
from coordinator.service import Service
from launch.config.env_spec import read_spec
from launch.config.config import from_plain
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.wire.in_memory import Exchange
run = RunDirectory(Path(sys.argv[1]))
config, ledger = from_plain(run.read_config()), Ledger.open(run.ledger)
state = open_league(ledger, config.league, config.seed, read_spec(run), run.config_hash(), run.fold)
server = Exchange().server("coordinator")
service = Service(Coordinator(state, ["learner-0"], 0.0), ledger, server, time.monotonic, checkpoint=run.fold)
service.step(0.0)
ledger.close()
"""


def commands(run: RunDirectory) -> dict[str, list[str]]:
    """Return what is measured: a coordinator up to its first answer, and the commands that look at a run."""
    ludus = [sys.executable, "-m", "launch"]
    looks = {f"ludus {name}": [*ludus, name, str(run.root)] for name in ("status", "standings", "payoff", "matches")}
    return {"start of a coordinator": [sys.executable, "-c", START, str(run.root)], **looks}


def measure(command: Sequence[str]) -> Slice:
    """Run a process to its end."""
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Slice(1, seconds, cpu)


def measure_run(run: RunDirectory, rounds: int) -> list[Verdict]:
    """Measure a run that has a checkpoint."""
    emit("l: run", ledger_megabytes=run.ledger.stat().st_size / 1e6, checkpoint_megabytes=run.fold.stat().st_size / 1e6)
    verdicts = []
    bare = [sys.executable, "-c", BARE, str(run.ledger)]
    for name, command in commands(run).items():
        measure(command)  # files are in memory from here on, for all
        pairs = [(measure(bare), measure(command)) for _ in range(rounds)]
        walls, cpus = ([getattr(found, kind) for _, found in pairs] for kind in ("wall", "cpu"))
        emit(
            f"l: {name}",
            wall_seconds=statistics.median(walls),
            cpu_seconds=statistics.median(cpus),
            last_page_wall_seconds=statistics.median(reference.wall for reference, _ in pairs),
            last_page_cpu_seconds=statistics.median(reference.cpu for reference, _ in pairs),
            cpu_times_last_page=statistics.median(found.cpu / reference.cpu for reference, found in pairs),
        )
        verdicts.append(Verdict.of(f"l: {name}, 1 s over its CPU time", [SOON / cpu for cpu in cpus], 1.0))
    return [*verdicts, measure_fold(run, min(rounds, FOLDS))]


def measure_fold(run: RunDirectory, rounds: int) -> Verdict:
    """Fold everything, without a checkpoint; the reference reads every row and does nothing with it."""
    rates, costs = [], []
    with open_copy(run.ledger) as ledger:
        for _ in range(rounds):
            begun = time.process_time()
            since = 0
            while page := ledger.read(since, PAGE):
                since = page[-1][0]
            middle = time.process_time()
            results = sum(refold(ledger, read_rules(run)).results.values())
            spent = time.process_time() - middle
            rates.append(results / spent)
            costs.append(spent / (middle - begun))
    emit("l: refold", results_per_cpu_second=statistics.median(rates), times_reading_all_rows=statistics.median(costs))
    return Verdict.of("l: refold, results per CPU second over 100,000", [rate / FAST for rate in rates], 1.0)


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Make a league of a million results and measure it."""
    return measure_run(make_run(folder / "million", RESULTS, PLAYERS), rounds)


def main() -> None:
    """Measure a run that was made before."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restarting", description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for verdict in measure_run(RunDirectory(arguments.root), arguments.rounds):
        verdict.tell()


if __name__ == "__main__":
    main()
