"""PettingZoo's reference tests of an environment: its API tests, and the returns of its own loop."""

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box, Dict
from pettingzoo import ParallelEnv

from collectors.envs.adapters.action_spaces import Play, read_actions
from collectors.envs.payments import Payments
from league.errors import message_of

Build = Callable[[], Any]
Ticks = Sequence[Mapping[str, Any]]
Look = Callable[[Any, str, Any], None]
"""Called with the environment, an agent, and the agent's observation."""


LATE_REWARD = "agents should not be given a reward if they were terminated or truncated"
"""What PettingZoo's api_test says about an agent that is paid after its end. Rows have a place for such rewards."""


class Complaint(NamedTuple):
    """What a test of PettingZoo said: about the environment, or that the test itself could not cope with it."""

    what: str
    of_the_test: bool

    @property
    def harmless(self) -> str:
        """Why a league may play an environment all the same; "" if it may not."""
        if self.of_the_test:
            return "The test itself failed: that says nothing"
        late = LATE_REWARD in self.what
        return "Here such rewards count, as in Parallel environments: nothing is wrong" if late else ""


def returns(build: Build, seed: int, ticks: Ticks) -> dict[str, float]:
    """Play these actions, as rows have them, in PettingZoo's own loop; return the return of each agent."""
    return _played(build, seed, ticks, lambda env, agent, seen: None)


def outside(build: Build, seed: int, ticks: Ticks) -> dict[str, str]:
    """Play these actions in PettingZoo's own loop; return for each agent the first observation outside its space."""
    found: dict[str, str] = {}

    def look(env: Any, agent: str, seen: Any) -> None:
        if agent not in found and (stray := _stray(env.observation_space(agent), seen)):
            found[agent] = stray

    _played(build, seed, ticks, look)
    return found


def _stray(space: Any, seen: Any, part: str = "") -> str:
    """Return the first value outside of a space and the bounds there; nothing if all are inside.

    >>> _stray(Box(0.0, 1.0, (2,)), [0.5, 3.0])
    '3, but its Box goes from 0 to 1'
    """
    if isinstance(space, Dict) and isinstance(seen, Mapping):
        parts = ((name, space[name], seen[name]) for name in space if name in seen)
        return next((stray for name, inner, value in parts if (stray := _stray(inner, value, f" in {name!r}"))), "")
    if not isinstance(space, Box):
        return ""
    values = np.asarray(seen, dtype=np.float64)
    if values.shape != space.shape:
        return ""  # that is reported elsewhere, as a problem and not as a warning
    wrong = (values < space.low) | (values > space.high)
    if not wrong.any():
        return ""
    place = tuple(np.argwhere(wrong)[0])
    low, high = float(space.low[place]), float(space.high[place])
    return f"{values[place]:g}{part}, but its Box goes from {low:g} to {high:g}"


def _played(build: Build, seed: int, ticks: Ticks, look: Look) -> dict[str, float]:
    env = build()
    try:
        play = _parallel_returns if isinstance(env, ParallelEnv) else _aec_returns
        plays = read_actions("", {agent: env.action_space(agent) for agent in env.possible_agents}).plays
        return play(env, seed, ticks, plays, look)
    finally:
        env.close()


def _aec_returns(env: Any, seed: int, ticks: Ticks, plays: Mapping[str, Play], look: Look) -> dict[str, float]:
    env.reset(seed=seed)
    moves = iter([move for tick in ticks for move in tick.items()])
    total = dict.fromkeys(env.possible_agents, 0.0)
    removed: set[str] = set()
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, _ = env.last()
        look(env, agent, seen)
        total[agent] += float(reward)
        if terminated or truncated:
            env.step(None)
            removed.add(agent)
            paid = removed - {agent}
        else:
            mover, action = next(moves, ("", None))
            if not mover:  # env.max_steps ended the episode here
                return {one: got + _owed(env, one, agent) for one, got in total.items()}
            if mover != agent:
                raise ValueError(f"agent {agent!r} is to act, but the rows had agent {mover!r} act")
            env.step(plays[agent](action))
            paid = removed
        for late in paid & set(env.rewards):  # `last` does not return what they get now
            total[late] += float(env.rewards[late])
    return total


