"""The far side of `env.python`: plays PettingZoo games for a collector that runs in another Python.

    python -E far_side.py CHANNEL MEMORY LIFELINE PARENT HARD     # three file descriptors, a process id, 0 or 1

It runs on Python 3.8 to 3.14 and needs numpy and the game, of any PettingZoo since 1.20. So it is one file and imports
nothing of Ludus. An order is a length and JSON; an empty order is a step. What a tick needs is in memory that both
sides share: actions in, observations, masks, rewards and endings out, all as `[slot, agent]`.

    {"do": "open", "module": "pettingzoo.classic.rps_v2", "names": ["parallel_env", "env"], ...}     -> agents, spaces
    {"do": "seat", "slots": 32, "arrays": {"reward": [offset, shape, dtype], ...}, ...}              -> {}
    {"do": "start", "slots": [0, 1], "seeds": [7, 8], "drop": []}                                    -> {"faults": {}}
    (nothing)                                                          -> nothing, or {"faults": ..., "infos": ...}
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]  # the neighbours of this file are no modules of the game

import contextlib
import ctypes
import faulthandler
import importlib
import inspect
import json
import mmap
import re
import signal
import socket
import struct
import threading
import traceback
from types import FunctionType, ModuleType
from typing import Any, Callable, Dict, Iterator, Mapping

import numpy as np

MASK, OBSERVATION = "action_mask", "observation"
NAMES = {
    "Box": "box",
    "Discrete": "discrete",
    "MultiDiscrete": "multi_discrete",
    "MultiBinary": "multi_binary",
    "Dict": "dict",
    "Tuple": "tuple",
}
CHECKERS = ("AssertOutOfBoundsWrapper", "OrderEnforcingWrapper", "TerminateIllegalWrapper")
UNBOUNDED = 1e6  # larger bounds count as none
FAR = 3e38  # stands for no bound: JSON has no infinity
LARGEST_TEXT, LARGEST_INFO, LARGEST_ARRAY = 2000, 1 << 16, 1000

Plain = Dict[str, Any]


class BrokenRule(Exception):
    """The environment broke its own rules in one slot."""


class UnfitSpace(Exception):
    """A space without a fixed size."""


# --- spaces, whether of gym or of gymnasium: their classes are known by name ---


def kind_of(space: Any) -> str:
    """Return the kind of a space; an empty text if it has no fixed size."""
    return next((NAMES[kind.__name__] for kind in type(space).__mro__ if kind.__name__ in NAMES), "")


def parts_of(space: Any) -> list[tuple[Any, Any]]:
    """Return the keys and spaces inside of a Dict or Tuple, in their order."""
    return list(space.spaces.items()) if kind_of(space) == "dict" else list(enumerate(space.spaces))


def leaves(space: Any) -> Iterator[Any]:
    """Yield the plain spaces inside of a space, depth first."""
    if kind_of(space) in ("dict", "tuple"):
        for _, part in parts_of(space):
            yield from leaves(part)
    else:
        yield space


def counts(leaf: Any) -> list[int]:
    """Return the options of each choice of a plain space."""
    kind = kind_of(leaf)
    if kind == "discrete":
        return [int(leaf.n)]
    if kind == "multi_discrete":
        return [int(count) for count in np.asarray(leaf.nvec).reshape(-1)]
    return [2] * size(leaf.shape) if kind == "multi_binary" else []


def size(shape: Any) -> int:
    """Return how many numbers an array has."""
    return int(np.prod(shape or (), dtype=np.int64))


def starts(leaf: Any) -> Any:
    """Return the first option of a choice, or of each; old versions begin with 0."""
    return np.asarray(getattr(leaf, "start", 0))


def form_of(space: Any) -> Plain:
    """Return a space as data, as `league.agent_spaces` has it."""
    kind = kind_of(space)
    if kind == "dict":
        return {"space": kind, "parts": [[str(key), form_of(part)] for key, part in parts_of(space)]}
    if kind == "tuple":
        return {"space": kind, "parts": [form_of(part) for _, part in parts_of(space)]}
    if kind == "discrete":
        return {"space": kind, "n": int(space.n), "start": int(starts(space))}
    if not kind:
        raise UnfitSpace(space)
    form = {"space": kind, "shape": [int(length) for length in space.shape]}
    if kind == "multi_discrete":
        first = np.broadcast_to(starts(space), space.shape).reshape(-1).tolist()
        return dict(form, options=counts(space), start=first, dtype=str(space.dtype))
    if kind == "box":
        form.update(dtype=str(space.dtype), low=bound(space.low, -FAR), high=bound(space.high, FAR))
    return form


def forms_of(agent: Any, seen: Any, acts: Any) -> Plain:
    """Return the spaces of an agent as data."""
    forms = {}
    for kind, space, lacks in (("observation", seen, "size"), ("action", acts, "number of parts")):
        try:
            forms[kind] = form_of(space)
        except UnfitSpace as unfit:
            raise ValueError(
                f"agent {agent!r} has the {kind} space {unfit}, which has no fixed {lacks}. Wrap the environment so "
                "that it offers Discrete, MultiDiscrete, MultiBinary, Box, Tuple or Dict (env.wrappers)"
            )
    return forms


def bound(values: Any, far: float) -> Any:
    """Return one bound for all numbers if they have the same, else a list."""
    given = np.asarray(values)
    finite = np.where(np.isfinite(given), given, far).astype(np.float64).reshape(-1)
    return float(finite[0]) if len(finite) and (finite == finite[0]).all() else finite.tolist()


# --- observations: from what an agent sees to its row ---

Write = Callable[[Any, Any], None]


def without_mask(space: Any) -> Any:
    """Return the parts of an observation that a row holds, as (key, space), or the one space that it is."""
    if kind_of(space) != "dict" or MASK not in space.spaces:
        return space
    rest = [(key, part) for key, part in parts_of(space) if key != MASK]
    return rest[0][1] if [key for key, _ in rest] == [OBSERVATION] else rest


def row_writer(seen: Any, shape: tuple[int, ...], dtype: str) -> Write:
    """Return how to write an observation into a row of this shape and dtype."""
    if not isinstance(seen, list) and kind_of(seen) == "box":
        own = "float32" if str(seen.dtype) == "float64" else str(seen.dtype)
        if (tuple(seen.shape), own) == (shape, dtype):
            return box_writer(seen)
    return (parts_writer(seen) if isinstance(seen, list) else flat_writer(seen))[1]


def box_writer(space: Any) -> Write:
    """Return how to write an array that must be exactly what its space says."""
    shape, dtype = tuple(space.shape), space.dtype

    def write(seen: Any, row: Any) -> None:
        if not isinstance(seen, np.ndarray) or seen.shape != shape or seen.dtype != dtype:
            given = f"{seen.dtype} {seen.shape}" if isinstance(seen, np.ndarray) else "a " + type(seen).__name__
            raise BrokenRule(f"its observation is {given}, but its space says {dtype} {shape}")
        row[...] = seen

    return write


def flat_writer(space: Any) -> tuple[int, Write]:
    """Return the length of a flattened observation, and how to write it to the beginning of a row."""
    kind = kind_of(space)
    if kind in ("dict", "tuple"):
        return parts_writer(parts_of(space))
    if kind in ("discrete", "multi_discrete"):
        return choice_writer(counts(space), starts(space).reshape(-1))
    length, shape, exact = size(space.shape), tuple(space.shape), box_writer(space)

    def write(seen: Any, row: Any) -> None:
        if kind == "box":
            exact(seen, row[:length].reshape(shape))
        elif np.shape(seen) != shape:
            raise BrokenRule(f"its observation has shape {np.shape(seen)}, but its space says {shape}")
        else:
            row[:length] = np.asarray(seen).reshape(-1)

    return length, write


def choice_writer(options: list[int], first: Any) -> tuple[int, Write]:
    """Return how to write choices one-hot."""
    count = np.array(options)
    offset, length = np.cumsum(count) - count, int(count.sum())

    def write(seen: Any, row: Any) -> None:
        choice = np.asarray(seen).reshape(-1) - first
        if choice.dtype.kind not in "iu" or ((choice < 0) | (choice >= count)).any():
            raise BrokenRule(f"its observation {seen!r} is not a choice among {options}")
        row[:length] = 0
        row[offset + choice] = 1

    return length, write


def parts_writer(parts: list[tuple[Any, Any]]) -> tuple[int, Write]:
    """Return how to write the parts of a Dict or Tuple one after the other."""
    places, begin = [], 0
    for key, part in parts:
        length, write_part = flat_writer(part)
        places.append((key, begin, begin + length, write_part))
        begin += length

    def write(seen: Any, row: Any) -> None:
        for key, first, last, write_part in places:
            write_part(seen[key], row[first:last])

    return begin, write


# --- actions and masks ---


def action_maker(space: Any, heads: list[int], single: bool) -> Callable[[Any], Any]:
    """Return how to make an action of a space from the parts that a row has."""
    if single and kind_of(space) == "discrete":
        first = int(starts(space))
        return lambda action: action + first
    take, width = taker(space), len(heads)

    def make(action: Any) -> Any:
        parts = [action] if single else action
        return take(iter(parts[:width]), iter(parts[width:]))

    return make


def taker(space: Any) -> Callable[[Iterator[Any], Iterator[Any]], Any]:
    """Return the function that takes its choices and its numbers, and makes an action of them."""
    kind = kind_of(space)
    if kind in ("dict", "tuple"):
        takes = [(key, taker(part)) for key, part in parts_of(space)]
        if kind == "dict":
            return lambda choices, numbers: {key: take(choices, numbers) for key, take in takes}
        return lambda choices, numbers: tuple(take(choices, numbers) for _, take in takes)
    if kind == "discrete":
        return lambda choices, numbers: int(next(choices)) + int(starts(space))
    if kind == "box":
        return box_taker(space)
    count, shape, dtype, first = len(counts(space)), space.shape, space.dtype, starts(space)
    return lambda choices, numbers: (
        np.array([int(next(choices)) for _ in range(count)]).reshape(shape) + first
    ).astype(dtype)


def box_taker(space: Any) -> Callable[[Iterator[Any], Iterator[Any]], Any]:
    """Return the function that scales numbers between -1 and 1 to the bounds of a Box."""
    low, high = np.asarray(space.low, np.float64), np.asarray(space.high, np.float64)
    no_low, no_high = low < -UNBOUNDED, high > UNBOUNDED
    below = np.where(no_low, np.where(no_high, -1.0, high - 2), low)
    above = np.where(no_high, np.where(no_low, 1.0, low + 2), high)
    count, shape, dtype = size(space.shape), space.shape, np.dtype(space.dtype)

    def take(choices: Iterator[Any], numbers: Iterator[Any]) -> Any:
        share = np.array([next(numbers) for _ in range(count)], np.float64).reshape(shape)
        value = below + (np.clip(share, -1, 1) + 1) / 2 * (above - below)
        value = np.rint(value) if dtype.kind in "iu" else value
        return np.clip(value.astype(dtype), space.low, space.high)

    return take


def mask_writer(space: Any, heads: list[int], single: bool) -> tuple[Any, Write]:
    """Return which options an agent has of all, and how to write its mask into a row."""
    own = [count for leaf in leaves(space) for count in counts(leaf)]
    have = own + [1] * (len(heads) - len(own))  # of a choice that it lacks, the first option is legal
    legal = np.array([one < some for every, some in zip(heads, have) for one in range(every)], np.bool_)
    offsets = np.cumsum([0, *heads])
    places = [offset + np.arange(count) for offset, count in zip(offsets, own)]
    place = np.concatenate(places) if places else np.zeros(0, np.intp)
    shape, plain_choice = (len(place),), single and kind_of(space) == "discrete"

    def write(given: Any, mask: Any) -> None:
        if plain_choice and np.shape(given) != shape:
            raise BrokenRule(f"its action mask has shape {np.shape(given)}, but it has {len(place)} actions")
        if type(given) is np.ndarray and given.shape == shape == mask.shape and given.dtype != object:
            mask[...] = given
            return
        mask[...] = legal
        try:
            mask[place] = flat_mask(space, given)
        except (ValueError, TypeError, IndexError) as error:
            raise BrokenRule(f"its action mask {given!r} does not fit its action space {space}: {error}")

    return legal, write


def flat_mask(space: Any, given: Any) -> Any:
    """Return a mask in any form that an environment may give it as one array over all options of its space."""
    kind, total = kind_of(space), sum(sum(counts(leaf)) for leaf in leaves(space))
    if given is None:
        return np.ones(total, np.bool_)
    if isinstance(given, np.ndarray) and given.dtype != object and given.shape == (total,):
        return given.astype(np.bool_)
    if kind == "dict" and isinstance(given, dict):
        parts = [flat_mask(part, given.get(key)) for key, part in parts_of(space)]
    elif kind == "tuple" and isinstance(given, (list, tuple)) and len(given) == len(space.spaces):
        parts = [flat_mask(part, one) for (_, part), one in zip(parts_of(space), given)]
    elif kind == "multi_binary" and np.shape(given) == tuple(space.shape):
        parts = [np.array([one != 1, one != 0]) for one in np.asarray(given).reshape(-1)]
    else:
        parts = choice_masks(counts(space), given)
    return np.concatenate(parts) if parts else np.zeros(0, np.bool_)


def choice_masks(options: list[int], given: Any) -> list[Any]:
    """Return the masks of choices that are given one by one or concatenated."""
    if not isinstance(given, (list, tuple, np.ndarray)):
        raise ValueError(f"expected an array, got a {type(given).__name__}")
    if nested(given):
        masks = [np.asarray(one, np.bool_) for one in unnested(given)]
    else:
        masks = np.split(np.asarray(given, np.bool_), np.cumsum(options)[:-1]) if options else []
    if [len(one) for one in masks] != options:
        raise ValueError(f"it has {[len(one) for one in masks]} options, but there are {options}")
    return masks


def nested(given: Any) -> bool:
    """Return whether something has arrays inside, and not numbers."""
    inside = (list, tuple, np.ndarray)
    return len(given) > 0 and isinstance(given[0], inside) and np.ndim(given[0][:1]) > 0


def unnested(given: Any) -> Iterator[Any]:
    """Yield the arrays of options in nested tuples."""
    for one in given:
        if nested(one):
            yield from unnested(one)
        else:
            yield one


# --- one slot ---


class Table:
    """The arrays of all slots, and how each agent's observations, masks and actions are converted."""

    def __init__(self, env: Any, order: Plain, memory: Any) -> None:
        for name, (offset, shape, dtype) in order["arrays"].items():
            setattr(self, name, np.ndarray(shape, dtype, memory, offset))
        self.agents = list(env.possible_agents)
        self.number = {agent: number for number, agent in enumerate(self.agents)}
        heads, single, self.has_state = order["heads"], order["single"], "state" in order["arrays"]
        shape, dtype = tuple(order["arrays"]["observation"][1][2:]), order["arrays"]["observation"][2]
        self.makers = [action_maker(env.action_space(agent), heads, single) for agent in self.agents]
        self.masks = [mask_writer(env.action_space(agent), heads, single) for agent in self.agents]
        spaces = [env.observation_space(agent) for agent in self.agents]
        self.writers = [row_writer(without_mask(space), shape, dtype) for space in spaces]
        self.masked = [kind_of(space) == "dict" and MASK in space.spaces for space in spaces]
        self.bare = [has and set(space.spaces) == {OBSERVATION, MASK} for has, space in zip(self.masked, spaces)]

    observation: Any
    mask: Any
    reward: Any
    ready: Any
    acted: Any
    ended: Any  # 1: terminated, 2: truncated
    over: Any
    late: Any  # rewards of agents that have ended
    listed: Any  # who takes part, though perhaps without a decision
    moving: Any
    action: Any
    state: Any


