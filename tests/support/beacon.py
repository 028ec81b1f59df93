"""The smallest game for four: each sees a beacon of three, and earns 1 by naming it; blind ones earn by luck."""

from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv


class Beacon(ParallelEnv):
    """Eight rounds for all players at once."""

    metadata: ClassVar = {"name": "beacon_v0", "render_modes": []}
    render_mode = None

    def __init__(self, players=4):
        self.possible_agents = [f"player_{number}" for number in range(players)]
        self._seen, self._acts = Box(0, 1, (3,), np.float32), Discrete(3)

    def observation_space(self, agent):
        return self._seen

    def action_space(self, agent):
        return self._acts

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        self._noise, self._round = np.random.default_rng(seed), 0
        return self._look(), {agent: {} for agent in self.agents}

    def _look(self):
        self._lit = {agent: int(self._noise.integers(3)) for agent in self.agents}
        return {agent: np.eye(3, dtype=np.float32)[lit] for agent, lit in self._lit.items()}

    def step(self, actions):
        rewards = {agent: float(actions[agent] == self._lit[agent]) for agent in self.agents}
        self._round += 1
        over = dict.fromkeys(self.agents, self._round == 8)
        seen, calm = self._look(), dict.fromkeys(self.agents, False)
        infos = {agent: {} for agent in self.agents}
        if self._round == 8:
            self.agents = []
        return seen, rewards, over, calm, infos
