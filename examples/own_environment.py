"""A PettingZoo game of your own in a league: `python examples/own_environment.py`.

The game is Nim: take one, two or three sticks; whoever takes the last one wins. The same from a shell:

    cd examples
    ludus check-env own_environment:Nim --allow own_environment
    ludus run env=pettingzoo env.id=own_environment:Nim league.budget.minutes=1 --allow own_environment
"""

import sys

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv

import ludus


class Nim(AECEnv):
    """Two agents take turns; the seed decides how many sticks there are."""

    metadata = {"name": "nim_v0", "render_modes": ["ansi"], "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, sticks=20, render_mode="ansi"):
        self.possible_agents = ["player_0", "player_1"]
        self.render_mode = render_mode
        self._most = sticks
        seen = Dict({"observation": Box(0, 1, (sticks + 1,), np.int8), "action_mask": Box(0, 1, (3,), np.int8)})
        self._seen = dict.fromkeys(self.possible_agents, seen)
        self._acts = {agent: Discrete(3) for agent in self.possible_agents}

    def observation_space(self, agent):
        """Return one-hot sticks, and the mask beside them: the adapter finds it there."""
        return self._seen[agent]

    def action_space(self, agent):
        """Return the choice: take 1, 2 or 3."""
        return self._acts[agent]

    def reset(self, seed=None, options=None):
        """Lay out the sticks. All chance must come from the seed, or no episode could be replayed."""
        self.sticks = int(np.random.default_rng(seed).integers(self._most // 2, self._most + 1))
        self.agents = list(self.possible_agents)
        self.agent_selection = self.agents[0]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}

    def observe(self, agent):
        """Return what an agent sees."""
        one_hot = np.eye(self._most + 1, dtype=np.int8)[self.sticks]
        return {"observation": one_hot, "action_mask": np.array([n <= self.sticks for n in (1, 2, 3)], np.int8)}

    def step(self, action):
        """Take sticks; the last one wins."""
        agent = self.agent_selection
        if self.terminations[agent]:
            return self._was_dead_step(action)
        other = self.agents[1 - self.agents.index(agent)]
        self.sticks -= action + 1
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        if self.sticks == 0:
            self.rewards = {agent: 1.0, other: -1.0}
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self.agent_selection = other
        return None

    def render(self):
        """Draw the sticks: `ludus watch` and `ludus replay` show it."""
        return "|" * self.sticks

    def close(self):
        """Nothing is held."""


LEAGUE = [
    "name=nim",
    "env=pettingzoo",
    "env.id=own_environment:Nim",  # package.module:Class; a script in its own directory is a module, too
    "env.kwargs.sticks=20",
    "league=pfsp",
    "launch=inline",
    "policy.hidden=[64]",
    "algo.batch=2048",
    "algo.lr=2e-3",
    "collector.slots=64",
    "learner.candidate_decisions=8192",
    "league.budget.env_steps=60_000",
    "league.promotion.min_decisions=16_000",
    "league.promotion.max_decisions=16_000",
]


def main(overrides):
    """Train a league on Nim for some seconds."""
    league = ludus.run([*LEAGUE, *overrides], allow=["own_environment"])
    for row in league.standings():
        print(row.place, row.player, row.rating)
    print(league.play("main", "random", episodes=200))


if __name__ == "__main__":
    main(sys.argv[1:])