class Place:
    """Writes the rows of one slot."""

    def __init__(self, table: Table, slot: int) -> None:
        self.table, self.slot = table, slot
        self.rows, self.masks = list(table.observation[slot]), list(table.mask[slot])
        self.rewards, self.ready, self.acted = table.reward[slot], table.ready[slot], table.acted[slot]
        self.ended = [False] * len(table.agents)
        self.infos: Plain = {}

    def clear(self) -> None:
        """Prepare for an episode."""
        table, slot = self.table, self.slot
        for array in (table.observation, table.mask, table.reward, table.ready, table.acted, table.ended, table.over):
            array[slot] = 0
        table.late[slot] = 0
        self.ended = [False] * len(table.agents)
        self.infos = {}

    def check(self, env: Any) -> None:
        """Refuse an environment whose agents are not those that have seats."""
        agents = list(getattr(env, "possible_agents", ()))
        if agents != self.table.agents:
            raise BrokenRule(
                f"possible_agents is {agents} after reset, but the league seated {self.table.agents}. Seats are the "
                "same in all episodes: list "
                "all agents that can ever play, and leave out of env.agents who does not"
            )

    def find(self, agent: Any) -> int:
        """Return the number of an agent."""
        number = self.table.number.get(agent)
        if number is None:
            raise BrokenRule(
                f"agent {agent!r} is not among possible_agents {self.table.agents}, so it has no seat; list it there"
            )
        return number

    def pay(self, rewards: Any) -> None:
        """Add to the rewards of agents since their last decisions."""
        try:
            if None in rewards.values():
                raise TypeError
            if not any(rewards.values()):
                return
            for agent, reward in rewards.items():
                if reward:
                    number = self.find(agent)
                    if self.ended[number] and self.acted[number]:
                        self.pay_late(number, float(reward))
                    else:
                        self.rewards[number] += reward
        except (TypeError, ValueError):
            raise not_a_number(rewards)

    def pay_late(self, number: int, reward: float) -> None:
        """Pay an agent that has ended."""
        if not np.isfinite(reward):
            raise BrokenRule(f"agent {self.table.agents[number]!r}: its reward is NaN or infinite, after its end")
        self.table.late[self.slot, number] += reward

    def enlist(self, agents: Any) -> None:
        """Set who takes part from the beginning; whoever acts or ends later takes part as well."""
        self.table.listed[self.slot] = [agent in agents for agent in self.table.agents]

    def join(self, agents: Any) -> None:
        """Let more agents take part, whether or not they have a decision."""
        for agent in agents:
            self.table.listed[self.slot, self.find(agent)] = True

    def show(self, agent: Any, seen: Any, info: Any) -> int:
        """Write the observation of an agent that must act now; return its number."""
        number = self.find(agent)
        table = self.table
        if self.ended[number]:
            raise BrokenRule(f"agent {agent!r} came back after its end; PettingZoo wants a new agent with a new name")
        try:
            value = seen[OBSERVATION] if table.bare[number] else seen
            table.writers[number](value, self.rows[number])
            legal, write_mask = table.masks[number]
            if table.masked[number]:
                write_mask(seen[MASK], self.masks[number])
            elif MASK in info:
                write_mask(info[MASK], self.masks[number])
            else:
                self.masks[number][...] = legal
        except BrokenRule as error:
            raise BrokenRule(f"agent {agent!r}: {error}")
        self.ready[number] = True
        return number

    def end(self, agent: Any, truncated: bool, seen: Any, info: Any) -> None:
        """End an agent; its observation is read only if it was truncated and has acted."""
        number = self.find(agent)
        if self.acted[number] and not self.ended[number]:
            if truncated:
                self.show(agent, seen, info)
                self.ready[number] = False
            self.table.ended[self.slot, number] = 2 if truncated else 1
        self.ended[number] = self.table.listed[self.slot, number] = True
        self.infos[agent] = info

    def cut(self, agent: Any, info: Any) -> None:
        """Truncate an agent that must act now: the observation that is written already is its final one."""
        number = self.find(agent)
        self.ended[number] = True
        self.table.ended[self.slot, number] = 2
        self.infos[agent] = info

    def unended(self) -> list[Any]:
        """Return the agents that acted and have not ended."""
        states = zip(self.table.agents, self.acted.tolist(), self.ended)
        return [agent for agent, acted, ended in states if acted and not ended]

    def has_infos(self) -> bool:
        """Return whether any agent ended with an info that is not empty."""
        return any(info or not isinstance(info, dict) for info in self.infos.values())

    def finish(self) -> None:
        """Free the slot."""
        if not self.acted.any():
            raise BrokenRule("the episode ended before any agent could act")
        self.table.over[self.slot] = True

    def look_at_all(self, env: Any) -> None:
        """Write the state of the whole slot, if critics see one."""
        if self.table.has_state:
            state, row = np.asarray(env.state()), self.table.state[self.slot]
            if state.shape != row.shape:
                raise BrokenRule(f"state() has shape {state.shape}, but state_space says {row.shape}")
            row[...] = state


