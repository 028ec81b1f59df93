"""Small environments, each with one property, lawful or faulty; `tests/conformance/test_verdicts.py` judges them.

class Mine(Rounds):            # two agents, three rounds, both act in each; zero-sum: whoever chose more gets 1
    names = ("red", "blue")
    def pay(self, actions):    # the rewards of a round
        ...

To add one: a class here, and a row there.
"""

from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete, Text
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


class InTurns(AECEnv):
    """Agents move one after the other; the last mover gets 1 from everybody else."""

    metadata: ClassVar = {"name": "in_turns_v0", "is_parallelizable": False, "render_modes": []}
    render_mode = None
    names: ClassVar[tuple] = ("player_0", "player_1")
    length = 4  # moves

    def __init__(self):
        self.possible_agents = list(self.names)
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
        self.agent_selection = self.agents[0]

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
        self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]
        self.move(agent, action)
        self._accumulate_rewards()
        self._deads_step_first()

    def move(self, agent, action):
        if self.moves == self.length:
            self.rewards = {one: len(self.agents) - 1.0 if one == agent else -1.0 for one in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)


class Turns(InTurns):
    """Two agents in turns, zero-sum."""


class TurnsOfThree(InTurns):
    names = ("player_0", "player_1", "player_2")


class AecPaidAfterDeath(InTurns):
    """The first agent dies after its first move; the last move of the second one pays it 10."""

    def move(self, agent, action):
        if self.moves == 1:
            self.terminations["player_0"] = True
        if self.moves == self.length:
            self._cumulative_rewards.setdefault("player_0", 0.0)
            self.rewards = {"player_1": 1.0, "player_0": 10.0}
            self.terminations["player_1"] = True


# --- who is on whose side -----------------------------------------------------------------------------------


class Duel(Rounds):
    """Two agents of one name, zero-sum."""


class Packs(Rounds):
    """Teams by name, zero-sum between them."""

    names = ("wolf_0", "wolf_1", "sheep_0", "sheep_1")

    def pay(self, actions):
        return by_team(actions, lambda agent: agent[:4])


class Drones(Rounds):
    """Numbers without an underscore."""

    names = ("drone0", "drone1", "drone2")


class NamesWithSpaces(Rounds):
    names = ("red 0", "red 1", "blue 0", "blue 1")

    def pay(self, actions):
        return by_team(actions, lambda agent: agent[:3])


class CombinedArms(Rounds):
    """Names that consist of a colour and a task."""

    names = ("redmelee_0", "redranged_0", "bluemelee_0", "blueranged_0")

    def pay(self, actions):
        return by_team(actions, lambda agent: agent[:3])


class Courts(Rounds):
    """Every beginning of a name goes with every end."""

    names = ("east_pawn", "east_king", "west_pawn", "west_king")

    def pay(self, actions):
        return by_team(actions, lambda agent: agent[:4])


class TwoAgainstTwo(Rounds):
    """Teams that their names do not show: only their rewards do."""

    names = ("player_0", "player_1", "player_2", "player_3")

    def pay(self, actions):
        return by_team(actions, lambda agent: int(agent[-1]) % 2)


class SharedReward(Rounds):
    """Everybody gets the same."""

    def pay(self, actions):
        return dict.fromkeys(actions, float(sum(actions.values())))


class NearlyShared(Rounds):
    """A large common reward, and a little of one's own."""

    def pay(self, actions):
        common = 10.0 * self.rng.random()
        return {agent: common + 0.1 * choice for agent, choice in actions.items()}


class Hunt(Rounds):
    """The tiger always returns more than the deer, whoever plays better."""

    names = ("tiger", "deer")

    def pay(self, actions):
        return {"tiger": 5.0 + actions["tiger"], "deer": -5.0 - actions["tiger"] + actions["deer"]}


class Dilemma(Rounds):
    """To take (2) is better for oneself, to give (0) for both."""

    def pay(self, actions):
        return {agent: 3.0 - max(o for a, o in actions.items() if a != agent) + c / 2 for agent, c in actions.items()}


class ConstantSum(Rounds):
    """Each round hands out one point."""

    def pay(self, actions):
        total = sum(actions.values())
        return {agent: choice / total if total else 1 / len(actions) for agent, choice in actions.items()}


class NoRewards(Rounds):
    def pay(self, actions):
        return dict.fromkeys(actions, 0.0)


class NamedWinner(Rounds):
    """Both get the same, and the info names who won."""

    def pay(self, actions):
        self.ahead = max(actions, key=actions.get)
        return dict.fromkeys(actions, 1.0)

    def info(self, agent, over):
        return {"winner": self.ahead} if over else {}


class Alone(Rounds):
    """One agent."""

    names = ("walker",)

    def pay(self, actions):
        return {agent: float(choice) for agent, choice in actions.items()}


class EqualSpaces(Rounds):
    """Two names that mean nothing, with equal spaces."""

    names = ("alpha", "omega")


def judge(finished):
    """Score the fewest points."""
    return {agent: -value for agent, value in finished.returns.items()}


# --- agents that come and go --------------------------------------------------------------------------------


