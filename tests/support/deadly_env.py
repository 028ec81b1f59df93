"""A tiny PettingZoo game that takes its process with it, or never comes back, where it is told to."""

import atexit
import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv


def forever():
    if note := os.environ.get("DEADLY_NOTE"):
        Path(note).write_text(str(os.getpid()))
    while True:
        time.sleep(3600)


def refuse():
    raise RuntimeError("it is closed on Mondays")


def wake():
    """Come back once the stack was asked for, and hang at the next reset."""
    files = [one for one in Path("/proc/self/fd").iterdir() if os.path.realpath(one).endswith("/stack")]
    while not files[0].stat().st_size:
        pass
    Deadly.reset = lambda *_, **__: forever()


DEATHS = {
    "wakes": wake,
    "segfault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(0),
    "sys.exit": lambda: sys.exit(3),
    "hang": forever,
    "raise": refuse,
    "slow": lambda: time.sleep(0.15),
    "lingers": lambda: atexit.register(forever),
}


class Deadly(ParallelEnv):
    """Two agents, whose actions mean nothing, for three steps; `where` it dies of `how`."""

    metadata: ClassVar = {"name": "deadly_v0", "is_parallelizable": True}

    def __init__(self, how="", where="step"):
        self.how, self.where = how, where
        self.possible_agents = ["player_0", "player_1"]
        self.observation_spaces = {agent: Box(0.0, 3.0, (1,), np.float32) for agent in self.possible_agents}
        self.action_spaces = {agent: Discrete(2) for agent in self.possible_agents}
        self.at("build")

    def at(self, place):
        if self.how and self.where == place:
            DEATHS[self.how]()

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        self.at("reset")
        self.time, self.agents = 0, list(self.possible_agents)
        return self.look(), {agent: {} for agent in self.agents}

    def look(self):
        return {agent: np.array([self.time], np.float32) for agent in self.possible_agents}

    def step(self, actions):
        self.at("step")
        self.time += 1
        over, never = (dict.fromkeys(self.possible_agents, end) for end in (self.time == 3, False))
        self.agents = [] if self.time == 3 else self.agents
        return self.look(), dict.fromkeys(self.possible_agents, 0.0), over, never, {a: {} for a in self.possible_agents}

    def close(self):
        self.at("close")
