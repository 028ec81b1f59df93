"""Games for a Python of their own that end it, hang in it, print and fork, and an order to play them there."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from gymnasium.spaces import Box
from odd_envs import OddParallel

HERE = str(Path(__file__).parent)


class Misbehaving(OddParallel):
    """In its second tick, in episodes with odd seeds, it does what `how` says."""

    def __init__(self, how="not", note=""):
        super().__init__(agents=2)
        self.how, self.note = how, note

    def reset(self, seed=None, options=None):
        self.seed = seed
        if self.note:
            Path(self.note).write_text(str(os.getpid()))
        return super().reset(seed, options)

    def step(self, actions):
        if self.tick == 1 and self.seed % 2:
            getattr(self, self.how)()
        return super().step(actions)

    def crash(self):
        ctypes.string_at(0)

    def leave(self):
        os._exit(7)

    def exit(self):
        sys.exit("enough")

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(self):
        time.sleep(1000)

    def hold(self):
        sum(range(10**15))  # in C, which lets no other thread run

    def garble(self):
        os.write(int(sys.argv[1]), b"what is this? " * 8)

    def claim(self):
        os.write(int(sys.argv[1]), b"\xff\xff\xff\xff")

    def shout(self):
        for _ in range(64):
            print("x" * (1 << 16))

    def chat(self):
        print("hi")
        for _ in range(5):
            print("x" * 10_000)

    def fork_and_die(self):
        if os.fork():
            self.die()
        time.sleep(1000)

    def misstate(self):
        os.write(int(sys.argv[1]), b"\x02\x00\x00\x0042")


class Crashing(OddParallel):
    """Cannot be built."""

    def __init__(self):
        ctypes.string_at(0)


class Judged(OddParallel):
    """Names its winner in numpy, beside things that JSON does not know."""

    def step(self, actions):
        seen, rewards, terminations, truncations, infos = super().step(actions)
        who = self.possible_agents[int(self.noise.integers(3))]
        odd = {
            "about": {1, 2},
            "board": np.ones((2, 2)),
            "large": np.ones(5000),
            "code": Box,
            "nested": [(np.float32(1),)],
        }
        return seen, rewards, terminations, truncations, {agent: {"winner": who, **odd} for agent in infos}


class Large(OddParallel):
    """Its infos are too large to travel, but for the winner."""

    def step(self, actions):
        seen, rewards, terminations, truncations, infos = super().step(actions)
        return (
            seen,
            rewards,
            terminations,
            truncations,
            {agent: {"winner": agent == "runner_1", "log": "x" * 99999} for agent in infos},
        )


class Unshown:
    """An object that has no text."""

    def __repr__(self):
        raise RuntimeError("no text")


class Informing(OddParallel):
    """Its last infos are what `how` says: objects that have no text, arrays, or what JSON refuses."""

    def __init__(self, how):
        super().__init__(agents=2)
        self.how = how

    def step(self, actions):
        seen, rewards, terminations, truncations, infos = super().step(actions)
        last = {
            "unshown": {"winner": "runner_1", "odd": [Unshown()], Unshown(): 1},
            "winner": {"winner": Unshown()},
            "array": np.arange(3),
            "huge": {"winner": "runner_1", "count": 10**5000},
        }
        return seen, rewards, terminations, truncations, dict.fromkeys(infos, last[self.how])


class Pictured(OddParallel):
    """Renders pictures and has a state."""

    metadata = {"name": "pictured_v0", "render_modes": ["rgb_array", "ansi"]}  # noqa: RUF012

    def __init__(self, render_mode=None):
        super().__init__(agents=2)
        self.render_mode = render_mode
        self.state_space = Box(0, 100, (2,), np.float64)

    def state(self):
        return np.array([self.tick, 7.0])

    def render(self):
        if self.render_mode == "ansi":
            return f"tick {self.tick}"
        return np.full((4, 6, 3), self.tick, np.uint8)[:, ::-1]


class Changing(OddParallel):
    """Has other agents whenever the file that it is given exists."""

    def __init__(self, file):
        super().__init__(agents=3 if Path(file).exists() else 2)

    def step(self, actions):
        os._exit(1)


class PaysTheDead(OddParallel):
    """Its first runner ends in the first tick and is paid later; the last one never takes part."""

    def __init__(self):
        super().__init__(agents=3, ticks=3, script={1: {"runner_0": "terminated"}}, born={99: ["runner_2"]})

    def step(self, actions):
        seen, rewards, terminations, truncations, infos = super().step(actions)
        paid = {"runner_0": 10.0} if self.tick == 3 else {}
        return seen, {**rewards, **paid}, terminations, truncations, infos