def _owed(env: Any, agent: str, paid: str) -> float:
    """Return what an agent would be paid at its next turn; the one that was just paid gets nothing."""
    return 0.0 if agent == paid else float(env._cumulative_rewards.get(agent, 0.0))


def payments(build: Build, seed: int, ticks: Ticks) -> dict[str, Payments]:
    """Play these actions in an AEC environment; return what each agent got by each way to read its rewards."""
    env = build()
    try:
        if isinstance(env, ParallelEnv):
            return {}
        plays = read_actions("", {agent: env.action_space(agent) for agent in env.possible_agents}).plays
        return _payments(env, seed, [move for tick in ticks for move in tick.items()], plays)
    finally:
        env.close()


def _payments(env: Any, seed: int, moves: Sequence[tuple[str, Any]], plays: Mapping[str, Play]) -> dict[str, Payments]:
    env.reset(seed=seed)
    left = iter(moves)
    listed, paid, again, after_end = (dict.fromkeys(env.possible_agents, 0.0) for _ in range(4))
    removed: set[str] = set()
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        paid[agent] += float(reward)
        again[agent] += listed[agent]
        done = terminated or truncated
        mover, action = (agent, None) if done else next(left, ("", None))
        if mover != agent:
            break
        env.step(None if done else plays[agent](action))
        for one, amount in env.rewards.items():
            listed[one] += float(amount)
            after_end[one] += float(amount) if done else 0.0
            paid[one] += float(amount) if one in removed else 0.0  # `last` does not return what they get now
        removed |= {agent} if done else set()
    return {one: Payments(listed[one], paid[one], again[one], after_end[one]) for one in listed}


def _parallel_returns(env: Any, seed: int, ticks: Ticks, plays: Mapping[str, Play], look: Look) -> dict[str, float]:
    seen = env.reset(seed=seed)[0]
    total = dict.fromkeys(env.possible_agents, 0.0)
    for tick in ticks:
        _look_at(seen, env, look)
        actions = {agent: plays[agent](action) for agent, action in tick.items()}
        seen, rewards, *_ = env.step(actions)
        for agent, reward in rewards.items():
            total[agent] += float(reward)
    _look_at(seen, env, look)
    return total


def _look_at(seen: Mapping[str, Any], env: Any, look: Look) -> None:
    for agent, observation in seen.items():
        look(env, agent, observation)


def spaces(build: Build) -> dict[str, tuple[str, str]]:
    """Return the observation and the action space of each agent, as text."""
    env = build()
    try:
        return {
            agent: (str(env.observation_space(agent)), str(env.action_space(agent))) for agent in env.possible_agents
        }
    finally:
        env.close()


def complaints(build: Build, cycles: int = 100) -> list[Complaint]:
    """Run PettingZoo's API and seed tests; return what they found, and which of them failed themselves."""
    env = build()
    if isinstance(env, ParallelEnv):
        tests = [("parallel_api_test", env), ("parallel_seed_test", build)]
    else:
        tests = [("api_test", env), ("seed_test", build)]
    return [found for name, subject in tests if (found := _complaint(name, subject, cycles)) is not None]


def _complaint(name: str, subject: Any, cycles: int) -> Complaint | None:
    # Their warnings are matters of taste ("agents should be called player_0"); even their import warns.
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(import_module("pettingzoo.test"), name)(subject, cycles)
        except Exception as error:
            frame = extract_tb(error.__traceback__)[-1]
            inside = Path(frame.filename).is_relative_to(Path(import_module("pettingzoo.test").__path__[0]))
            crashed = inside and not isinstance(error, AssertionError)
            said = message_of(error)
            place = f" ({Path(frame.filename).name}:{frame.lineno})" if crashed or not inside or not said else ""
            what = f"{type(error).__name__}: {said or frame.line or 'no message'}{place}"
            return Complaint(f"PettingZoo's {name}: {what}", crashed)
    return None
