"""What checks need: PettingZoo's own loop, and its own tests."""

from __future__ import annotations

import importlib
import inspect
import os
import traceback
from typing import Any, Callable, Mapping

import numpy as np

from .actions import action_maker
from .errors import BrokenError, message_of
from .games import both, five, is_parallel
from .spaces import Plain, counts, kind_of, leaves, parts_of, size

HERE = os.path.dirname(os.path.abspath(__file__))  # what fails here, fails because of what the test asks for


class OwnLoop:
    """Plays given actions in PettingZoo's own loop: what each agent gets, and who sees something outside its space."""

    def __init__(self, env: Any) -> None:
        spaces = {agent: env.action_space(agent) for agent in env.possible_agents}
        width = max(len([count for leaf in leaves(space) for count in counts(leaf)]) for space in spaces.values())
        numbers = max(
            sum(size(leaf.shape) for leaf in leaves(space) if kind_of(leaf) == "box") for space in spaces.values()
        )
        heads, single = [0] * width, width == 1 and not numbers
        self.env = env
        self.makers = {agent: action_maker(space, heads, single) for agent, space in spaces.items()}
        self.listed, self.paid, self.again, self.after = (dict.fromkeys(spaces, 0.0) for _ in range(4))
        self.outside: dict[str, str] = {}

    def play(self, seed: int, ticks: list[Plain]) -> Plain:
        """Play an episode; return the return of each agent, its payments by both ways, and strange observations."""
        if is_parallel(self.env):
            self.together(seed, ticks)
            return {"returns": self.paid, "payments": {}, "outside": self.outside}
        owed = self.in_turns(seed, [move for tick in ticks for move in tick.items()])
        ways = zip(self.listed.values(), self.paid.values(), self.again.values(), self.after.values())
        return {
            "returns": {agent: paid + owed.get(agent, 0.0) for agent, paid in self.paid.items()},
            "payments": dict(zip(self.listed, ways)),
            "outside": self.outside,
        }

    def together(self, seed: int, ticks: list[Plain]) -> None:
        """Play in a Parallel environment."""
        seen = both(self.env.reset(seed=seed))[0]
        for tick in ticks:
            self.look(seen)
            chosen = {agent: self.makers[agent](action) for agent, action in tick.items()}
            seen, rewards = five(self.env.step(chosen))[:2]
            for agent, reward in rewards.items():
                self.paid[agent] += float(reward)
        self.look(seen)

    def in_turns(self, seed: int, moves: list[Any]) -> dict[str, float]:
        """Play in an AEC environment; return what `last` still owes where a limit ended the episode."""
        env, left, removed = self.env, iter(moves), set()
        env.reset(seed=seed)
        for agent in env.agent_iter():
            seen, reward, *flags = env.last()
            done = any(flags[:-1])
            self.look({agent: seen})
            self.paid[agent] += float(reward)
            self.again[agent] += self.listed[agent]
            mover, action = (agent, None) if done else next(left, ("", None))
            if not mover:
                owed = env._cumulative_rewards.items()
                return {one: float(amount) for one, amount in owed if one != agent}
            if mover != agent:
                raise ValueError(f"agent {agent!r} is to act, but the rows had agent {mover!r} act")
            env.step(None if done else self.makers[agent](action))
            for one, amount in env.rewards.items():
                self.listed[one] += float(amount)
                self.after[one] += float(amount) if done else 0.0
                self.paid[one] += float(amount) if one in removed else 0.0  # `last` does not return what they get now
            removed |= {agent} if done else set()
        return {}

    def look(self, seen: Any) -> None:
        """Note the first observation of each agent that is outside of its space."""
        for agent, one in seen.items():
            if agent not in self.outside:
                found = stray(self.env.observation_space(agent), one)
                self.outside.update({agent: found} if found else {})


def stray(space: Any, seen: Any, part: str = "") -> str:
    """Return the first value outside of a space and the bounds there; nothing if all are inside."""
    if kind_of(space) == "dict" and isinstance(seen, Mapping):
        inner = (stray(one, seen[key], f" in {key!r}") for key, one in parts_of(space) if key in seen)
        return next(filter(None, inner), "")
    if kind_of(space) != "box" or np.shape(seen) != tuple(space.shape):
        return ""
    values = np.asarray(seen, np.float64)
    wrong = (values < space.low) | (values > space.high)
    if not wrong.any():
        return ""
    place = tuple(np.argwhere(wrong)[0])
    low, high = float(space.low[place]), float(space.high[place])
    return f"{values[place]:g}{part}, but its Box goes from {low:g} to {high:g}"


def own_complaints(build: Callable[[], Any], cycles: int = 100) -> list[tuple[str, bool]]:
    """Run PettingZoo's API and seed tests; return what they found, and whether a test failed itself."""
    env, found = build(), []
    tests = ("parallel_api_test", "parallel_seed_test") if is_parallel(env) else ("api_test", "seed_test")
    own = importlib.import_module("pettingzoo.test")
    for name, subject in zip(tests, (env, build)):
        if not hasattr(own, name):  # old versions have fewer tests
            continue
        test = getattr(own, name)
        try:
            test(*([subject, cycles] if len(inspect.signature(test).parameters) > 1 else [subject]))
        except Exception as error:
            found.append(complaint(name, error, (HERE, os.path.dirname(str(own.__file__)))))
    return found


def complaint(name: str, error: Exception, inside: tuple[str, ...]) -> tuple[str, bool]:
    """Return what a test found, and whether it failed itself: inside of what belongs to the tests, or to us."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    theirs, said = frame.filename.startswith(inside), message_of(error)
    crashed = theirs and not isinstance(error, (AssertionError, BrokenError))
    place = f" ({os.path.basename(frame.filename)}:{frame.lineno})" if crashed or not theirs or not said else ""
    return f"PettingZoo's {name}: {type(error).__name__}: {said or frame.line or 'no message'}{place}", crashed
