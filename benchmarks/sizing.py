"""How many collectors feed one learner: the rule of docs/slurm.md, held against leagues of several sizes.

    python -m benchmarks.sizing --collectors 2,4,8,12 --seconds 40 --step 0.01 --epochs 64

The environment takes its time for each step, as a simulator does, but no core: so one machine can play the part of
many. Prints a JSON line for each league: wait shares, u, d, and the number of collectors that the rule gives.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import ClassVar

import gymnasium
import numpy as np
from pettingzoo import ParallelEnv

from benchmarks.measure import emit
from launch.config.compose import compose
from launch.config.config import Config, to_plain
from launch.config.env_spec import describe_environment
from launch.processes.supervisor import Supervisor
from launch.topology.endpoints import Endpoints
from launch.topology.parts import topology
from launch.viewers.view import Viewer, read_offline
from league.store.run_directory import RunDirectory
from league.wire.sockets import PAGE_LIMIT

LENGTH, BATCH = 32, 256
PATIENCE = 240.0
ALLOW = ["benchmarks"]


class Slow(ParallelEnv):
    """A guessing game of two, in which every step takes some time."""

    metadata: ClassVar = {"name": "slow_v0"}
    possible_agents: ClassVar = ["a", "b"]

    def __init__(self, step: float = 0.005):
        self.wait = step

    def observation_space(self, agent):
        return gymnasium.spaces.Box(-1, 1, (16,), np.float32)

    def action_space(self, agent):
        return gymnasium.spaces.Discrete(4)

    def reset(self, seed=None, options=None):
        self.rng, self.agents, self.count = np.random.default_rng(seed), list(self.possible_agents), 0
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions):
        time.sleep(self.wait)
        self.count += 1
        won = float(np.sign(actions["a"] - actions["b"]))
        over = self.count == LENGTH
        told = dict.fromkeys(self.agents, over)
        infos = {agent: {} for agent in self.agents}
        seen, rewards = self._seen(), {"a": won, "b": -won}
        if over:
            self.agents = []
        return seen, rewards, told, dict.fromkeys(told, False), infos

    def _seen(self):
        return {agent: self.rng.uniform(-1, 1, 16).astype(np.float32) for agent in self.possible_agents}


def env(**options):
    return Slow(**options)


class Shares:
    """A watcher that keeps what learners and collectors measured."""

    def __init__(self):
        self.rows = []

    def before(self, seq, event, state):
        pass

    def event(self, seq, event, state):
        pass

    def metrics(self, row, state):
        self.rows.append(row)

    def mean(self, role: str, key: str, since: float) -> float:
        values = [
            row.values[key]
            for row in self.rows
            if row.source.startswith(role) and row.elapsed > since and key in row.values
        ]
        return statistics.mean(values)


def configure(collectors: int, step: float, epochs: int) -> Config:
    return compose(
        [
            "env=pettingzoo", "env.id=benchmarks.sizing:env", f"env.kwargs.step={step}", "experiment=null",
            "league=selfplay", "policy.hidden=[256,256]", f"algo.batch={BATCH}", f"algo.epochs={epochs}",
            "collector.slots=4", "league.budget.minutes=60", f"launch.collectors={collectors}",
        ]
    )  # fmt: skip


def league(folder: Path, collectors: int, seconds: float, step: float, epochs: int) -> None:
    """Play for some seconds after the first updates, and print what everybody measured."""
    config = configure(collectors, step, epochs)
    run = RunDirectory(folder).create()
    run.write_config(to_plain(config))
    describe_environment(config, run, ALLOW)
    with (
        Endpoints(run, "viewer", "ipc", PAGE_LIMIT) as doors,
        Supervisor(run, topology(config), ALLOW, warn=print) as supervisor,
    ):
        viewer = Viewer(doors.replica(), config.league)
        deadline = time.monotonic() + PATIENCE
        while not any(worker.metrics.get("updates_per_second") for worker in viewer.workers):
            supervisor.poll()
            viewer.refresh(0.5)
            assert time.monotonic() < deadline, f"no play: see {run.logs}"
        begun, end = viewer.elapsed, time.monotonic() + seconds
        while time.monotonic() < end:
            viewer.refresh(0.5)
            time.sleep(0.5)
    watched = Shares()
    read_offline(run, watcher=watched)
    learner = watched.mean("learner", "wait_share", begun)
    collector = watched.mean("collector", "wait_share", begun)
    trained = watched.mean("learner", "updates_per_second", begun) * BATCH
    u, d = trained / (1 - learner), trained / collectors / (1 - collector)
    emit("sizing", collectors=collectors, learner_waits=learner, collectors_wait=collector, u=u, d=d, rule=u / d)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing", description=__doc__)
    parser.add_argument("--collectors", default="1,2,4,8")
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--step", type=float, default=0.005, help="seconds that a step of the environment takes")
    parser.add_argument("--epochs", type=int, default=8, help="more of them make a slower learner")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for count in map(int, arguments.collectors.split(",")):
            league(Path(folder) / str(count), count, arguments.seconds, arguments.step, arguments.epochs)


if __name__ == "__main__":
    main()
