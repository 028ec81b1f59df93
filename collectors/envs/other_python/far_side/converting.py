"""Environments of another form: agents that are no texts, observations to cast, rewards that are vectors."""

from __future__ import annotations

import re
from typing import Any, Mapping

import numpy as np

from .errors import BrokenError
from .games import is_parallel
from .spaces import Plain, kind_of, parts_of, size


def agent_names(agents: list[Any]) -> dict[Any, str]:
    """Return a name for each agent; texts keep theirs."""
    found = {agent: agent if isinstance(agent, str) else agent_name(agent) for agent in agents}
    if len(set(found.values())) == len(found):
        return found
    return {agent: f"agent_{place}" for place, agent in enumerate(found)}


def agent_name(agent: Any) -> str:
    """Return a name for an agent that is a number, a tuple or something else."""
    parts = agent if isinstance(agent, tuple) else (getattr(agent, "name", agent),)
    text = "_".join(re.sub(r"\W+", "_", str(part)).strip("_") for part in parts)
    return text if text[:1].isalpha() else f"agent_{text}"


def fitting(space: Any, seen: Any) -> Any:
    """Return an observation in the dtype and shape of its space; raise BrokenError if that would change its numbers."""
    kind = kind_of(space)
    if kind == "dict" and isinstance(seen, Mapping):
        return {key: fitting(part, seen[key]) if key in seen else None for key, part in parts_of(space)}
    if kind == "tuple" and isinstance(seen, (list, tuple)) and len(seen) == len(space.spaces):
        return tuple(fitting(part, one) for (_, part), one in zip(parts_of(space), seen))
    if kind in ("", "dict", "tuple"):
        return seen
    shape, dtype = tuple(space.shape or ()), np.dtype(space.dtype)
    try:
        given = np.asarray(seen)
        array = given if given.dtype.kind in "biuf" else given.astype(np.float64)
    except (TypeError, ValueError):
        raise BrokenError(f"its observation {seen!r} holds something that is no number")
    if array.size != size(shape):
        raise BrokenError(f"its observation has shape {array.shape}, but its space says {shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.reshape(shape).astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(cast, array.reshape(shape)):
        raise BrokenError(f"its observation {seen!r} does not fit into {dtype}, the dtype of its space")
    return int(cast) if kind == "discrete" else cast


class FarConverted:
    """An environment with named agents, fitting observations and single rewards; `converted` gives it its base."""

    def __init__(self, env: Any, cast: bool, weights: list[float]) -> None:
        self.env, self.cast, self.weights, self.parallel = env, cast, weights, is_parallel(env)
        self.names = agent_names(list(env.possible_agents))
        self.ids = {name: agent for agent, name in self.names.items()}
        self.metadata, self.render_mode = getattr(env, "metadata", {}), getattr(env, "render_mode", None)

    def __getattr__(self, name: str) -> Any:
        """Return what the environment has for each agent, under the agents' names."""
        if name in ("env", "names", "ids", "cast", "weights", "parallel"):
            raise AttributeError(name)
        value = getattr(self.env, name)
        if name in ("agents", "possible_agents"):
            return [self.name(agent) for agent in value]
        if name == "agent_selection":
            return self.name(value)
        if name in ("terminations", "truncations", "dones", "infos"):
            return self.keyed(value)
        return self.paid(value) if name in ("rewards", "_cumulative_rewards") else value

    def name(self, agent: Any) -> Any:
        """Return the name of an agent; those that were not there at first keep their own."""
        return self.names.get(agent) or (agent if isinstance(agent, str) else agent_name(agent))

    def keyed(self, values: Any) -> Plain:
        """Return values by the names of agents."""
        return {self.name(agent): value for agent, value in values.items()}

    def paid(self, rewards: Any) -> Plain:
        """Return rewards by name, as single numbers."""
        return {agent: self.reward(agent, paid) for agent, paid in self.keyed(rewards).items()}

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

    def seen(self, seen: Any) -> Plain:
        """Return observations by name, cast if that is asked for."""
        return {self.name(agent): self.fit(agent, one) for agent, one in seen.items()}

    def fit(self, agent: Any, seen: Any) -> Any:
        """Return an observation in the form of its space, if that is asked for."""
        return fitting(self.env.observation_space(agent), seen) if self.cast else seen

    def reset(self, *given: Any, **options: Any) -> Any:
        """Begin an episode."""
        result = self.env.reset(*given, **options)
        if not self.parallel:
            return result
        if not isinstance(result, tuple):
            return self.seen(result)
        return (self.seen(result[0]), self.keyed(result[1]))

    def step(self, action: Any) -> Any:
        """Take the action of the selected agent, or those of all that live."""
        if not self.parallel:
            return self.env.step(action)
        seen, rewards, *others = self.env.step({self.ids.get(name, name): one for name, one in action.items()})
        return (self.seen(seen), self.paid(rewards), *map(self.keyed, others))

    def observe(self, agent: str) -> Any:
        """Return what an agent sees."""
        known = self.ids.get(agent, agent)
        return self.fit(known, self.env.observe(known))

    def observation_space(self, agent: str) -> Any:
        """Return the observation space of an agent."""
        return self.env.observation_space(self.ids.get(agent, agent))

    def action_space(self, agent: str) -> Any:
        """Return the action space of an agent."""
        return self.env.action_space(self.ids.get(agent, agent))

    @property
    def unwrapped(self) -> Any:
        """The environment inside."""
        return self.env.unwrapped

    def state(self) -> Any:
        """Return the state of the whole environment."""
        return self.env.state()

    def render(self, *given: Any) -> Any:
        """Return what the environment renders."""
        return self.env.render(*given)

    def close(self) -> None:
        """Close it."""
        self.env.close()


def converted(env: Any, cast: bool, weights: list[float]) -> Any:
    """Return the environment in the form that rows need; one that has it is passed on as it is."""
    agents = getattr(env, "possible_agents", None) or ()
    base = next((kind for kind in type(env).__mro__ if kind.__name__ in ("AECEnv", "ParallelEnv")), None)
    if base is None or not (cast or weights or any(not isinstance(agent, str) for agent in agents)):
        return env
    return type("FarConverted", (FarConverted, base), {})(env, cast, weights)
