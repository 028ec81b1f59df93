"""Environments that are odd but lawful, and environments that are broken. Each is as small as its oddity."""

import os
from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Sequence, Text, Tuple, flatten
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.agent_selector import AgentSelector


class OddAec(AECEnv):
    """Agents act in turns for `rounds` rounds; `script` names agents that are done after a number of moves.

    script = {3: {"walker_1": "terminated"}} means: after the third move walker_1 is terminated.
    An agent gets 1 for its own move and 0.25 for each move of others, so every way to lose a reward shows.
    """

    metadata: ClassVar = {"name": "odd_aec_v0", "is_parallelizable": False, "render_modes": []}
    render_mode = None

    def __init__(self, agents=3, rounds=4, script=None, born=None):
        self.possible_agents = [f"walker_{number}" for number in range(agents)]
        self.rounds, self.script, self.born = rounds, script or {}, born or {}
        self._seen = {agent: self.make_space() for agent in self.possible_agents}
        self._acts = {agent: Discrete(3) for agent in self.possible_agents}

    def make_space(self):
        return Box(-10, 1000, (2,), np.float32)

    def observation_space(self, agent):
        return self._seen[agent]

    def action_space(self, agent):
        return self._acts[agent]

    def reset(self, seed=None, options=None):
        self.noise = np.random.default_rng(seed)
        unborn = {agent for agents in self.born.values() for agent in agents}
        self.agents = [agent for agent in self.possible_agents if agent not in unborn]
        self.moves = 0
        for name in ("rewards", "_cumulative_rewards"):
            setattr(self, name, dict.fromkeys(self.agents, 0.0))
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: self.make_info(agent) for agent in self.agents}
        self._order = AgentSelector(list(self.agents))
        self.agent_selection = self._order.reset()
        self.luck = float(self.noise.random())

    def make_info(self, agent):
        return {}

    def observe(self, agent):
        return np.array([self.moves, self.luck], np.float32)

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert self._acts[agent].contains(action)
        self._cumulative_rewards[agent] = 0.0
        self.moves += 1
        self.luck = float(self.noise.random()) + self.value(agent, action)
        self.rewards = {one: (self.pay(agent, action) if one == agent else 0.25) for one in self.agents}
        self._kill()
        self._bear()
        self._accumulate_rewards()
        self._choose_next(agent)
        self._deads_step_first()

    def value(self, agent, action):
        return float(action)

    def pay(self, agent, action):
        return 1.0

    def _kill(self):
        for one, how in self.script.get(self.moves, {}).items():
            {"terminated": self.terminations, "truncated": self.truncations}[how][one] = True
        if self.moves >= self.rounds * len(self.possible_agents):
            self.truncations = dict.fromkeys(self.agents, True)

    def _bear(self):
        for one in self.born.get(self.moves, ()):
            self.agents.append(one)
            self.rewards[one] = self._cumulative_rewards[one] = 0.0
            self.terminations[one] = self.truncations[one] = False
            self.infos[one] = self.make_info(one)

    def _choose_next(self, agent):
        alive = [one for one in self.agents if not (self.terminations[one] or self.truncations[one])]
        later = [one for one in self.possible_agents if one in alive]
        place = self.possible_agents.index(agent)
        after = [one for one in later if self.possible_agents.index(one) > place]
        self.agent_selection = (after or later or self.agents)[0]


class UnreadableError(Exception):
    """An error that cannot say anything."""

    def __str__(self):
        raise SystemExit(0)


class Saying(OddAec):
    """In its second move it raises an error that is no text, or one that cannot be read."""

    def __init__(self, error="file"):
        super().__init__(agents=2)
        name = os.fsdecode(b"a" + bytes([255]))
        self.error = UnreadableError() if error == "none" else ValueError(f"no file {name}")

    def value(self, agent, action):
        if self.moves == 2:
            raise self.error
        return super().value(agent, action)


