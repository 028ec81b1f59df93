"""Small environments, each with one property, lawful or faulty; `tests/conformance/test_verdicts.py` judges them.

class Mine(Rounds):            # two agents, three rounds, both act in each; zero-sum: whoever chose more gets 1
    names = ("red", "blue")
    def pay(self, actions):    # the rewards of a round
        ...

To add one: a class here, and a row there.
"""

from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete
from pettingzoo import AECEnv, ParallelEnv


class Rounds(ParallelEnv):
    """Agents choose 0, 1 or 2 in each of some rounds; all that is special about a game is one method or attribute."""

    metadata: ClassVar = {"name": "rounds_v0", "render_modes": []}
    render_mode = None
    names: ClassVar[tuple] = ("player_0", "player_1")
    rounds = 3

    def __init__(self):
        self.possible_agents = list(self.names)
        self._seen = {agent: self.sees(agent) for agent in self.names}
        self._acts = {agent: self.acts(agent) for agent in self.names}

    def sees(self, agent):
        return Box(-10, 10, (2,), np.float32)

    def acts(self, agent):
        return Discrete(3)

    def observation_space(self, agent):
        return self._seen[agent]

    def action_space(self, agent):
        return self._acts[agent]

    def playing(self):
        """Return who takes part in this episode."""
        return self.possible_agents

    def reset(self, seed=None, options=None):
        self.rng = np.random.default_rng(seed)
        self.round = 0
        self.agents = list(self.playing())
        return self.look(), {agent: {} for agent in self.agents}

    def look(self):
        return {agent: self.observe(agent) for agent in self.agents}

    def observe(self, agent):
        return np.array([self.round, self.rng.random()], np.float32)

    def step(self, actions):
        self.round += 1
        rewards = self.pay({agent: int(action) for agent, action in actions.items()})
        ended = self.ends()
        over = self.round >= self.rounds
        terminations = {agent: over or agent in ended for agent in self.agents}
        truncations = dict.fromkeys(self.agents, False)
        infos = {agent: self.info(agent, over) for agent in self.agents}
        seen = self.look()
        self.agents = [agent for agent in self.agents if not terminations[agent]]
        return seen, rewards, terminations, truncations, infos

    def pay(self, actions):
        """Return the rewards of a round: 1 and -1 by who chose more."""
        return alone(actions)

    def ends(self):
        """Return who dies in this round."""
        return ()

    def info(self, agent, over):
        return {}


def alone(actions):
    """Each agent gets its choice less the mean of the others: zero-sum."""
    total, others = sum(actions.values()), max(len(actions) - 1, 1)
    return {agent: choice - (total - choice) / others for agent, choice in actions.items()}


def by_team(actions, team):
    """All agents of a team get what it chose more than the other team, on average."""
    mean = {one: np.mean([a for agent, a in actions.items() if team(agent) == one]) for one in map(team, actions)}
    return {agent: float(2 * mean[team(agent)] - sum(mean.values())) for agent in actions}


# --- who took part ------------------------------------------------------------------------------------------


class PaidAfterDeath(Rounds):
    """The first agent dies in round one; in the last round it gets 10 and the other 1."""

    def ends(self):
        return ("player_0",) if self.round == 1 else ()

    def pay(self, actions):
        return {"player_0": 10.0, "player_1": 1.0} if self.round == self.rounds else dict.fromkeys(self.agents, 0.0)


class SomebodyIsAbsent(Rounds):
    """Of three agents two play, and all rewards are negative: the one that is absent would win with 0."""

    names = ("player_0", "player_1", "player_2")

    def playing(self):
        away = int(self.rng.integers(3))
        return [agent for number, agent in enumerate(self.possible_agents) if number != away]

    def pay(self, actions):
        return {agent: -1.0 - choice for agent, choice in actions.items()}


class SmallTeams(Rounds):
    """The red team may be one instead of two: its mean counts, not its sum."""

    names = ("red_0", "red_1", "blue_0", "blue_1")

    def playing(self):
        return self.possible_agents[:1] + self.possible_agents[2:]

    def pay(self, actions):
        return {agent: -3.0 if agent[:3] == "red" else -2.0 for agent in actions}


class AecPaidAfterDeath(AECEnv):
    """In turns: the first agent dies after its first move; the second one's last move pays it 10."""

    metadata: ClassVar = {"name": "late_v0", "is_parallelizable": False, "render_modes": []}
    render_mode = None

    def __init__(self):
        self.possible_agents = ["player_0", "player_1"]
        self._seen, self._acts = Box(0, 10, (1,), np.float32), Discrete(3)

    def observation_space(self, agent):
        return self._seen

    def action_space(self, agent):
        return self._acts

    def reset(self, seed=None, options=None):
        self.agents, self.moves = list(self.possible_agents), 0
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self.agents, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = "player_0"

    def observe(self, agent):
        return np.array([self.moves], np.float32)

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.moves += 1
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.agent_selection = "player_1"
        if self.moves == 1:
            self.terminations["player_0"] = True
            self._deads_step_first()
            return
        if self.moves == 4:
            self.rewards = {"player_1": 1.0, "player_0": 10.0}
            self._cumulative_rewards["player_1"] += 1.0
            self.terminations["player_1"] = True