class JoinsLater(Rounds):
    """The third agent joins after the first round."""

    names = ("player_0", "player_1", "player_2")

    def playing(self):
        return self.possible_agents[:2]

    def step(self, actions):
        if self.round == 0:
            self.agents = list(self.possible_agents)
        return super().step(actions)


class DiesEarly(Rounds):
    """The second of three agents dies in the first round."""

    names = ("player_0", "player_1", "player_2")

    def ends(self):
        return ("player_1",) if self.round == 1 else ()


class Truncates(Rounds):
    def step(self, actions):
        seen, rewards, terminations, _, infos = super().step(actions)
        return seen, rewards, dict.fromkeys(terminations, False), terminations, infos


# --- spaces -------------------------------------------------------------------------------------------------


class DifferentSpaces(Rounds):
    """The first agent sees two numbers, the second one three."""

    names = ("scout", "tank")

    def sees(self, agent):
        return Box(-10, 10, (2 if agent == "scout" else 3,), np.float32)

    def observe(self, agent):
        return np.array([self.round, *self.rng.random(self._seen[agent].shape[0] - 1)], np.float32)


class Continuous(Rounds):
    def acts(self, agent):
        return Box(-1.0, 1.0, (2,), np.float32)

    def step(self, actions):
        return super().step({agent: int(action.sum() > 0) for agent, action in actions.items()})


class OutsideItsBox(Rounds):
    def sees(self, agent):
        return Box(0, 1, (2,), np.float32)


class WordsAsActions(Rounds):
    def acts(self, agent):
        return Text(5)


# --- faults -------------------------------------------------------------------------------------------------


class NanReward(Rounds):
    def pay(self, actions):
        return dict.fromkeys(actions, float("nan"))


class WordReward(Rounds):
    def pay(self, actions):
        return dict.fromkeys(actions, "much")


class PaysAStranger(Rounds):
    def pay(self, actions):
        return alone(actions) | {"stranger": 1.0}


class Raises(Rounds):
    def pay(self, actions):
        raise RuntimeError("the board caught fire")


class RaisesAtReset(Rounds):
    def playing(self):
        raise RuntimeError("the dice fell off the table")


class WearsOut(Rounds):
    """Its rewards are no numbers from the sixth game of an object on."""

    games = 0

    def playing(self):
        self.games += 1
        return self.possible_agents

    def pay(self, actions):
        return dict.fromkeys(actions, float("nan")) if self.games > 5 else alone(actions)


class NanSeen(Rounds):
    def observe(self, agent):
        return np.array([np.nan, 0.0], np.float32)


class WrongShape(Rounds):
    def observe(self, agent):
        return np.zeros(3, np.float32)


class NothingSeen(Rounds):
    def look(self):
        return {}


class EmptyMask(Rounds):
    def reset(self, seed=None, options=None):
        seen, _ = super().reset(seed, options)
        return seen, {agent: {"action_mask": np.zeros(3, np.int8)} for agent in self.agents}


class ComesBack(Rounds):
    """The first agent ends in round one and acts again in round two."""

    def step(self, actions):
        seen, rewards, terminations, truncations, infos = super().step(actions)
        if self.round == 1:
            terminations["player_0"] = True
            self.agents = ["player_1"]
        if self.round == 2:
            self.agents = list(self.possible_agents)
            seen["player_0"] = self.observe("player_0")
        return seen, rewards, terminations, truncations, infos


class OtherAgents(Rounds):
    """Its agents change with the seed."""

    def reset(self, seed=None, options=None):
        self.possible_agents = [f"player_{number}" for number in range(2 + (seed or 0) % 2)]
        self._seen = {agent: self.sees(agent) for agent in self.possible_agents}
        self._acts = {agent: self.acts(agent) for agent in self.possible_agents}
        return super().reset(seed, options)


class NoAgents(Rounds):
    names = ()


class SameName(Rounds):
    names = ("player", "player")


class EndsAtOnce(Rounds):
    def playing(self):
        return ()


class Spectator(Rounds):
    """One of its agents never plays."""

    names = ("player_0", "player_1", "player_2")

    def playing(self):
        return self.possible_agents[:2]


class UnknownWinner(Rounds):
    def info(self, agent, over):
        return {"winner": "nobody"} if over else {}


class AbsentWinner(SomebodyIsAbsent):
    def info(self, agent, over):
        return {"winner": next(one for one in self.possible_agents if one not in self.agents)} if over else {}


class IgnoresTheSeed(Rounds):
    def reset(self, seed=None, options=None):
        found = super().reset(seed, options)
        self.rng = np.random.default_rng()
        return found


class RemembersGames(Rounds):
    """An episode depends on how many the same object played before."""

    games = 0

    def reset(self, seed=None, options=None):
        self.games += 1
        return super().reset(seed, options)

    def observe(self, agent):
        return np.array([self.round, min(self.games, 9)], np.float32)


class SharesAClock(Rounds):
    """All objects of the class count the same rounds."""

    clock: ClassVar = [0]

    def observe(self, agent):
        self.clock[0] += 1
        return np.array([self.round, self.clock[0] % 7], np.float32)


class NeedsASize(Rounds):
    def __init__(self, size):
        super().__init__()


class RaisesInItsConstructor(Rounds):
    def __init__(self):
        raise FileNotFoundError("maps/level1.txt")


not_an_environment = 7
