"""Games as other people write them: other names for agents, other types, prints, threads, old imports."""

import sys
import threading
import time
import types

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Tuple
from odd_envs import OddAec, OddParallel


class Keyed(OddParallel):
    """Its agents are keys of any kind, in every dict; the first is paid 1.5 or 0.5 more than the others."""

    def __init__(self, keys=((0, 1), (1, 0)), ticks=3):
        super().__init__(agents=len(keys), ticks=ticks)
        self.possible_agents = list(keys)
        self._seen = {agent: Box(0, 100, (3,), np.float32) for agent in keys}
        self._acts = {agent: Discrete(2) for agent in keys}


def numbered():
    return Keyed(keys=(0, 1))


def paired():
    return Keyed(keys=(("red", 0), ("blue", 0)))


class NumberedAec(OddAec):
    """An AEC game whose agents are numbers."""

    def __init__(self):
        super().__init__(agents=2)
        self.possible_agents = [0, 1]
        self._seen = {agent: self.make_space() for agent in self.possible_agents}
        self._acts = {agent: Discrete(3) for agent in self.possible_agents}


class Loose(OddAec):
    """Its observations are in another form than its space: float64, a list, or a plain number in a Dict."""

    def __init__(self, form="float64"):
        self.form = form
        super().__init__(agents=2)

    def make_space(self):
        if self.form == "scalar":
            return Dict({"moves": Box(-10, 1000, (1,), np.float32), "turn": Discrete(2)})
        return Box(-10, 1000, (2,), np.float32)

    def observe(self, agent):
        if self.form == "scalar":
            return {"moves": float(self.moves), "turn": float(self.moves % 2)}
        seen = super().observe(agent).astype(np.float64)
        return seen.tolist() if self.form == "list" else seen


class Vector(OddAec):
    """Its rewards are vectors: what OddAec pays, and 2."""

    def __init__(self):
        super().__init__(agents=2)

    def _accumulate_rewards(self):
        self.rewards = {agent: np.array([paid, 2.0]) for agent, paid in self.rewards.items()}
        super()._accumulate_rewards()


class Pays(OddParallel):
    """Pays the first agent something that is no lawful reward, in the episodes of odd seeds."""

    def __init__(self, what="1e39", seen=0.0):
        super().__init__(agents=2, ticks=2)
        self.what, self.seen = {"1e39": 1e39, "-1e39": -1e39, "none": None, "0": 0.0}[what], seen
        self._seen = {agent: Box(-np.inf, np.inf, (3,), np.float64) for agent in self.possible_agents}

    def reset(self, seed=None, options=None):
        self.odd = bool((seed or 0) % 2)
        return super().reset(seed, options)

    def see(self):
        return np.array([self.tick, self.seen if self.odd else 0.0, 0.0], np.float64)

    def step(self, actions):
        seen, rewards, *others = super().step(actions)
        if self.odd:
            rewards["runner_0"] = self.what
        return seen, rewards, *others


class Unending(OddAec):
    """Agents move in turns for ever: 1 for the mover, 0.25 for the other."""

    def __init__(self):
        super().__init__(agents=2, rounds=10**9)


class Chatty(OddParallel):
    """Prints at every step."""

    def __init__(self):
        print("built")
        super().__init__(agents=2, ticks=4)

    def step(self, actions):
        print("board " * 20)
        print("careful", file=sys.stderr)
        return super().step(actions)


class Positional(OddParallel):
    """Takes an argument by its place only."""

    def __init__(self, ticks, /, agents=2):
        super().__init__(agents=agents, ticks=ticks)


class Threaded(OddParallel):
    """Starts a thread that never ends, and is no daemon."""

    def __init__(self):
        super().__init__(agents=2, ticks=3)
        self.thread = threading.Thread(target=lambda: time.sleep(3600))
        self.thread.start()


class Slow(OddParallel):
    """Takes a millisecond for a step."""

    def __init__(self, ticks=1000, seconds=0.001):
        super().__init__(agents=2, ticks=ticks)
        self.seconds = seconds

    def step(self, actions):
        begin = time.perf_counter()
        while time.perf_counter() - begin < self.seconds:
            pass
        return super().step(actions)


class Breaks(OddParallel):
    """Its constructor fails."""

    def __init__(self):
        raise KeyError("no_such_map")


class Older(OddAec):
    """Written for a PettingZoo in which `agent_selector` was a class."""

    def __init__(self):
        super().__init__(agents=2)

    def reset(self, seed=None, options=None):
        from pettingzoo.utils import agent_selector

        super().reset(seed, options)
        self._order = agent_selector(list(self.agents))
        self.agent_selection = self._order.reset()


def older_conversion():
    from pettingzoo.utils import from_parallel

    return from_parallel(OddParallel(agents=2))


class Payroll(OddAec):
    """Pays as its `flaw` says: nothing or twice by last(), the same again at each turn, or again after a death."""

    def __init__(self, flaw="none"):
        self.flaw = flaw
        super().__init__(agents=3, rounds=2, script={1: {"walker_0": "terminated"}} if flaw == "kept" else None)

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.earned = dict.fromkeys(self.agents, 0.0)

    def step(self, action):
        agent = self.agent_selection
        if self.flaw == "kept" and (self.terminations[agent] or self.truncations[agent]):
            before = dict(self.rewards)
            self._was_dead_step(action)
            self.rewards = {one: before[one] for one in self.agents}
        else:
            super().step(action)

    def _accumulate_rewards(self):
        if self.flaw == "again":
            self._cumulative_rewards[self.agent_selection] = self.earned[self.agent_selection]
        if self.flaw != "nothing":
            super()._accumulate_rewards()
        if self.flaw == "twice":
            super()._accumulate_rewards()
        self.earned = {agent: paid + self.rewards.get(agent, 0.0) for agent, paid in self.earned.items()}


class Pair(gymnasium.Env):
    """Two agents in tuples, as in Level-Based Foraging; it pays them 1 and 2 a step, or what else it is given."""

    def __init__(self, paid=(1.0, 2.0), cut=lambda steps: steps == 4):
        self.paid, self.cut = paid, cut
        self.observation_space = Tuple([Box(0, 9, (1,), np.float32) for _ in range(2)])
        self.action_space = Tuple((Discrete(2), Discrete(3)))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.see(), {}

    def see(self):
        return tuple(np.array([self.steps], np.float32) for _ in range(2))

    def step(self, action):
        assert isinstance(action, tuple)
        self.steps += 1
        return self.see(), self.paid, False, self.cut(self.steps), {}


old_style = types.ModuleType("old_style")
old_style.parallel_env = lambda: OddParallel(agents=2)
empty_style = types.ModuleType("empty_style")
