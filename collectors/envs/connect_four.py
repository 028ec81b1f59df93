"""Connect four, many games at once: move for move what PettingZoo's connect_four_v3 plays.

A board is 49 bits of an integer, column by column from the bottom, with a sentinel bit above each column, so
four in a row is three shifts. The two boards of a slot swap after every move: the mover is always the first.
"""

import numpy as np
import numpy.typing as npt

from collectors.envs.board import AlternatingBoard, board_spec
from collectors.envs.rows import BoolArray
from collectors.envs.slots import Index

HEIGHT, WIDTH = 6, 7
COLUMN_BITS = HEIGHT + 1
DIRECTIONS = np.array([[1], [COLUMN_BITS - 1], [COLUMN_BITS], [COLUMN_BITS + 1]])  # one for each way to lie
TWICE = DIRECTIONS * 2
BITS = np.int64(1) << np.arange(WIDTH * COLUMN_BITS)
FULL = BITS.reshape(WIDTH, COLUMN_BITS)[:, :HEIGHT].sum()
SPEC = board_spec("connect_four", ("player_0", "player_1"), (HEIGHT, WIDTH), WIDTH)


def four_in_a_row(board: npt.NDArray[np.int64]) -> BoolArray:
    """Return which boards have four in a row."""
    pairs = board & (board >> DIRECTIONS)
    fours = pairs & (pairs >> TWICE)
    return np.asarray(np.bitwise_or.reduce(fours, axis=0) != 0)


class Drops:
    """The rules: a piece falls to the lowest free cell of its column."""

    def __init__(self, slots: int) -> None:
        self.legal = np.ones((slots, WIDTH), dtype=np.bool_)
        self._height = np.zeros((slots, WIDTH), dtype=np.int64)
        self._mover = np.zeros(slots, dtype=np.int64)
        self._other = np.zeros(slots, dtype=np.int64)

    def clear(self, slots: Index) -> None:
        """Empty the boards of these slots."""
        self.legal[slots] = True
        self._height[slots] = 0
        self._mover[slots] = 0
        self._other[slots] = 0

    def play(self, slots: Index, actions: Index) -> tuple[Index, BoolArray, BoolArray]:
        """Drop a piece in each slot."""
        place = slots * WIDTH + actions
        heights = self._height.reshape(-1)
        height = heights[place]
        heights[place] = height + 1
        self.legal.reshape(-1)[place] = height < HEIGHT - 1
        board = self._mover[slots] | BITS[actions * COLUMN_BITS + height]
        other = self._other[slots]
        self._mover[slots] = other
        self._other[slots] = board
        cell = (HEIGHT - 1 - height) * WIDTH + actions
        return cell, four_in_a_row(board), (board | other) == FULL


class ConnectFour(AlternatingBoard):
    """Connect four as an `Environment`.

    >>> env = ConnectFour(slots=2)
    >>> env.start(np.array([0, 1], np.int32), np.array([1, 2]))
    >>> env.rows().observation.shape
    (2, 6, 7, 2)
    """

    def __init__(self, slots: int = 256) -> None:
        super().__init__(SPEC, Drops(slots), slots)
