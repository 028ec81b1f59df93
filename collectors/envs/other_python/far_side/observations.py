"""Observations: from what an agent sees to its row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import BrokenError
from .spaces import Write, counts, kind_of, parts_of, size, starts

MASK, OBSERVATION = "action_mask", "observation"
CAST = ". Fix it there, or let Ludus convert it: env.cast=true"


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
            raise BrokenError(f"its observation is {given}, but its space says {dtype} {shape}{CAST}")
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
            raise BrokenError(f"its observation has shape {np.shape(seen)}, but its space says {shape}")
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
            raise BrokenError(f"its observation {seen!r} is not a choice among {options}{CAST}")
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
