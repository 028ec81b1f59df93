"""How long a league of one seat takes to reach a return: real processes on this machine, by the clock on the wall.

    python -m benchmarks.reaching experiment=pong --score 17 --seeds 3

Prints a JSON line at each point of the curve, and one when the mean return of the newest training episodes, as they
were played (sampled, by weights that were still learning), has reached the score. Time counts from the start of the
first process, so that starting up is part of it.
"""

import argparse
import tempfile
import time
from collections import deque
from pathlib import Path

import numpy as np

from benchmarks.measure import emit
from launch.config.compose import compose
from launch.config.config import to_plain
from launch.config.env_spec import describe_environment
from launch.processes.supervisor import Supervisor
from launch.topology.endpoints import Endpoints
from launch.topology.parts import topology
from launch.viewers.view import Viewer
from league.events import ResultCounted, TicketIssued
from league.state import OVER
from league.store.run_directory import RunDirectory
from league.ticket import Purpose
from league.wire.sockets import PAGE_LIMIT


class Returns:
    """The returns of the newest training episodes."""

    def __init__(self, episodes: int):
        self.newest = deque(maxlen=episodes)
        self._evaluations = set()

    def see(self, seq, event, state):
        if isinstance(event, TicketIssued) and event.ticket.purpose == Purpose.EVALUATE:
            self._evaluations.add(event.ticket.number)
        if isinstance(event, ResultCounted) and event.ticket not in self._evaluations:
            self.newest.extend(episode.returns[0] for episode in event.episodes)

    @property
    def mean(self) -> float:
        return float(np.mean(self.newest)) if self.newest else float("nan")


def reach(folder: Path, overrides: list[str], seed: int, score: float, episodes: int, allow: list[str], every: float):
    """Play until the score is reached or the budget is spent; print the curve."""
    config = compose([*overrides, f"seed={seed}"], allow)
    run = RunDirectory(folder).create()
    run.write_config(to_plain(config))
    describe_environment(config, run, allow)
    returns, began, told = Returns(episodes), time.monotonic(), 0.0
    with (
        Endpoints(run, "viewer", "ipc", PAGE_LIMIT) as doors,
        Supervisor(run, topology(config), allow, warn=print) as supervisor,
    ):
        viewer = Viewer(doors.replica(), config.league, returns.see)
        while True:
            supervisor.poll()
            viewer.refresh(0.5)
            seconds = time.monotonic() - began
            reached = len(returns.newest) == episodes and returns.mean >= score
            if seconds - told >= every or reached:
                told = seconds
                waits = {w.name: w.metrics.get("wait_share") for w in viewer.workers if "wait_share" in w.metrics}
                emit(
                    "curve",
                    seed=seed,
                    seconds=seconds,
                    decisions=viewer.state.env_steps,
                    mean=returns.mean,
                    waits=waits,
                )
            if reached or viewer.state.phase == OVER:
                break
            time.sleep(0.5)
        emit("reached" if reached else "missed", seed=seed, seconds=seconds, decisions=viewer.state.env_steps)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reaching", description=__doc__.splitlines()[0])
    parser.add_argument("overrides", nargs="*", help="as for ludus run: experiment=pong, algo.lr=...")
    parser.add_argument("--score", type=float, required=True, help="the mean return to reach")
    parser.add_argument("--episodes", type=int, default=20, help="newest training episodes that count")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two points of the curve")
    parser.add_argument("--allow", action="append", default=[])
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(told.first, told.first + told.seeds):
            path = Path(folder) / f"seed{seed}"
            reach(path, told.overrides, seed, told.score, told.episodes, told.allow, told.every)


if __name__ == "__main__":
    main()
