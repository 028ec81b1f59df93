"""PettingZoo environments whose agents, observations or rewards have another form than rows need.

    convert(build, Conversion(cast=True, weights=(1.0, -0.1)))      # env.cast=true env.reward_weights=[1,-0.1]

Agents may be called by numbers, tuples or anything else that a dict takes as a key: they get names. `cast` brings
observations into the dtype and the shape of their spaces. `weights` make one number of a reward that is a vector.
An environment that needs none of this is passed on as it is.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from collectors.envs.adapters.observation_spaces import BrokenError

Build = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a config asks to convert; agents that are no texts are named without asking."""

    cast: bool = False
    weights: tuple[float, ...] = ()

    def observation(self, space: Any, seen: Any) -> Any:
        """Return an observation in the form of its space, if that is asked for."""
        return fitting(space, seen) if self.cast else seen

    def reward(self, agent: str, paid: Any) -> Any:
        """Return one number for a reward that is a vector, if there are weights for it."""
        if not self.weights:
            return paid
        values = np.asarray(paid if paid is not None else np.nan, dtype=np.float64).reshape(-1)
        if len(values) == 1 and not np.ndim(paid) and not values[0]:
            return 0.0  # before an agent has earned anything PettingZoo has a plain zero
        if len(values) != len(self.weights):
            raise BrokenError(
                f"agent {agent!r}: its reward is {paid!r}, but env.reward_weights has {len(self.weights)} weights; "
                "give one for each number of the reward"
            )
        return float(values @ np.array(self.weights))


def agent_names(agents: Sequence[Hashable]) -> dict[Hashable, str]:
    """Return a name for each agent; texts keep theirs.

    >>> agent_names([0, 1]), agent_names([("red", 0), ("blue", 0)])
    ({0: 'agent_0', 1: 'agent_1'}, {('red', 0): 'red_0', ('blue', 0): 'blue_0'})
    """
    found = {agent: agent if isinstance(agent, str) else _name(agent) for agent in agents}
    if len(set(found.values())) == len(found):
        return found
    return {agent: f"agent_{place}" for place, agent in enumerate(found)}


def _name(agent: Hashable) -> str:
    parts = agent if isinstance(agent, tuple) else (getattr(agent, "name", agent),)
    text = "_".join(re.sub(r"\W+", "_", str(part)).strip("_") for part in parts)
    return text if text[:1].isalpha() else f"agent_{text}"


def fitting(space: Any, seen: Any) -> Any:
    """Return an observation in the dtype and shape of its space; raise BrokenError if that would change its numbers.

    >>> fitting(spaces.Box(0, 1, (2,)), [0.5, 1]).dtype, fitting(spaces.Discrete(3), 2.0)
    (dtype('float32'), 2)
    """
    if isinstance(space, spaces.Dict) and isinstance(seen, Mapping):
        return {key: fitting(part, seen[key]) if key in seen else None for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple) and isinstance(seen, Sequence) and len(seen) == len(space.spaces):
        return tuple(fitting(part, one) for part, one in zip(space.spaces, seen, strict=True))
    if not isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        return seen
    return _fitting_array(space, seen)


