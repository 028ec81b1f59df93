"""Action spaces: from the parts of an action, as rows have them, to what an environment wants.

Discrete is a choice, MultiDiscrete and MultiBinary are several, Box is continuous numbers; Tuple and Dict are
all of theirs, one after the other. Agents may have different spaces: each choice has the options of the agent
with the most, and an agent that lacks a choice has one legal option there, number 0. A continuous number that
an agent lacks is ignored.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

BoolArray = npt.NDArray[np.bool_]
Space = spaces.Space[Any]
Play = Callable[[Any], Any]  # from an action as rows have it to one of the environment

UNBOUNDED = 1e6  # larger bounds count as none


class ActionError(ValueError):
    """A mask that does not fit its action space; the message says how."""


@dataclass(frozen=True, slots=True)
class SpaceParts:
    """The parts of one space: the options of each choice, and how many continuous numbers."""

    choices: tuple[int, ...]
    continuous: int


@dataclass(frozen=True, slots=True)
class Actions:
    """The parts of an action that all agents share, and how each agent's actions are converted."""

    kind: SpaceParts
    plays: Mapping[str, Play]
    legal: Mapping[str, BoolArray]  # the options that an agent has, among those of all choices
    spaces: Mapping[str, Space]

    @property
    def single(self) -> bool:
        """Whether an action is one choice, an integer."""
        return len(self.kind.choices) == 1 and not self.kind.continuous

    @property
    def options(self) -> int:
        """The options of all choices."""
        return sum(self.kind.choices)

    def own(self, agent: str) -> npt.NDArray[np.intp]:
        """Return the places of an agent's own options among all, in the order of its choices."""
        offsets = [0, *accumulate(self.kind.choices)]
        counts = [count for leaf in _leaves(self.spaces[agent]) for count in _counts(leaf)]
        places = [offset + np.arange(count) for offset, count in zip(offsets, counts, strict=False)]
        return np.concatenate(places) if places else np.zeros(0, np.intp)


def read_actions(name: str, found: Mapping[str, Space]) -> Actions:
    """Return the actions of all agents; raise ValueError, naming agent and remedy, if one cannot be played.

    >>> read_actions("toy", {"a": spaces.Discrete(3), "b": spaces.MultiDiscrete([2, 4])}).kind
    SpaceParts(choices=(3, 4), continuous=0)
    """
    kinds = {agent: _kind(name, agent, space) for agent, space in found.items()}
    width = max(len(kind.choices) for kind in kinds.values())
    most = tuple(
        max(kind.choices[place] if place < len(kind.choices) else 1 for kind in kinds.values())
        for place in range(width)
    )
    kind = SpaceParts(most, max(kind.continuous for kind in kinds.values()))
    if not width + kind.continuous:
        raise ValueError(f"{name}: no agent has anything to choose: the action spaces are {dict(found)}.")
    single = width == 1 and not kind.continuous
    return Actions(
        kind=kind,
        plays={agent: _play_single(space) if single else _play(space, width) for agent, space in found.items()},
        legal={agent: _own_options(most, own.choices) for agent, own in kinds.items()},
        spaces=dict(found),
    )


def _kind(name: str, agent: str, space: Space) -> SpaceParts:
    for leaf in _leaves(space):
        if not isinstance(leaf, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary | spaces.Box):
            raise ValueError(
                f"{name}: agent {agent!r} has the action space {leaf}, which has no fixed number of parts. Wrap the "
                "environment so that it offers Discrete, MultiDiscrete, MultiBinary, Box, Tuple or Dict (env.wrappers)."
            )
    choices = tuple(count for leaf in _leaves(space) for count in _counts(leaf))
    return SpaceParts(choices, sum(_size(leaf) for leaf in _leaves(space) if isinstance(leaf, spaces.Box)))


def _leaves(space: Space) -> Iterator[Space]:
    """Yield the parts of a nested space, depth first."""
    if isinstance(space, spaces.Dict):
        for part in space.spaces.values():
            yield from _leaves(part)
    elif isinstance(space, spaces.Tuple):
        for part in space.spaces:
            yield from _leaves(part)
    else:
        yield space


def _counts(leaf: Space) -> tuple[int, ...]:
    """Return the options of each choice of a plain space."""
    if isinstance(leaf, spaces.Discrete):
        return (int(leaf.n),)
    if isinstance(leaf, spaces.MultiDiscrete):
        return tuple(int(count) for count in leaf.nvec.reshape(-1))
    return (2,) * _size(leaf) if isinstance(leaf, spaces.MultiBinary) else ()


def _size(leaf: Space) -> int:
    return math.prod(leaf.shape or ())


def _own_options(most: Sequence[int], own: Sequence[int]) -> BoolArray:
    """Return which of the options of all choices an agent has; of a choice that it lacks, the first one."""
    counts = [own[place] if place < len(own) else 1 for place in range(len(most))]
    has = [np.arange(all_of) < count for all_of, count in zip(most, counts, strict=True)]
    return np.concatenate(has) if has else np.zeros(0, np.bool_)


# --- from parts to an action of the environment ---

Take = Callable[[Iterator[float], Iterator[float]], Any]  # takes its choices and its numbers


def _play_single(space: Space) -> Play:
    if isinstance(space, spaces.Discrete):
        return int(space.start).__add__
    convert = _take(space)
    return lambda action: convert(iter((action,)), iter(()))