def not_a_number(rewards: Any) -> BrokenRule:
    """Return an error that names the agent whose reward is no number."""
    odd = [agent for agent, paid in rewards.items() if np.ndim(paid) or not isinstance(paid, (int, float, np.number))]
    agent = (odd or list(rewards))[0]
    reward, remedy = rewards[agent], "give a number, e.g. float(reward)"
    if np.ndim(reward) == 1 and np.size(reward) > 1:
        example = ",".join(["1"] * np.size(reward))
        remedy = f"give a number, or a weight for each part of the vector: env.reward_weights=[{example}]"
    return BrokenRule(f"agent {agent!r}: its reward is {reward!r}; {remedy}")


def is_done(env: Any, agent: Any) -> bool:
    """Return whether an agent is done; before PettingZoo 1.22 there was one flag."""
    if hasattr(env, "terminations"):
        return bool(env.terminations[agent] or env.truncations[agent])
    return bool(env.dones[agent])


def flags_of(env: Any) -> tuple[Any, Any]:
    """Return who terminated and who was truncated."""
    return (env.terminations, env.truncations) if hasattr(env, "terminations") else (env.dones, {})


def strip(env: Any) -> Any:
    """Remove the outer wrappers of PettingZoo that only check what was checked for all slots at once."""
    while type(env).__name__ in CHECKERS and type(env).__module__.startswith("pettingzoo."):
        env = env.env
    return env


