"""PettingZoo's own word on an environment: its API tests, and what its own loop pays each agent."""

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from pettingzoo import ParallelEnv

from collectors.envs.actions import Play, read_actions

Build = Callable[[], Any]


def returns(build: Build, seed: int, ticks: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Play these actions, as rows have them, in PettingZoo's own loop; return the sum of rewards of each agent."""
    env = build()
    try:
        play = _parallel_returns if isinstance(env, ParallelEnv) else _aec_returns
        plays = read_actions("", {agent: env.action_space(agent) for agent in env.possible_agents}).plays
        return play(env, seed, ticks, plays)
    finally:
        env.close()


def _aec_returns(
    env: Any, seed: int, ticks: Sequence[Mapping[str, Any]], plays: Mapping[str, Play]
) -> dict[str, float]:
    env.reset(seed=seed)
    moves = iter([move for tick in ticks for move in tick.items()])
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        total[agent] += float(reward)
        if terminated or truncated:
            env.step(None)
            continue
        mover, action = next(moves)
        if mover != agent:
            raise ValueError(f"agent {agent!r} is to act, but the rows had agent {mover!r} act")
        env.step(plays[agent](action))
    return total


def _parallel_returns(
    env: Any, seed: int, ticks: Sequence[Mapping[str, Any]], plays: Mapping[str, Play]
) -> dict[str, float]:
    env.reset(seed=seed)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for tick in ticks:
        actions = {agent: plays[agent](action) for agent, action in tick.items()}
        for agent, reward in env.step(actions)[1].items():
            total[agent] += float(reward)
    return total


def spaces(build: Build) -> dict[str, tuple[str, str]]:
    """Return the observation and the action space of each agent, as the environment writes them."""
    env = build()
    try:
        return {
            agent: (str(env.observation_space(agent)), str(env.action_space(agent))) for agent in env.possible_agents
        }
    finally:
        env.close()


def complaints(build: Build, cycles: int = 100) -> list[str]:
    """Run PettingZoo's API and seed tests; return what they found, and nothing if all is well."""
    env = build()
    if isinstance(env, ParallelEnv):
        tests = [("parallel_api_test", env), ("parallel_seed_test", build)]
    else:
        tests = [("api_test", env), ("seed_test", build)]
    return [found for name, subject in tests if (found := _complaint(name, subject, cycles))]


def _complaint(name: str, subject: Any, cycles: int) -> str:
    # Their warnings are matters of taste ("agents should be called player_0"); even their import warns.
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(import_module("pettingzoo.test"), name)(subject, cycles)
        except Exception as error:
            return f"PettingZoo's {name}: {type(error).__name__}: {error}".strip()
    return ""
