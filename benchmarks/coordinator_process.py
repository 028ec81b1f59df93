"""A coordinator as `launch.processes` runs it, which says at its end how often it committed.

python -m benchmarks.coordinator_process RUN REPORT [PROFILE]
"""

import cProfile
import json
import sys
import time
from pathlib import Path

from launch.config.config import from_plain
from launch.processes.build import Composition
from launch.processes.context import StopFlag, die_with_parent
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory
from league.wire.sockets import Sockets


def serve(run: RunDirectory, report: Path, stop: StopFlag) -> None:
    """Serve until SIGTERM."""
    with Sockets() as sockets:
        server = sockets.serve(run.address("coordinator"))
        config = from_plain(run.read_config())
        service = Composition(config, run, time.monotonic).coordinator(Ledger.open(run.ledger), server)
        while not stop.asked:
            service.step(0.05)
        state = service.coordinator.state
        told = {
            "commits": service.commits,
            "results": sum(state.results.values()),
            "frozen": len(state.population.frozen()),
        }
        report.write_text(json.dumps(told))
        service.close()


def main() -> None:
    """Serve, and write a profile if one is asked for."""
    stop = StopFlag()
    die_with_parent()
    run, report = RunDirectory(Path(sys.argv[1])).check(), Path(sys.argv[2])
    if len(sys.argv) < 4:
        serve(run, report, stop)
        return
    profile = cProfile.Profile(time.thread_time)
    profile.runcall(serve, run, report, stop)
    profile.dump_stats(sys.argv[3])


if __name__ == "__main__":
    main()