class Turns:
    """An AEC environment in one slot: agents act one at a time."""

    def __init__(self, env: Any, place: Place) -> None:
        self.env, self.inner, self.place, self.mover = env, strip(env), place, 0

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.place.clear()
        self.inner.reset(seed=seed)
        self.place.check(self.env)
        self.place.enlist(self.inner.agents)

    def act(self, numbers: list[int], actions: list[Any]) -> None:
        """Take the action of the one agent that was ready."""
        self.inner.step(self.place.table.makers[self.mover](actions[0]))
        self.place.pay(self.inner.rewards)

    def look(self) -> None:
        """Find the next agent that must act, after those that are done."""
        env, place = self.inner, self.place
        while env.agents:
            agent = env.agent_selection
            if not is_done(env, agent):
                self.mover = place.show(agent, env.observe(agent), env.infos[agent])
                return place.look_at_all(env)
            if all(is_done(env, one) for one in env.agents):
                break
            self.end(agent)
            env.step(None)
            if agent in env.agents:
                raise BrokenRule(f"agent {agent!r} is done but step(None) did not remove it from env.agents")
            place.pay({one: reward for one, reward in env.rewards.items() if one != agent})
        for agent in place.unended():
            self.end(agent)
        place.join(env.agents)
        place.finish()
        return place.look_at_all(env)

    def cut(self) -> None:
        """End the episode here: agents that live are truncated."""
        for agent in self.place.unended():
            self.end(agent, True)
        self.place.finish()

    def end(self, agent: Any, here: bool = False) -> None:
        """End an agent. One with both flags reached a true end."""
        env = self.inner
        terminated, truncated = (bool(flags.get(agent, False)) for flags in flags_of(env))
        cut = (here or truncated) and not terminated
        self.place.end(agent, cut, env.observe(agent) if cut else None, env.infos.get(agent, {}))