def _fitting_array(space: Any, seen: Any) -> Any:
    shape, dtype = tuple(space.shape or ()), np.dtype(space.dtype)
    try:
        given = np.asarray(seen)
        array = given if given.dtype.kind in "biuf" else given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise BrokenError(f"its observation {seen!r} holds something that is no number") from error
    if array.size != int(np.prod(shape)):
        raise BrokenError(f"its observation has shape {array.shape}, but its space says {shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.reshape(shape).astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(cast, array.reshape(shape)):
        raise BrokenError(f"its observation {seen!r} does not fit into {dtype}, the dtype of its space")
    return int(cast) if isinstance(space, spaces.Discrete) else cast


def convert(build: Build, conversion: Conversion) -> Build:
    """Return the function that builds an environment in the form that rows need."""

    def converted() -> Any:
        env = build()
        agents = list(getattr(env, "possible_agents", None) or ())
        if conversion == Conversion() and all(isinstance(agent, str) for agent in agents):
            return env
        if isinstance(env, ParallelEnv):
            return ConvertedParallel(env, agents, conversion)
        return ConvertedAec(env, agents, conversion) if isinstance(env, AECEnv) else env

    return converted


class _Names:
    """The names of agents, and back; agents that were not there at first keep their own."""

    def __init__(self, agents: Sequence[Hashable]) -> None:
        self._names = agent_names(agents)
        self._agents = {name: agent for agent, name in self._names.items()}

    def name(self, agent: Any) -> Any:
        return self._names.get(agent) or (agent if isinstance(agent, str) else _name(agent))

    def agent(self, name: Any) -> Any:
        return self._agents.get(name, name)

    def keyed(self, values: Mapping[Any, Any]) -> dict[str, Any]:
        return {self.name(agent): value for agent, value in values.items()}


class _Converted:
    """What both kinds of environments pass on under the names of agents."""

    def __init__(self, env: Any, agents: Sequence[Hashable], conversion: Conversion) -> None:
        self.env, self._conversion, self._names = env, conversion, _Names(agents)
        self.metadata = getattr(env, "metadata", {})
        self.render_mode = getattr(env, "render_mode", None)

    @property
    def unwrapped(self) -> Any:
        """The environment inside."""
        return self.env.unwrapped

    def observation_space(self, agent: str) -> Any:
        """Return the observation space of an agent."""
        return self.env.observation_space(self._names.agent(agent))

    def action_space(self, agent: str) -> Any:
        """Return the action space of an agent."""
        return self.env.action_space(self._names.agent(agent))

    def state(self) -> Any:
        """Return the state of the whole environment."""
        return self.env.state()

    def render(self) -> Any:
        """Return what the environment renders."""
        return self.env.render()

    def close(self) -> None:
        """Close it."""
        self.env.close()


class ConvertedParallel(_Converted, ParallelEnv):  # type: ignore[misc]
    """A Parallel environment with named agents, fitting observations and single rewards."""

    @property
    def possible_agents(self) -> list[str]:
        """The names of all agents."""
        return [self._names.name(agent) for agent in self.env.possible_agents]

    @property
    def agents(self) -> list[str]:
        """The names of the agents that live."""
        return [self._names.name(agent) for agent in self.env.agents]

    @property
    def state_space(self) -> Any:
        """The space of `state()`."""
        return self.env.state_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Begin an episode."""
        seen, infos = self.env.reset(seed=seed, options=options)
        return self._observations(seen), self._names.keyed(infos)

    def step(self, actions: Mapping[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
        """Take the actions of all agents that live."""
        names = self._names
        seen, rewards, *others = self.env.step({names.agent(name): action for name, action in actions.items()})
        paid = {name: self._conversion.reward(name, reward) for name, reward in names.keyed(rewards).items()}
        terminations, truncations, infos = map(names.keyed, others)
        return self._observations(seen), paid, terminations, truncations, infos

    def _observations(self, seen: Mapping[Any, Any]) -> dict[str, Any]:
        return {
            self._names.name(agent): self._conversion.observation(self.env.observation_space(agent), one)
            for agent, one in seen.items()
        }


class ConvertedAec(_Converted, AECEnv):  # type: ignore[misc]
    """An AEC environment with named agents, fitting observations and single rewards."""

    def __getattr__(self, name: str) -> Any:
        """Return what the environment has for each agent, under the agents' names."""
        if name in ("env", "_names", "_conversion"):
            raise AttributeError(name)
        value, names = getattr(self.env, name), self._names
        if name in ("agents", "possible_agents"):
            return [names.name(agent) for agent in value]
        if name == "agent_selection":
            return names.name(value)
        if name in ("terminations", "truncations", "infos"):
            return names.keyed(value)
        if name in ("rewards", "_cumulative_rewards"):
            return {agent: self._conversion.reward(agent, paid) for agent, paid in names.keyed(value).items()}
        return value

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode."""
        self.env.reset(seed=seed, options=options)

    def observe(self, agent: str) -> Any:
        """Return what an agent sees."""
        known = self._names.agent(agent)
        return self._conversion.observation(self.env.observation_space(known), self.env.observe(known))

    def step(self, action: Any) -> None:
        """Take the action of the selected agent."""
        self.env.step(action)