def unreadable():
    """It cannot be made, and does not say why."""
    raise UnreadableError


def deaths():
    """The second walker dies early; the game goes on."""
    return OddAec(script={4: {"walker_1": "terminated"}})


def cut_early():
    """The first walker is truncated early; the others play on."""
    return OddAec(script={5: {"walker_0": "truncated"}})


def mixed_ending():
    """All are done at once, one terminated and the others truncated."""
    return OddAec(script={7: {"walker_0": "terminated", "walker_1": "truncated", "walker_2": "truncated"}})


def both_flags():
    """All are done at once with both flags set, as PettingZoo's illegal-move wrapper does."""
    env = OddAec(agents=2, script={3: {"walker_0": "terminated", "walker_1": "terminated"}})
    kill = env._kill

    def both():
        kill()
        env.truncations = dict(env.terminations) if any(env.terminations.values()) else env.truncations

    env._kill = both
    return env


def births():
    """The third walker appears after four moves."""
    return OddAec(born={4: ["walker_2"]})


def dies_before_it_acts():
    """The third walker is dead before its first move: it has no rows at all."""
    return OddAec(script={1: {"walker_2": "terminated"}})


class MaskInInfo(OddAec):
    """Masks are in infos; the action 0 is legal only at even moves."""

    def make_info(self, agent):
        return {"action_mask": np.array([self.moves % 2 == 0, True, True], np.int8)}

    def step(self, action):
        agent = self.agent_selection
        if not (self.terminations[agent] or self.truncations[agent]):
            assert self.make_info(agent)["action_mask"][action], "illegal"
        super().step(action)
        self.infos = {one: self.make_info(one) for one in self.agents}


class Composite(OddAec):
    """Observations of every kind at once, sizes that differ between agents, and actions that begin at 5."""

    def __init__(self):
        super().__init__(agents=2)
        parts = {
            "box": Box(-1, 1, (2, 2), np.float32),
            "many": MultiDiscrete([2, 3]),
            "bits": MultiBinary(3),
            "pair": Tuple((Discrete(4, start=1), Box(0, 9, (1,), np.int8))),
        }
        self._seen = {"walker_0": Dict(parts), "walker_1": Discrete(3)}
        self._acts = {"walker_0": Discrete(2, start=5), "walker_1": Discrete(4)}

    def observe(self, agent):
        if agent == "walker_1":
            return 2
        return {
            "box": np.array([[0.5, -0.5], [1, 0]], np.float32),
            "many": np.array([1, 2]),
            "bits": np.array([1, 0, 1], np.int8),
            "pair": (3, np.array([7], np.int8)),
        }


class Broken(OddAec):
    """Breaks in the way that `how` says, at the third move of episodes whose seed is odd."""

    def __init__(self, how, always=False):
        super().__init__(agents=2)
        self.how, self.always = how, always

    def reset(self, seed=None, options=None):
        self.bad = self.always or bool((seed or 0) % 2)
        super().reset(seed, options)
        if self.bad and self.how == "reset":
            raise RuntimeError("the dice fell off the table")

    @property
    def breaks(self):
        return self.bad and self.moves >= 3

    def step(self, action):
        super().step(action)
        if self.breaks and self.how == "step":
            raise RuntimeError("the board caught fire")
        if self.breaks and self.how == "reward":
            self.rewards = dict.fromkeys(self.agents, float("nan"))
        if self.breaks and self.how == "stranger":
            self.rewards["stranger_0"] = 1.0

    def observe(self, agent):
        seen = super().observe(agent)
        if not self.breaks:
            return seen
        odd = {
            "nan": np.array([np.nan, 0], np.float32),
            "inf": np.array([np.inf, 0], np.float32),
            "shape": np.zeros(3, np.float32),
            "dtype": np.zeros(2, np.float64),
            "none": None,
        }
        return odd.get(self.how, seen)

    def make_info(self, agent):
        empty = self.how == "mask" and self.breaks
        wide = self.how == "wide mask" and self.breaks
        return {"action_mask": np.zeros(3, np.int8) if empty else np.ones(4 if wide else 3, np.int8)}

    def _kill(self):
        super()._kill()
        self.infos = {agent: self.make_info(agent) for agent in self.agents}


