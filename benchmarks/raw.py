"""(a) PettingZoo's connect_four_v3 alone, random legal play on one core: the yardstick of most other figures."""

import time
from typing import Any

import numpy as np
from pettingzoo.classic.connect_four import connect_four

from benchmarks.measure import Measure, Slice, alternate, summarise, timed


def play(env: Any, rng: np.random.Generator, until: float) -> int:
    """Play random legal moves until the time is up; return how many."""
    steps = 0
    while time.perf_counter() < until:
        env.reset(seed=0)
        while True:
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                break
            legal = np.flatnonzero(seen["action_mask"])
            env.step(int(legal[rng.integers(len(legal))]))
            steps += 1
    return steps


def measure_of(env: Any, rng: np.random.Generator) -> Measure:
    """Return the function that measures one slice of an environment."""

    def measure(seconds: float) -> Slice:
        return timed(lambda until: play(env, rng, until), seconds)

    return measure


def raw_reference() -> Measure:
    """Return the reference that most targets name: `raw_env`, without PettingZoo's checking wrappers."""
    return measure_of(connect_four.raw_env(), np.random.default_rng(0))


def run(seconds: float, rounds: int) -> None:
    """Measure `env()` and `raw_env()` in turns."""
    wrapped = measure_of(connect_four.env(), np.random.default_rng(1))
    raw, checked = alternate(raw_reference(), wrapped, seconds, rounds)
    summarise("a: connect_four_v3 raw_env()", raw)
    summarise("a: connect_four_v3 env()", checked)
