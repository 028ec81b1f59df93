"""What `env.python` costs: the same game in this process and in another one, in turns.

python -m benchmarks.other_python                                  # in another process of this Python
python -m benchmarks.other_python --python OTHER_VENV/bin/python   # or of another one
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from benchmarks.children import ONE_THREAD

os.environ.update(ONE_THREAD)  # before anything imports numpy

import numpy as np

from benchmarks.burning_game import Burning, burn
from benchmarks.measure import Slice, Verdict, alternate, by_cpu, by_wall, paired, summarise
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.other_python.far_environment import FarEnvironment
from collectors.envs.other_python.far_order import FarOrder, opening_of
from collectors.envs.rows import Environment
from collectors.players.bots import RandomBot

SLOTS, STEP_MICROSECONDS, LEAST = 32, 50.0, 0.7


def calibrated(microseconds: float) -> int:
    """Return how much work takes that long, by the fastest of many trials."""
    work = 1000
    best = min(_seconds(work) for _ in range(200))
    return round(work * microseconds * 1e-6 / best)


def _seconds(work: int) -> float:
    begin = time.perf_counter()
    burn(work)
    return time.perf_counter() - begin


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of another process."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class RandomPlay:
    """Random play in an environment that goes on from slice to slice."""

    def __init__(self, env: Environment, more_cpu: Callable[[], float]) -> None:
        self.env, self.more_cpu = env, more_cpu
        self.rng, self.bot = np.random.default_rng(0), RandomBot(env.spec)
        self.begun = env.slots
        env.start(np.arange(env.slots), np.arange(env.slots))

    def measure(self, seconds: float) -> Slice:
        """Play for a while; CPU time is that of both processes."""
        steps, begin, cpu = 0, time.perf_counter(), time.process_time() + self.more_cpu()
        while time.perf_counter() - begin < seconds:
            rows = self.env.rows()
            ends = self.env.step(self.bot.act(rows.observation, rows.mask, self.rng)[0])
            assert not ends.faults
            self.env.start(ends.over, self.begun + np.arange(len(ends.over)))
            self.begun += len(ends.over)
            steps += len(rows)
        return Slice(steps, time.perf_counter() - begin, time.process_time() + self.more_cpu() - cpu)


def run(seconds: float, rounds: int, python: str = sys.executable) -> list[Verdict]:
    """Measure both in turns."""
    work = calibrated(STEP_MICROSECONDS)
    opening = opening_of("benchmarks.burning_game:Burning", {"work": work}, [], allow=["benchmarks"])
    order = FarOrder(python, "burning", opening)
    with (
        closing(adapt(lambda: Burning(work), SLOTS, name="burning")) as near,
        closing(FarEnvironment(order, SLOTS)) as far,
    ):
        assert far.pid is not None
        pid = far.pid
        here, there = RandomPlay(near, lambda: 0.0), RandomPlay(far, lambda: cpu_of(pid))
        before, found = alternate(here.measure, there.measure, seconds, rounds)
    name = f"{STEP_MICROSECONDS:g} us a step, {SLOTS} slots"
    summarise(f"{name}, in this process", before)
    summarise(f"{name}, in another Python", found)
    return [
        Verdict.of(f"{name}: another Python, times this process, {measure}", paired(before, found, speed), LEAST)
        for measure, speed in (("wall", by_wall), ("CPU", by_cpu))
    ]


def main() -> None:
    """Print the figures as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    for verdict in run(arguments.seconds, arguments.rounds, arguments.python):
        verdict.tell()


if __name__ == "__main__":
    main()
