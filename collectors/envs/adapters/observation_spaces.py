"""Observation spaces and masks: from an agent's observation to one row of an array.

Agents whose observation is the same Box keep its shape and dtype (float64 becomes float32): an image stays an
image. All else, images of different sizes too, becomes a flat float32 vector: one-hot for Discrete and
MultiDiscrete, concatenated for Dict and Tuple, padded with zeros to the longest agent.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from collectors.envs.adapters.action_spaces import ActionError, Actions, flat_mask
from collectors.envs.adapters.space_forms import form_of
from league.agent_spaces import layout_of
from league.spec import Array

Row = npt.NDArray[Any]
Write = Callable[[Any, Row], None]
Read = Callable[[Any, Mapping[str, Any], Row, npt.NDArray[np.bool_]], None]

MASK = "action_mask"
OBSERVATION = "observation"
CAST = ". Fix it there, or let Ludus convert it: env.cast=true"


class BrokenError(Exception):
    """The environment broke its own rules in one slot: a wrong shape, a dead agent that came back."""


def observation_layout(name: str, found: Mapping[str, spaces.Space[Any]]) -> tuple[Array, dict[str, Write]]:
    """Return the array that fits every agent's observation, and for each agent how to write it."""
    kinds = {(space.shape, str(space.dtype)) if isinstance(space, spaces.Box) else None for space in found.values()}
    if len(kinds) == 1 and None not in kinds:
        box = next(iter(found.values()))
        return box_array(box), dict.fromkeys(found, _write_box(box))
    parts = {agent: _flat(name, agent, space) for agent, space in found.items()}
    longest = max(size for size, _ in parts.values())
    structures = {tuple(layout_of(form_of(space))) for space in found.values()}
    structure = structures.pop() if len(structures) == 1 else ()  # agents that differ have a plain vector in common
    array = Array(shape=(longest,), dtype="float32", structure=structure)
    return array, {agent: write for agent, (_, write) in parts.items()}


def box_array(box: spaces.Space[Any]) -> Array:
    """Return the array that holds a Box; networks compute with float32, so more digits are not kept."""
    dtype = str(box.dtype)
    return Array(shape=tuple(box.shape or ()), dtype="float32" if dtype == "float64" else dtype)