class Rounds:
    """A cycle of an AEC environment as one parallel step, with one `observe` for each agent."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.agents: list[Any] = []

    def reset(self, seed: int) -> Any:
        """Begin an episode."""
        self.env.reset(seed=seed)
        self.agents = list(self.env.agents)
        return {agent: self.env.observe(agent) for agent in self.agents}, self.env.infos

    def step(self, actions: Plain) -> Any:
        """Step every agent once, in the order in which the environment selects them."""
        env, rewards = self.env, dict.fromkeys(self.agents, 0.0)
        for agent in self.agents:
            if agent != env.agent_selection:
                raise BrokenRule(
                    f"agent {agent!r} should act next, but the environment selects {env.agent_selection!r}, "
                    "though its metadata says is_parallelizable"
                )
            env.step(actions[agent])
            for one, reward in env.rewards.items():
                rewards[one] = rewards.get(one, 0.0) + reward
        terminations, truncations = (dict(flags) for flags in flags_of(env))
        infos, seen = dict(env.infos), {agent: env.observe(agent) for agent in env.agents}
        while env.agents and is_done(env, env.agent_selection):
            env.step(None)
        self.agents = list(env.agents)
        return seen, rewards, terminations, truncations, infos

    def state(self) -> Any:
        """Return the state of the whole environment."""
        return self.env.state()


class Together:
    """A Parallel environment in one slot: all agents that live act at once."""

    def __init__(self, env: Any, place: Place) -> None:
        whole = type(env).__name__ == "aec_to_parallel_wrapper" and type(env).__module__.startswith("pettingzoo.")
        self.env, self.place, self.infos = env, place, {}  # type: Any, Place, Plain
        self.inner = Rounds(strip(env.aec_env)) if whole else env

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.place.clear()
        seen, infos = both(self.inner.reset(seed=seed))
        self.place.check(self.env)
        self.place.enlist(self.inner.agents)
        self.write(list(self.inner.agents), seen, infos)

    def act(self, numbers: list[int], actions: list[Any]) -> None:
        """Take the actions of all agents that were ready."""
        place, table = self.place, self.place.table
        chosen = {table.agents[n]: table.makers[n](action) for n, action in zip(numbers, actions)}
        seen, rewards, terminations, truncations, infos = five(self.inner.step(chosen))
        place.pay(rewards)
        live = [one for one in self.inner.agents if not (terminations.get(one) or truncations.get(one))]
        for agent in place.unended():
            if agent not in live:
                cut = bool(truncations.get(agent)) and not terminations.get(agent)
                place.end(agent, cut, seen.get(agent), infos.get(agent, {}))
        self.write(live, seen, infos)

    def look(self) -> None:
        """Write the state of the whole; all else is written when the environment returns it."""
        self.place.look_at_all(self.inner)

    def cut(self) -> None:
        """End the episode here. All agents that live must act now: the observations that are written are final."""
        for agent in self.place.unended():
            self.place.cut(agent, self.infos.get(agent, {}))
        self.place.finish()

    def write(self, live: list[Any], seen: Plain, infos: Plain) -> None:
        """Write the rows of agents that live; without any the episode is over."""
        self.infos = infos
        if not live:
            return self.place.finish()
        for agent in live:
            if agent not in seen:
                raise BrokenRule(f"agent {agent!r} is in env.agents but was given no observation")
            self.place.show(agent, seen[agent], infos.get(agent, {}))
        return None


def both(result: Any) -> tuple[Any, Any]:
    """Return observations and infos of a reset; before PettingZoo 1.23 there were no infos."""
    return result if isinstance(result, tuple) else (result, {})


def five(result: Any) -> Any:
    """Return what a step gives; before PettingZoo 1.22 there was one flag for the end."""
    if len(result) == 5:
        return result
    seen, rewards, dones, infos = result
    return seen, rewards, dones, {}, infos


# --- all slots ---


class FarGames:
    """The games of all slots."""

    def __init__(self, build: Callable[[], Any], first: Any, order: Plain, memory: Any) -> None:
        self.build, self.spare, self.fresh, self.most = build, first, order["fresh"], order["max_steps"]
        self.table = Table(first, order, memory)
        self.steps: dict[int, int] = {}  # of each slot's episode
        self.games: dict[int, Any] = {}
        self.game = Together if is_parallel(first) else Turns

    def start(self, slots: list[int], seeds: list[int], drop: list[int]) -> Plain:
        """Begin episodes; return the slots that failed, with reasons."""
        for slot in drop:
            self.drop(slot)
        faults = {}
        for slot, seed in zip(slots, seeds):
            try:
                game = self.at(slot)
                game.begin(seed)
                game.look()
                self.steps[slot] = 0
            except (Exception, SystemExit) as error:
                faults[slot] = reason("reset", error)
                self.drop(slot)
        return {"faults": faults}

    def step(self) -> Plain:
        """Take the actions of all agents that move; return slots that failed, and infos of slots that are over."""
        table, faults = self.table, {}
        moved = []
        slots, agents = np.nonzero(table.moving)
        actions = table.action[slots, agents].tolist()
        for slot, numbers, chosen in by_slot(slots.tolist(), agents.tolist(), actions):
            try:
                self.games[slot].act(numbers, chosen)
                moved.append(slot)
            except (Exception, SystemExit) as error:
                faults[slot] = reason("step", error)
        for slot in moved:
            try:
                self.games[slot].look()
                self.cut(slot)
            except (Exception, SystemExit) as error:
                faults[slot] = reason("step", error)
        for slot in faults:
            self.drop(slot)
        over = [slot for slot in np.flatnonzero(table.over).tolist() if slot in self.games]
        infos = {slot: small(self.games[slot].place.infos) for slot in over if self.games[slot].place.has_infos()}
        return {"faults": faults, "infos": infos} if faults or infos else {}

    def cut(self, slot: int) -> None:
        """Truncate an episode that has reached the limit."""
        self.steps[slot] += 1
        if self.most and self.steps[slot] >= self.most and not self.table.over[slot]:
            self.games[slot].cut()
            self.table.ready[slot] = False

    def at(self, slot: int) -> Any:
        """Return the game of a slot, built if it is new."""
        if self.fresh:
            self.drop(slot)
        if slot not in self.games:
            env, self.spare = self.build() if self.spare is None else self.spare, None
            self.games[slot] = self.game(env, Place(self.table, slot))
        return self.games[slot]

    def drop(self, slot: int) -> None:
        """Drop the environment of a slot; errors of its close() do not matter."""
        game = self.games.pop(slot, None)
        if game is not None:
            try:
                game.env.close()
            except Exception:
                traceback.print_exc()

    def render(self, slot: int) -> str:
        """Return the environment's own text; empty if it has none."""
        game = self.games.get(slot)
        if game is None or getattr(game.env, "render_mode", None) != "ansi":
            return ""
        shown = game.env.unwrapped.render()
        return "" if shown is None else str(shown)

    def picture(self, slot: int) -> Any:
        """Return the environment's own picture; None if it has none."""
        game = self.games.get(slot)
        if game is None or getattr(game.env, "render_mode", None) != "rgb_array":
            return None
        shown = np.asarray(game.env.unwrapped.render())
        return np.ascontiguousarray(shown) if shown.ndim == 3 and shown.dtype.kind in "iu" else None

    def close(self) -> None:
        """Close every environment."""
        for slot in list(self.games):
            self.drop(slot)
        if self.spare is not None:
            self.spare.close()


