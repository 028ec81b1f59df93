"""A game with structured observations: whoever points at the stronger unit wins. Where it stands changes."""

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Tuple
from pettingzoo import ParallelEnv

UNITS, ROUNDS = 4, 3


class UnitGame(ParallelEnv):
    def __init__(self):
        self.metadata = {"name": "unit_game_v0"}
        self.possible_agents = ["red", "blue"]
        self._space = Dict(
            {
                "clock": Tuple((Discrete(ROUNDS), MultiDiscrete([2, 3]))),
                "units": Box(0, 1, (UNITS, 2), np.float32),
            }
        )

    def observation_space(self, agent):
        return self._space

    def action_space(self, agent):
        return Discrete(UNITS)

    def reset(self, seed=None, options=None):
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.agents, self._round, self._points = list(self.possible_agents), 0, np.zeros(2)
        return self._look(), {agent: {} for agent in self.agents}

    def _look(self):
        self._units = self._rng.random((UNITS, 2)).astype(np.float32)
        clock = (min(self._round, ROUNDS - 1), np.array([self._round % 2, self._round % 3]))
        return {agent: {"clock": clock, "units": self._units.copy()} for agent in self.possible_agents}

    def step(self, actions):
        power = self._units[:, 0]
        self._points += [power[actions["red"]], power[actions["blue"]]]
        self._round += 1
        over = self._round == ROUNDS
        won = float(np.sign(self._points[0] - self._points[1])) if over else 0.0
        rewards, ends = {"red": won, "blue": -won}, dict.fromkeys(self.agents, over)
        seen, infos = self._look(), {agent: {} for agent in self.agents}
        cuts = dict.fromkeys(self.agents, False)
        if over:
            self.agents = []
        return seen, rewards, ends, cuts, infos
