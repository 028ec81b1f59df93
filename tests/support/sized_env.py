"""A race on a board of any size, with any number of runners: what differs between variants of one game."""

from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv


class SizedRace(ParallelEnv):
    """Whoever jumps furthest in total wins; a jump is at most `size`, and longer ones stumble now and then."""

    metadata: ClassVar = {"name": "sized_race_v0", "render_modes": []}
    render_mode = None

    def __init__(self, size=3, runners=2, dtype="float32"):
        self.size, self.dtype = size, dtype
        self.possible_agents = [f"runner_{number}" for number in range(runners)]

    def observation_space(self, agent):
        return Box(0, 100, (self.size, 2), np.dtype(self.dtype).type)

    def action_space(self, agent):
        return Discrete(self.size)

    def reset(self, seed=None, options=None):
        self.rng, self.agents, self.left = np.random.default_rng(seed), list(self.possible_agents), 3
        return self._look(), {agent: {} for agent in self.agents}

    def _look(self):
        seen = self.rng.integers(1, 9, (self.size, 2)).astype(self.dtype)
        return dict.fromkeys(self.agents, seen)

    def step(self, actions):
        self.left -= 1
        jumps = {agent: float(action) * (self.rng.random() > 0.3) for agent, action in actions.items()}
        mean = sum(jumps.values()) / len(jumps)
        rewards = {agent: jump - mean for agent, jump in jumps.items()}
        seen, over = self._look(), dict.fromkeys(self.agents, self.left == 0)
        never, infos = dict.fromkeys(self.agents, False), {agent: {} for agent in self.agents}
        self.agents = self.agents if self.left else []
        return seen, rewards, over, never, infos