def _play(space: Space, width: int) -> Play:
    convert = _take(space)

    def play(action: Any) -> Any:
        parts = action.tolist() if isinstance(action, np.ndarray) else list(action)
        return convert(iter(parts[:width]), iter(parts[width:]))

    return play


def _take(space: Space) -> Take:
    """Return the function that builds an action of a space from its parts."""
    if isinstance(space, spaces.Dict):
        named = {key: _take(part) for key, part in space.spaces.items()}
        return lambda choices, numbers: {key: take(choices, numbers) for key, take in named.items()}
    if isinstance(space, spaces.Tuple):
        takes = tuple(map(_take, space.spaces))
        return lambda choices, numbers: tuple(take(choices, numbers) for take in takes)
    if isinstance(space, spaces.Discrete):
        start = int(space.start)
        return lambda choices, numbers: int(next(choices)) + start
    return _take_box(space) if isinstance(space, spaces.Box) else _take_choices(space)


def _take_choices(space: Space) -> Take:
    size, shape, dtype = len(_counts(space)), space.shape, space.dtype
    start = np.asarray(getattr(space, "start", 0))

    def take(choices: Iterator[float], numbers: Iterator[float]) -> Any:
        chosen = np.array([int(next(choices)) for _ in range(size)])
        return (chosen.reshape(shape) + start).astype(dtype)

    return take


def _take_box(space: spaces.Box) -> Take:
    size, shape, dtype = _size(space), space.shape, space.dtype
    low, high = bounds(space)

    def take(choices: Iterator[float], numbers: Iterator[float]) -> Any:
        share = np.array([next(numbers) for _ in range(size)]).reshape(shape)
        value = low + (np.clip(share, -1, 1) + 1) / 2 * (high - low)
        value = np.rint(value) if dtype.kind in "iu" else value
        return np.clip(value.astype(dtype), space.low, space.high)

    return take


def bounds(space: spaces.Box) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return what -1 and 1 stand for: low and high. A side without a bound is 2 away from the other, or -1 and 1.

    >>> bounds(spaces.Box(np.array([0, 3, -np.inf]), np.array([5, np.inf, np.inf]), dtype=np.float64))[1].tolist()
    [5.0, 5.0, 1.0]
    """
    low, high = space.low.astype(np.float64), space.high.astype(np.float64)
    no_low, no_high = low < -UNBOUNDED, high > UNBOUNDED
    below = np.where(no_low, np.where(no_high, -1.0, high - 2), low)
    above = np.where(no_high, np.where(no_low, 1.0, low + 2), high)
    return below, above


# --- masks ---


def flat_mask(space: Space, given: Any) -> BoolArray:
    """Return a mask, as an environment gives it, as one array over the options of all choices of its space.

    It may be one such array already, or have the form of the space: a tuple with an array for each choice of a
    MultiDiscrete, a dict for a Dict; what is None or left out is all legal. For a MultiBinary, gymnasium's
    0, 1 and 2 (either) are known, too.

    >>> flat_mask(spaces.MultiDiscrete([2, 3]), ([1, 0], [0, 1, 1])).astype(int).tolist()
    [1, 0, 0, 1, 1]
    """
    total = sum(count for leaf in _leaves(space) for count in _counts(leaf))
    if given is None:
        return np.ones(total, np.bool_)
    if isinstance(given, np.ndarray) and given.dtype != object and given.shape == (total,):
        return given.astype(np.bool_)
    if isinstance(space, spaces.Dict) and isinstance(given, Mapping):
        parts = [flat_mask(part, given.get(key)) for key, part in space.spaces.items()]
    elif isinstance(space, spaces.Tuple) and isinstance(given, Sequence) and len(given) == len(space.spaces):
        parts = [flat_mask(part, one) for part, one in zip(space.spaces, given, strict=True)]
    elif isinstance(space, spaces.MultiBinary) and np.shape(given) == space.shape:
        parts = [np.array([one != 1, one != 0]) for one in np.asarray(given).reshape(-1)]
    else:
        parts = _choice_masks(space, given)
    return np.concatenate(parts) if parts else np.zeros(0, np.bool_)


def _choice_masks(space: Space, given: Any) -> list[BoolArray]:
    """Return the masks of the choices of a plain space, given one by one or concatenated."""
    counts = _counts(space)
    if not isinstance(given, Sequence | np.ndarray):
        raise ActionError(f"expected an array, got a {type(given).__name__}")
    if _nested(given):
        masks = [np.asarray(one, dtype=np.bool_) for one in _unnest(given)]
    else:
        masks = np.split(np.asarray(given, dtype=np.bool_), list(accumulate(counts))[:-1]) if counts else []
    if [len(one) for one in masks] != list(counts):
        raise ActionError(f"its action mask has {[len(one) for one in masks]} options, but {space} has {list(counts)}")
    return masks


def _nested(given: Any) -> bool:
    """Return whether something has arrays inside, and not numbers."""
    return len(given) > 0 and isinstance(given[0], Sequence | np.ndarray) and np.ndim(given[0][:1]) > 0


def _unnest(given: Any) -> Iterator[Any]:
    """Yield the arrays of options in nested tuples."""
    for one in given:
        if _nested(one):
            yield from _unnest(one)
        else:
            yield one
