"""Gymnasium environments: a league of one seat.

env = make(slots=16, id="CartPole-v1")
env = make(slots=16, id="my_package.my_module:Env", kwargs={"size": 8})
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium
from pettingzoo import ParallelEnv

from collectors.envs.adapters.adapter import Adapter
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.known import maker, plain, registered
from league.plugins import PluginError

AGENT = "player"


class Solo(ParallelEnv):  # type: ignore[misc]
    """A Gymnasium environment as a Parallel one with a single agent."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.possible_agents = [AGENT]
        self.agents: list[str] = []
        modes = list(getattr(env, "metadata", {}).get("render_modes") or ())
        self.metadata = {"name": str(getattr(env.spec, "id", type(env.unwrapped).__name__)), "render_modes": modes}
        self.render_mode = env.render_mode

    def observation_space(self, agent: str) -> Any:
        """Return the observation space."""
        return self.env.observation_space

    def action_space(self, agent: str) -> Any:
        """Return the action space."""
        return self.env.action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Begin an episode."""
        seen, info = self.env.reset(seed=seed, options=options)
        self.agents = [AGENT]
        return {AGENT: seen}, {AGENT: info}

    def step(self, actions: Mapping[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
        """Take the agent's action."""
        results = self.env.step(actions[AGENT])
        if results[2] or results[3]:
            self.agents = []
        seen, reward, terminated, truncated, info = ({AGENT: one} for one in results)
        return seen, reward, terminated, truncated, info

    def render(self) -> Any:
        """Return what the environment renders."""
        return self.env.render()

    def close(self) -> None:
        """Close it."""
        self.env.close()


def make(slots: int, id: str = "", kwargs: Mapping[str, Any] | None = None, **options: Any) -> Adapter:
    """Return a batch of slots of the environment that `id` names; see the module's docstring."""
    return adapt(solo(builder(id, kwargs)), slots, name=id, **options)


def solo(build: Callable[[], Any]) -> Callable[[], Any]:
    """Return the function that builds a Gymnasium environment as a Parallel one."""
    return lambda: Solo(build())


def builder(id: str, kwargs: Mapping[str, Any] | None = None, allow: Sequence[str] = ()) -> Callable[[], Any]:
    """Return the function that builds the environment of this id, as Gymnasium has it."""
    options = dict(kwargs or {})
    if ":" in id:
        return maker(id, options, (gymnasium.Env,), allow, gym=True)
    try:
        found = gymnasium.spec(id)
    except gymnasium.error.Error as error:
        raise PluginError(f"unknown Gymnasium environment {id!r}: {' '.join(str(error).split())}") from error
    registered(id, found.entry_point, allow, gym=True)
    plain("gymnasium", "env.kwargs", options, allow)
    return partial(gymnasium.make, id, disable_env_checker=True, **options)
