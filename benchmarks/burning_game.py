"""A game of two in turns whose step costs as much Python, and waits as long, as it is told to."""

import time

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv


def burn(work):
    """Compute for a while."""
    total = 0
    for number in range(work):
        total += number & 3
    return total


class Burning(AECEnv):
    """Thirty moves; a board of 6 x 7 x 2 and a mask, as in Connect Four."""

    metadata = {"name": "burning_v0", "is_parallelizable": False, "render_modes": []}  # noqa: RUF012
    render_mode = None

    def __init__(self, work=0, pause=0.0):
        self.work, self.pause = work, pause  # pause: seconds
        self.possible_agents = ["player_0", "player_1"]
        seen = Dict({"observation": Box(0, 1, (6, 7, 2), np.int8), "action_mask": Box(0, 1, (7,), np.int8)})
        self._seen, self._acts = (
            dict.fromkeys(self.possible_agents, seen),
            dict.fromkeys(self.possible_agents, Discrete(7)),
        )

    def observation_space(self, agent):
        return self._seen[agent]

    def action_space(self, agent):
        return self._acts[agent]

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection, self.moves = "player_0", 0
        self.board = np.random.default_rng(seed).integers(0, 2, (6, 7, 2)).astype(np.int8)

    def observe(self, agent):
        return {"observation": self.board, "action_mask": np.ones(7, np.int8)}

    def step(self, action):
        if self.terminations[self.agent_selection]:
            return self._was_dead_step(action)
        burn(self.work)
        if self.pause:
            time.sleep(self.pause)
        self.moves += 1
        self.board[self.moves % 6, action, 0] ^= 1
        if self.moves == 30:
            self.rewards = {"player_0": 1.0, "player_1": -1.0}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self.moves % 2]
        return None
