"""Gymnasium environments with tuples of agents, as Level-Based Foraging (lbforaging) and RWARE (rware) are.

env = make(slots=16, id="Foraging-8x8-2p-1f-v3")
env = make(slots=16, id="rware-tiny-2ag-v2")
env = make(slots=16, id="my_package.my_module:Env", kwargs={"size": 8})

Their observation and action spaces are tuples with a part for each agent, a step takes a tuple of actions and pays a
list of rewards, and an episode ends for all agents at once. Whether it does is one flag, or one for each agent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from collectors.envs.adapters.adapter import Adapter
from collectors.envs.adapters.gymnasium import builder as gymnasium_builder
from collectors.envs.adapters.observation_spaces import BrokenError
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.known import NoEnvironmentError
from league.plugins import PluginError, load

REGISTERED = {"Foraging": "lbforaging", "rware": "rware"}
"""Where ids that begin so come from: a package that registers them when it is imported."""


class Several(ParallelEnv):  # type: ignore[misc]
    """A Gymnasium environment of several agents as a Parallel one."""

    def __init__(self, env: Any) -> None:
        seen, acts = env.observation_space, env.action_space
        if not (isinstance(seen, spaces.Tuple) and isinstance(acts, spaces.Tuple) and len(seen) == len(acts)):
            raise NoEnvironmentError(
                f"{type(env.unwrapped).__name__}: expected an observation and an action space that are tuples with a "
                f"part for each agent, got {seen} and {acts}. For one agent: env=gymnasium"
            )
        self.env, self._seen, self._acts = env, tuple(seen.spaces), tuple(acts.spaces)
        self.possible_agents = [f"agent_{number}" for number in range(len(self._acts))]
        self.agents: list[str] = []
        modes = list(getattr(env, "metadata", {}).get("render_modes") or ())
        self.metadata = {"name": type(env.unwrapped).__name__, "render_modes": modes}
        self.render_mode = env.render_mode

    def observation_space(self, agent: str) -> Any:
        """Return the part of the observation space that belongs to an agent."""
        return self._seen[self.possible_agents.index(agent)]

    def action_space(self, agent: str) -> Any:
        """Return the part of the action space that belongs to an agent."""
        return self._acts[self.possible_agents.index(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Begin an episode."""
        seen, _ = self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._shared("observations", seen), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
        """Take the actions of all agents."""
        seen, paid, terminated, truncated, info = self.env.step(tuple(actions[agent] for agent in self.agents))
        every = self.agents
        observations, rewards = self._shared("observations", seen), self._shared("rewards", paid)
        over, cut = self._flags("terminated", terminated), self._flags("truncated", truncated)
        ended = [agent for agent in every if over[agent] or cut[agent]]
        if ended and ended != every:
            raise BrokenError(
                f"it ended the episode for {ended}, but not for all of {every}: whoever ended would still have to act. "
                "End it for all agents at once, or make it a ParallelEnv of PettingZoo"
            )
        if ended:
            self.agents = []
        return observations, rewards, over, cut, {agent: dict(info) for agent in every}

    def _flags(self, what: str, given: Any) -> dict[str, bool]:
        """Return a flag for each agent; one may stand for all of them."""
        plain = given.tolist() if hasattr(given, "tolist") else given  # numpy's flags and arrays
        found = dict.fromkeys(self.possible_agents, plain) if isinstance(plain, int) else self._shared(what, plain)
        if not all(isinstance(flag, int | np.bool_) for flag in found.values()):
            raise BrokenError(f"it gave {given!r} as {what}; expected true or false, or a list with one for each agent")
        return {agent: bool(flag) for agent, flag in found.items()}

    def _shared(self, what: str, values: Any) -> dict[str, Any]:
        """Return the value of each agent; a dict or a set has no order in which they would belong to the agents."""
        text = isinstance(values, str | bytes)
        listed = (isinstance(values, Sequence) and not text) or (hasattr(values, "__array__") and np.ndim(values) > 0)
        if not listed or len(values) != len(self._acts):
            raise BrokenError(
                f"it gave {values!r} as {what}; expected a list with one for each of {self.possible_agents}"
            )
        return dict(zip(self.possible_agents, values, strict=True))

    def render(self) -> Any:
        """Return what the environment renders."""
        return self.env.render()

    def close(self) -> None:
        """Close it."""
        self.env.close()


def make(slots: int, id: str = "", kwargs: Mapping[str, Any] | None = None, **options: Any) -> Adapter:
    """Return a batch of slots of the environment that `id` names; see the module's docstring."""
    return adapt(several(builder(id, kwargs)), slots, name=id, **options)


def several(build: Callable[[], Any]) -> Callable[[], Any]:
    """Return the function that builds a Gymnasium environment of several agents as a Parallel one."""
    return lambda: Several(build())


def builder(id: str, kwargs: Mapping[str, Any] | None = None, allow: Sequence[str] = ()) -> Callable[[], Any]:
    """Return the function that builds the environment of this id, as Gymnasium has it."""
    package = REGISTERED.get(id.partition("-")[0], "")
    if package and ":" not in id:
        try:
            load(f"{package}:__name__")  # it registers its environments
        except PluginError as error:
            raise PluginError(f"cannot load {id!r}: {error.__cause__}. Install it: pip install {package}") from error
    return gymnasium_builder(id, kwargs, allow)
