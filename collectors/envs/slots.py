"""What every batch of slots checks before it changes anything: free slots, one legal action for each row."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import BoolArray

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
    count = legal.shape[1]
    inside = index.view(np.uintp) < count  # a negative number is a huge one without its sign
    if np.count_nonzero(inside) < len(index) or not _allowed(index, legal):
        raise illegal(name, index, slots, legal)
    return index


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