def by_slot(slots: list[int], agents: list[int], actions: list[Any]) -> Iterator[tuple[int, list[int], list[Any]]]:
    """Yield each slot with its agents and their actions."""
    begin = 0
    for end in range(1, len(slots) + 1):
        if end == len(slots) or slots[end] != slots[begin]:
            yield slots[begin], agents[begin:end], actions[begin:end]
            begin = end


def reason(doing: str, error: BaseException) -> str:
    """Return what broke, and where in the environment's code."""
    if isinstance(error, BrokenRule):
        return str(error)[:LARGEST_TEXT]
    place = traceback.extract_tb(error.__traceback__)[-1]
    message = f": {error}" if str(error) else ""
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    return f"{doing} raised {type(error).__name__}{message[:LARGEST_TEXT]} ({where})"


def small(infos: Plain) -> Plain:
    """Return infos as JSON can hold them; of large ones only the winner."""
    found = {str(agent): plain(info) for agent, info in infos.items()}
    if len(json.dumps(found)) <= LARGEST_INFO:
        return found
    named = {agent: info for agent, info in found.items() if isinstance(info, dict)}
    return {agent: {key: info[key] for key in ("winner",) if key in info} for agent, info in named.items()}


def plain(value: Any, depth: int = 8) -> Any:
    """Return a value as JSON can hold it; what it cannot becomes text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size <= LARGEST_ARRAY:
        return value.tolist()
    if depth and isinstance(value, dict):
        return {str(key): plain(part, depth - 1) for key, part in value.items()}
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return [plain(part, depth - 1) for part in value]
    return repr(value)[:100]


# --- environments of another form: agents that are no texts, observations to cast, rewards that are vectors ---


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
    """Return an observation in the dtype and shape of its space; raise BrokenRule if that would change its numbers."""
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
        raise BrokenRule(f"its observation {seen!r} holds something that is no number")
    if array.size != size(shape):
        raise BrokenRule(f"its observation has shape {array.shape}, but its space says {shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.reshape(shape).astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(cast, array.reshape(shape)):
        raise BrokenRule(f"its observation {seen!r} does not fit into {dtype}, the dtype of its space")
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
            raise BrokenRule(
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


def use_older_names(renamed: Plain) -> None:
    """Let PettingZoo have its older names, too: `renamed` has what each is called today."""
    utils = importlib.import_module("pettingzoo.utils")
    conversions = importlib.import_module("pettingzoo.utils.conversions")
    selector = sys.modules.get("pettingzoo.utils.agent_selector")
    if hasattr(selector, "AgentSelector") and not callable(getattr(utils, "agent_selector", None)):
        selector.__class__ = OlderSelector
    for old, new in renamed.items():
        for module in (utils, conversions):
            if not hasattr(module, old) and hasattr(conversions, new):
                setattr(module, old, getattr(conversions, new))


class OlderSelector(ModuleType):
    """A module that is called as the class that once had its name."""

    def __call__(self, *given: Any, **options: Any) -> Any:
        """Make an `AgentSelector`."""
        return self.AgentSelector(*given, **options)


# --- loading an environment ---


def is_parallel(env: Any) -> bool:
    """Return whether an environment has the Parallel API."""
    return any(kind.__name__ == "ParallelEnv" for kind in type(env).__mro__)


def load(module: str, names: list[str], known: bool) -> Any:
    """Import the first of some names of a module; `known` ones must be environments of their own package."""
    home = importlib.import_module(module)
    found = next((getattr(home, name) for name in names if hasattr(home, name)), None)
    if found is None:
        raise AttributeError(f"{module} has no {' and no '.join(names)}")
    if isinstance(found, ModuleType) and not known:
        makers = [getattr(found, name) for name in ("parallel_env", "env", "raw_env") if hasattr(found, name)]
        if not makers:
            raise ValueError(f"{module}:{names[0]} is a module without a function parallel_env, env or raw_env")
        found = makers[0]
    place = str(getattr(found, "__module__", "") or type(found).__module__)
    allowed = (module.partition(".")[0] + ".", "pettingzoo.")
    if known and not (isinstance(found, (type, FunctionType)) and place.startswith(allowed)):
        raise ValueError(f"{module}:{names[0]} is not defined in its package, but in {place}")
    return found


def builder(order: Plain) -> Callable[[], Any]:
    """Return the function that builds the environment of an order, in its wrappers."""
    sys.path.extend(path for path in order["paths"] if path not in sys.path)
    if order["compat"]:
        use_older_names(order["compat"])
    make = load(order["module"], order["names"], order["known"])
    wrappers = [(load(module, [name], known), options) for module, name, options, known in order["wrappers"]]

    def build() -> Any:
        env = make(*order["args"], **order["kwargs"])
        for wrap, options in wrappers:
            env = wrap(env, **options)
        return converted(env, order["cast"], order["weights"])

    return build


def describe(env: Any) -> Plain:
    """Return all that the near side needs to know of an environment."""
    kinds = [kind.__name__ for kind in type(env).__mro__]
    if "AECEnv" not in kinds and "ParallelEnv" not in kinds:
        raise ValueError(f"expected a PettingZoo environment (AEC or Parallel), got a {type(env).__name__}")
    metadata = getattr(env, "metadata", None) or {}
    agents = list(getattr(env, "possible_agents", ()))
    spaces = [(env.observation_space(agent), env.action_space(agent)) for agent in agents]
    try:
        state = env.state_space
    except (AttributeError, NotImplementedError):
        state = None
    modules = {name: getattr(sys.modules.get(name), "__version__", "") for name in ("numpy", "pettingzoo")}
    return {
        "agents": plain(agents),
        "name": str(metadata.get("name") or ""),
        "turn_based": not metadata.get("is_parallelizable", is_parallel(env)),
        "render_modes": [str(mode) for mode in metadata.get("render_modes") or ()],
        "spaces": [forms_of(agent, *pair) for agent, pair in zip(agents, spaces)],
        "texts": [[str(seen), str(acts)] for seen, acts in spaces],
        "state": form_of(state) if kind_of(state) == "box" else None,
        "versions": dict(modules, python=".".join(map(str, sys.version_info[:3]))),
    }


# --- what checks need: PettingZoo's own loop, and its own tests ---


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
            frame = traceback.extract_tb(error.__traceback__)[-1]
            inside = frame.filename.startswith(os.path.dirname(str(own.__file__)))
            crashed = inside and not isinstance(error, AssertionError)
            place = f" ({os.path.basename(frame.filename)}:{frame.lineno})" if crashed or not inside else ""
            what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")
            found.append((f"PettingZoo's {name}: {what[:LARGEST_TEXT]}{place}", crashed))
    return found


# --- orders ---


class FarSide:
    """Carries out the orders of the near side, one at a time."""

    def __init__(self, channel: socket.socket, memory: int) -> None:
        self.channel, self.memory = channel, memory
        self.build: Any = None
        self.first: Any = None
        self.games: Any = None
        self.pid = os.getpid()

    def serve(self) -> None:
        """Carry out orders until one closes, or the near side is gone."""
        while True:
            order = self.receive()
            if order and order["do"] == "close":
                return self.close()
            try:
                answer = getattr(self, "do_" + order["do"])(order) if order else self.games.step()
            except (Exception, SystemExit) as error:
                traceback.print_exc()
                place = traceback.extract_tb(error.__traceback__)[-1]
                answer = {"error": str(error)[:LARGEST_TEXT], "type": type(error).__name__}
                answer.update(place=f"{place.filename}:{place.lineno}", line=place.line or "")
            if os.getpid() != self.pid:  # the game forked a process that came back from its call
                os._exit(70)
            flush()
            self.send(json.dumps(answer).encode() if answer else b"")

    def close(self) -> None:
        """Close the games, and say so."""
        if self.games is not None:
            self.games.close()
        self.send(b"")

    def do_leave(self, order: Plain) -> Plain:
        """Close the games; others may be opened after them."""
        for part in (self.games, self.first):
            if part is not None:
                part.close()
        self.games = self.first = None
        return {}

    def do_open(self, order: Plain) -> Plain:
        """Build one environment, and describe it."""
        self.build = builder(order)
        self.first = self.build()
        return describe(self.first)

    def do_seat(self, order: Plain) -> Plain:
        """Map the shared memory."""
        self.games = FarGames(self.build, self.first, order, mmap.mmap(self.memory, order["size"]))
        self.first = None
        return {}

    def do_build(self, order: Plain) -> Plain:
        """Build the environment of a slot; one that fails fails again when its episode begins, and is a fault then."""
        try:
            self.games.at(order["slot"])
        except (Exception, SystemExit):
            traceback.print_exc()
        return {}

    def do_start(self, order: Plain) -> Plain:
        """Begin episodes."""
        return self.games.start(order["slots"], order["seeds"], order["drop"])  # type: ignore[no-any-return]

    def do_render(self, order: Plain) -> Plain:
        """Return a slot as text."""
        return {"text": self.games.render(order["slot"])}

    def do_picture(self, order: Plain) -> Plain:
        """Return the shape of a slot's picture, and send the picture after it."""
        shown = self.games.picture(order["slot"])
        if shown is None:
            return {}
        self.send(json.dumps({"shape": shown.shape, "dtype": str(shown.dtype)}).encode())
        self.send(shown.tobytes())
        return {}

    def do_returns(self, order: Plain) -> Plain:
        """Play an episode in PettingZoo's own loop."""
        env = self.build()
        try:
            return OwnLoop(env).play(order["seed"], order["ticks"])
        finally:
            env.close()

    def do_complaints(self, order: Plain) -> Plain:
        """Run PettingZoo's own tests."""
        return {"complaints": own_complaints(self.build)}

    def receive(self) -> Plain:
        """Return the next order; end the process when the near side is gone."""
        (length,) = struct.unpack("<I", self.exactly(4))
        return json.loads(self.exactly(length)) if length else {}

    def exactly(self, length: int) -> bytes:
        """Read that many bytes."""
        data = b""
        while len(data) < length:
            more = self.channel.recv(length - len(data))
            if not more:
                os._exit(0)
            data += more
        return data

    def send(self, data: bytes) -> None:
        """Send a frame."""
        self.channel.sendall(struct.pack("<I", len(data)) + data)


def flush() -> None:
    """Write what the game printed, so that it can be counted; a game may have closed its output."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()


def end_with(parent: int, lifeline: int, hard: bool) -> None:
    """End this process when its parent does, however that dies and whatever the game does just then.

    The kernel can end even a game that hangs in native code, but counts the end of the thread that started it as the
    end of the parent: so only a main thread asks for this (`hard`).
    """
    if hard and sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(0)

    def watch() -> None:
        while os.read(lifeline, 1):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True, name="parent").start()


def main(channel: int, memory: int, lifeline: int, parent: int, hard: int) -> None:
    """Serve the near side; the descriptors come from it."""
    for descriptor in (channel, memory, lifeline):
        os.set_inheritable(descriptor, False)
    faulthandler.enable(all_threads=False)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, all_threads=False)
    end_with(parent, lifeline, bool(hard))
    FarSide(socket.socket(fileno=channel), memory).serve()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