HOW = ("reset", "step", "reward", "stranger", "nan", "inf", "shape", "dtype", "none", "mask", "wide mask")


class OddParallel(ParallelEnv):
    """All live agents act at once; `script` as in OddAec, by ticks; `born` agents appear after a tick."""

    metadata: ClassVar = {"name": "odd_parallel_v0", "render_modes": []}
    render_mode = None

    def __init__(self, agents=3, ticks=6, script=None, born=None, keep_dead=False):
        self.possible_agents = [f"runner_{number}" for number in range(agents)]
        self.limit, self.script, self.born, self.keep_dead = ticks, script or {}, born or {}, keep_dead
        self._seen = {agent: Box(0, 100, (3,), np.float32) for agent in self.possible_agents}
        self._acts = {agent: Discrete(2) for agent in self.possible_agents}

    def observation_space(self, agent):
        return self._seen[agent]

    def action_space(self, agent):
        return self._acts[agent]

    def reset(self, seed=None, options=None):
        self.noise = np.random.default_rng(seed)
        unborn = {agent for agents in self.born.values() for agent in agents}
        self.agents = [agent for agent in self.possible_agents if agent not in unborn]
        self.tick = 0
        return {agent: self.see() for agent in self.agents}, {agent: {} for agent in self.agents}

    def see(self):
        return np.array([self.tick, *self.noise.random(2)], np.float32)

    def step(self, actions):
        assert set(actions) == set(self.agents)
        self.tick += 1
        told = list(self.agents)
        rewards = {agent: float(actions[agent]) + 0.5 for agent in told}
        fates = self.script.get(self.tick, {})
        terminations = {agent: fates.get(agent) == "terminated" for agent in told}
        truncations = {agent: fates.get(agent) == "truncated" or self.tick >= self.limit for agent in told}
        new = [agent for agent in self.born.get(self.tick, ()) if self.tick < self.limit]
        observations = {agent: self.see() for agent in [*told, *new]}
        if not self.keep_dead:
            told = [agent for agent in told if not (terminations[agent] or truncations[agent])]
        self.agents = [*told, *new]
        return observations, rewards, terminations, truncations, {agent: {} for agent in observations}


class Unlisted(OddParallel):
    """Its observations are lists."""

    def see(self):
        return [self.tick, 1.0, 2.0]


class Vast(OddParallel):
    """Its pictures have more numbers than a collector should hold."""

    def observation_space(self, agent):
        return Box(0, 1, (3, 2400, 2400), np.int8)


class Misfit(OddParallel):
    """Its observations have three numbers, its space has one."""

    def observation_space(self, agent):
        return Box(0, 100, (1,), np.float32)


class Stray(OddParallel):
    """Its first tick is within the Box, the later ones are not."""

    def __init__(self):
        super().__init__(agents=2)
        self._seen = dict.fromkeys(self.possible_agents, Box(0, 1, (3,), np.float32))


class Renamed(OddParallel):
    """Two agents that see and do the same, under different names."""

    def __init__(self):
        super().__init__(agents=2)
        self.possible_agents = ["alpha", "omega"]
        self._seen = dict.fromkeys(self.possible_agents, Box(0, 100, (3,), np.float32))
        self._acts = dict.fromkeys(self.possible_agents, Discrete(2))


class Sized(OddParallel):
    """It cannot be made without a size."""

    def __init__(self, size, *, colour):
        super().__init__(agents=size)


