"""Actions and masks: from the parts of an action, as rows have them, to what an environment wants."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from .errors import BrokenError
from .spaces import Write, counts, kind_of, leaves, parts_of, size, starts

UNBOUNDED = 1e6  # larger bounds count as none


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
            raise BrokenError(f"its action mask has shape {np.shape(given)}, but it has {len(place)} actions")
        if type(given) is np.ndarray and given.shape == shape == mask.shape and given.dtype != object:
            mask[...] = given
            return
        mask[...] = legal
        try:
            mask[place] = flat_mask(space, given)
        except (ValueError, TypeError, IndexError) as error:
            raise BrokenError(f"its action mask {given!r} does not fit its action space {space}: {error}")

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