def without_mask(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """Return the space of the observation itself, without the mask that may lie beside it."""
    if not isinstance(space, spaces.Dict) or MASK not in space.spaces:
        return space
    rest = {key: part for key, part in space.spaces.items() if key != MASK}
    return rest[OBSERVATION] if set(rest) == {OBSERVATION} else spaces.Dict(rest)


def reader(
    space: spaces.Space[Any], write: Write, write_mask: Write, legal: npt.NDArray[np.bool_], single: bool
) -> Read:
    """Return the function that writes an agent's observation and mask into its rows.

    The mask is looked for in the observation, then in the info; without one all that the agent has is legal. `single`
    says whether an action is one choice.
    """
    if not isinstance(space, spaces.Dict) or MASK not in space.spaces:
        return _read_plain(write, write_mask, legal)
    bare = set(space.spaces) == {OBSERVATION, MASK}
    box = space[OBSERVATION] if bare and single else None
    # float64 is left to the writer, which knows what does not fit into float32.
    quick = isinstance(box, spaces.Box) and box.dtype != np.float64
    shape, dtype = (box.shape, box.dtype) if quick and box is not None else (None, None)

    def read(seen: Any, info: Mapping[str, Any], row: Row, mask: npt.NDArray[np.bool_]) -> None:
        value, given = seen[OBSERVATION] if bare else seen, seen[MASK]
        # Most are arrays of the expected shapes. The writers convert or refuse all others.
        if (
            type(value) is np.ndarray
            and type(given) is np.ndarray
            and value.shape == shape == row.shape
            and value.dtype == dtype
            and given.shape == mask.shape
        ):
            row[...] = value
            mask[...] = given
        else:
            write(value, row)
            write_mask(given, mask)

    return read


def _read_plain(write: Write, write_mask: Write, legal: npt.NDArray[np.bool_]) -> Read:
    def read(seen: Any, info: Mapping[str, Any], row: Row, mask: npt.NDArray[np.bool_]) -> None:
        write(seen, row)
        if MASK in info:
            write_mask(info[MASK], mask)
        else:
            mask[...] = legal

    return read


def mask_writer(actions: Actions, agent: str) -> Write:
    """Return the function that writes a mask, in any form that an environment may give it, into its row."""
    space, legal = actions.spaces[agent], actions.legal[agent]
    if actions.single and isinstance(space, spaces.Discrete):
        return _single_mask(int(space.n))
    own = actions.own(agent)

    def write(given: Any, mask: Row) -> None:
        mask[...] = legal
        try:
            mask[own] = flat_mask(space, given)
        except (ActionError, ValueError, TypeError, IndexError) as error:
            raise BrokenError(f"its action mask {given!r} does not fit its action space {space}: {error}") from error

    return write


def _single_mask(actions: int) -> Write:
    shape = (actions,)

    def write(given: Any, mask: Row) -> None:
        if getattr(given, "shape", None) != shape and np.shape(given) != shape:
            raise BrokenError(f"its action mask has shape {np.shape(given)}, but it has {actions} actions")
        if len(mask) == actions:
            mask[...] = given
        else:
            mask[:actions] = given

    return write


def _write_box(space: spaces.Space[Any]) -> Write:
    shape, dtype = space.shape, space.dtype

    def write(seen: Any, row: Row) -> None:
        if not isinstance(seen, np.ndarray) or seen.shape != shape or seen.dtype != dtype:
            raise BrokenError(f"its observation is {_describe(seen)}, but its space says {dtype} {shape}{CAST}")
        row[...] = seen

    def write_large(seen: Any, row: Row) -> None:
        with np.errstate(over="ignore"):  # what becomes infinite is a fault, and needs no warning
            write(seen, row)

    return write_large if dtype == np.float64 else write


def _describe(seen: Any) -> str:
    return f"{seen.dtype} {seen.shape}" if isinstance(seen, np.ndarray) else f"a {type(seen).__name__}"


def _flat(name: str, agent: str, space: spaces.Space[Any]) -> tuple[int, Write]:
    """Return the length of a flattened observation, and how to write it to the beginning of a row."""
    if isinstance(space, spaces.Box):
        return _flat_box(space)
    if isinstance(space, spaces.Discrete):
        return _flat_choices([int(space.n)], [int(space.start)])
    if isinstance(space, spaces.MultiDiscrete):
        return _flat_choices([int(n) for n in space.nvec.ravel()], [int(n) for n in space.start.ravel()])
    if isinstance(space, spaces.MultiBinary):
        return _flat_numbers(space.shape)
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.spaces if isinstance(space, spaces.Dict) else dict(enumerate(space.spaces))
        return _flat_parts(list(parts), [_flat(name, agent, part) for part in parts.values()])
    raise ValueError(
        f"{name}: agent {agent!r} has the observation space {space}, which has no fixed size. Wrap the environment "
        "so that it offers Box, Discrete, MultiDiscrete, MultiBinary, Dict or Tuple (env.wrappers)."
    )


def _flat_box(space: spaces.Box) -> tuple[int, Write]:
    exact = _write_box(space)
    size = int(np.prod(space.shape))

    def write(seen: Any, row: Row) -> None:
        exact(seen, row[:size].reshape(space.shape))

    return size, write


def _flat_numbers(shape: tuple[int, ...]) -> tuple[int, Write]:
    size = int(np.prod(shape))

    def write(seen: Any, row: Row) -> None:
        if np.shape(seen) != shape:
            raise BrokenError(f"its observation has shape {np.shape(seen)}, but its space says {shape}")
        row[:size] = np.asarray(seen).reshape(-1)

    return size, write


def _flat_choices(counts: list[int], starts: list[int]) -> tuple[int, Write]:
    count, start = np.array(counts), np.array(starts)
    offset = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.intp)
    size = int(count.sum())

    def write(seen: Any, row: Row) -> None:
        choice = np.asarray(seen).reshape(-1) - start
        if choice.dtype.kind not in "iu" or ((choice < 0) | (choice >= count)).any():
            raise BrokenError(f"its observation {seen!r} is not a choice among {counts}{CAST}")
        row[:size] = 0
        row[offset + choice] = 1

    return size, write


def _flat_parts(keys: list[Any], parts: list[tuple[int, Write]]) -> tuple[int, Write]:
    ends = np.cumsum([size for size, _ in parts]).tolist()

    def write(seen: Any, row: Row) -> None:
        for key, end, (size, write_part) in zip(keys, ends, parts, strict=True):
            write_part(seen[key], row[end - size : end])

    return ends[-1], write