class Typed(OddParallel):
    """It renders text, in colours, and no picture."""

    metadata: ClassVar = {"name": "text_v0", "render_modes": ["ansi"]}

    def __init__(self, render_mode=None):
        super().__init__(agents=2)
        self.render_mode = render_mode

    def render(self):
        return f"\x1b[31mtick\x1b[0m {self.tick}" if self.render_mode == "ansi" else None


def parallel_deaths():
    return OddParallel(script={2: {"runner_0": "terminated"}, 4: {"runner_2": "truncated"}})


def parallel_births():
    return OddParallel(born={2: ["runner_1"]})


def parallel_mixed():
    """A mixed ending after which the environment forgets to empty its list of agents."""
    fates = {"runner_0": "terminated", "runner_1": "truncated", "runner_2": "truncated"}
    return OddParallel(script={3: fates}, keep_dead=True)


class Acting(OddAec):
    """Agents with these action spaces; what they do shows in what they see next and in what they get (`value`)."""

    def __init__(self, *acts, masks=None):
        super().__init__(agents=len(acts))
        self._acts = dict(zip(self.possible_agents, acts, strict=True))
        self.masks = masks
        self.taken = []

    def make_info(self, agent):
        return {} if self.masks is None else {"action_mask": self.masks}

    def value(self, agent, action):
        self.taken.append((agent, action))
        numbers = flatten(self._acts[agent], action)
        return float(np.clip(numbers @ np.arange(1, len(numbers) + 1), -5, 100))  # within what agents may see

    pay = value


def continuous():
    """One agent steers, one picks, one does both in a nest of spaces."""
    steer = Box(np.float32([0, -np.inf]), np.float32([4, np.inf]), dtype=np.float32)
    nest = Dict({"pair": Tuple((Discrete(3, start=2), MultiBinary(2))), "turn": Box(-2, 2, (1, 2), np.float64)})
    return Acting(steer, Discrete(4, start=1), nest)


def many_choices():
    return Acting(MultiDiscrete([2, 3, 4]), MultiDiscrete([[2, 2], [3, 2]]), Discrete(5))


def unknown_actions():
    return Acting(Sequence(Discrete(2)), Discrete(2))


class GlobalDice(OddAec):
    """Ignores its seed."""

    draws = 0

    def observe(self, agent):
        GlobalDice.draws += 1
        return np.array([self.moves, GlobalDice.draws % 1000], np.float32)


class Nobody(OddAec):
    """Has no agents."""

    def __init__(self):
        super().__init__(agents=0)


class Growing(OddAec):
    """Has one agent more after every reset."""

    def __init__(self):
        super().__init__(agents=2)

    def reset(self, seed=None, options=None):
        self.__dict__.update(OddAec(agents=len(self.possible_agents) + 1).__dict__)
        super().reset(seed, options)


class GrowingLater(OddAec):
    """Has one agent more from its second episode on: nobody notices at the first reset."""

    def __init__(self):
        super().__init__(agents=2)
        self.begun = 0

    def reset(self, seed=None, options=None):
        if self.begun == 1:
            self.__dict__.update(OddAec(agents=3).__dict__)
        self.begun += 1
        super().reset(seed, options)


class Wordy(OddAec):
    """Sees words."""

    def make_space(self):
        return Text(10)


class Twins(OddAec):
    """Has two agents of one name."""

    def __init__(self):
        super().__init__(agents=2)
        self.possible_agents = ["walker_0", "walker_0"]


class PaysArrays(OddAec):
    """Its rewards are arrays."""

    def pay(self, agent, action):
        return np.array([1.0])


class Endless(OddParallel):
    """Nobody ever wins."""

    def __init__(self):
        super().__init__(agents=2, ticks=10**9)


class Sometimes(OddParallel):
    """Ends at once for even seeds only."""

    def __init__(self):
        super().__init__(agents=2)

    def reset(self, seed=None, options=None):
        self.limit = 10**9 if (seed or 0) % 2 else 2
        return super().reset(seed, options)
