"""A tiny PettingZoo game that breaks as it is told: for tests that start real processes."""

import ctypes
import time
from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv

WELL = 400  # first steps of a process: more than the trial before a run takes


class Faulty(ParallelEnv):
    """Two agents bid 0 or 1; the higher bid wins a point. Each fault happens with its own chance in a step.

    The first steps of a process go well: a league can be started.
    """

    steps = 0
    metadata: ClassVar = {"name": "faulty_v0", "is_parallelizable": True}

    def __init__(self, raises=0.0, hangs=0.0, crashes=0.0, length=5):
        self.possible_agents = ["player_0", "player_1"]
        self.chances = {"raises": raises, "hangs": hangs, "crashes": crashes}
        self.length = length
        self.observation_spaces = {a: Box(0.0, 1.0, (2,), np.float32) for a in self.possible_agents}
        self.action_spaces = {a: Discrete(2) for a in self.possible_agents}

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        self.rng = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.time = 0
        return self._look(), {a: {} for a in self.agents}

    def _look(self):
        return {a: np.array([self.time / self.length, i], np.float32) for i, a in enumerate(self.agents)}

    def step(self, actions):
        draw = np.random.default_rng().random()  # not from the seed: a ticket that is tried again may pass
        Faulty.steps += 1
        draw = 1.0 if Faulty.steps < WELL else draw
        if draw < self.chances["raises"]:
            raise RuntimeError("the faulty game raises, as it was told")
        if draw < self.chances["raises"] + self.chances["hangs"]:
            time.sleep(3600)
        if draw < sum(self.chances.values()):
            ctypes.string_at(0)
        self.time += 1
        bids = [int(actions[a]) for a in self.possible_agents]
        gain = float(np.sign(bids[0] - bids[1]))
        over = self.time >= self.length
        observations = self._look()
        rewards = dict(zip(self.possible_agents, (gain, -gain), strict=True))
        ends = dict.fromkeys(self.possible_agents, over)
        if over:
            self.agents = []
        return observations, rewards, ends, dict.fromkeys(self.possible_agents, False), {a: {} for a in rewards}


def env(**chances):
    return Faulty(**chances)
