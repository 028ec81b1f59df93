"""The checks of every batch of slots before it changes anything: free slots, one legal action for each row."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import BoolArray, FloatArray
from league.spec import EnvSpec

Index = npt.NDArray[np.intp]


def check_start(name: str, slots: npt.NDArray[Any], seeds: npt.NDArray[Any], busy: BoolArray) -> Index:
    """Return the slots as an index; raise if one does not exist, is named twice or still plays."""
    index = np.asarray(slots, dtype=np.intp)
    if len(index) != len(seeds):
        raise ValueError(f"{name}: start() got {len(index)} slots but {len(seeds)} seeds; each slot needs its own")
    if len(index) and (index.min() < 0 or index.max() >= len(busy)):
        raise ValueError(f"{name}: start() got slots {index.tolist()}, but slots are 0 to {len(busy) - 1}")
    if np.count_nonzero(busy[index]):
        playing = index[busy[index]].tolist()
        raise ValueError(f"{name}: slots {playing} still play; start only slots that `Ends.over` or a fault freed")
    if len(index) > 1 and len(set(index.tolist())) != len(index):
        raise ValueError(f"{name}: start() got the same slot twice: {index.tolist()}")
    return index


def check_actions(name: str, actions: npt.NDArray[Any], slots: npt.NDArray[Any], legal: BoolArray) -> Index:
    """Return the actions as an index; raise if there is not one legal action for each row.

    `slots` and `legal` belong to the rows: the slot of each row, and which actions are legal there.
    """
    index = check_shape(name, actions, len(slots))
    if not in_range(index, legal.shape[1]) or not _allowed(index, legal):
        raise illegal(name, index, slots, legal)
    return index


def in_range(index: Index, count: int) -> bool:
    """Return whether all of these are at least 0 and less than `count`."""
    # As an unsigned integer, a negative number is a huge one.
    return bool(np.count_nonzero(index.view(np.uintp) < count) == len(index))


def _allowed(index: Index, legal: BoolArray) -> bool:
    rows, count = legal.shape
    return bool(np.count_nonzero(legal.reshape(-1).take(_offsets(rows, count) + index)) == rows)


@lru_cache(maxsize=64)
def _offsets(rows: int, count: int) -> Index:
    return np.arange(rows) * count


def check_shape(name: str, actions: npt.NDArray[Any], rows: int) -> Index:
    """Return the actions as an index; raise if there is not one integer for each row."""
    index = np.asarray(actions)
    if index.shape != (rows,):
        raise ValueError(
            f"{name}: step() got actions of shape {index.shape}, but rows() returned {rows} rows; "
            "give one action for each row, in the same order"
        )
    if index.dtype.kind not in "iu":
        raise ValueError(f"{name}: actions must be integers, got {index.dtype}")
    return index.astype(np.intp, copy=False)


def illegal(name: str, actions: Index, slots: npt.NDArray[Any], legal: BoolArray) -> ValueError:
    """Return the error that names the first illegal action and the legal ones in its place."""
    inside = (actions >= 0) & (actions < legal.shape[1])
    wrong = ~inside
    wrong[inside] = ~legal[np.flatnonzero(inside), actions[inside]]
    row = int(np.flatnonzero(wrong)[0])
    return ValueError(
        f"{name}: action {actions[row]} is illegal in slot {slots[row]} (row {row}); legal there are "
        f"{np.flatnonzero(legal[row]).tolist()}. Whoever chose it ignored the mask of its row."
    )


def no_option(spec: EnvSpec, masks: BoolArray) -> BoolArray:
    """Return which rows have a choice without a legal option."""
    if spec.single:
        return np.asarray(~masks.any(axis=1))
    if not spec.heads:
        return np.zeros(len(masks), np.bool_)
    return np.asarray(~np.logical_or.reduceat(masks, _begins(spec.heads), axis=1).all(axis=1))


@lru_cache(maxsize=64)
def _begins(heads: tuple[int, ...]) -> Index:
    """Return where the options of each choice begin in a mask."""
    return np.array([0, *np.cumsum(heads)[:-1]], dtype=np.intp)


def check_parts(spec: EnvSpec, actions: npt.NDArray[Any], slots: npt.NDArray[Any], legal: BoolArray) -> FloatArray:
    """Return actions of several parts; raise unless each has legal options and numbers between -1 and 1."""
    given, count = np.asarray(actions), len(slots)
    if given.shape != (count, spec.parts) or given.dtype.kind != "f":
        raise ValueError(
            f"{spec.name}: step() got actions of shape {given.shape} and dtype {given.dtype}, but rows() returned "
            f"{count} rows and an action has {spec.parts} parts; give floats of shape {(count, spec.parts)}"
        )
    chosen, numbers = given[:, : len(spec.heads)], given[:, len(spec.heads) :]
    wrong = ~(np.abs(numbers) <= 1.001)  # NaN is wrong, too; a rounding error is not
    if wrong.any():
        row, part = (int(found[0]) for found in wrong.nonzero())
        raise ValueError(
            f"{spec.name}: the continuous number {part} of row {row} (slot {slots[row]}) is {numbers[row, part]}; "
            "each must be between -1 and 1"
        )
    if spec.heads and count:
        _check_options(spec, chosen, slots, legal)
    return given.astype(np.float32, copy=False)


def _check_options(spec: EnvSpec, chosen: npt.NDArray[Any], slots: npt.NDArray[Any], legal: BoolArray) -> None:
    inside = (chosen >= 0) & (chosen < np.array(spec.heads)) & (chosen == np.floor(chosen))
    option = np.where(inside, chosen, 0).astype(np.intp) + _begins(spec.heads)
    wrong = ~(inside & np.take_along_axis(legal, option, axis=1))
    if wrong.any():
        row, choice = (int(found[0]) for found in wrong.nonzero())
        begin = int(_begins(spec.heads)[choice])
        options = np.flatnonzero(legal[row, begin : begin + spec.heads[choice]]).tolist()
        raise ValueError(
            f"{spec.name}: option {chosen[row, choice]:g} of choice {choice} is illegal in slot {slots[row]} "
            f"(row {row}); legal there are {options}. Whoever chose it ignored the mask of its row."
        )
