"""Connect four, many games at once: move for move what PettingZoo's connect_four_v3 plays.

A board is 49 bits of an integer, column by column from the bottom, with a sentinel bit above each column, so
four in a row is three shifts.
"""

import numpy as np

from collectors.envs.native.board import AlternatingBoard, Board, board_spec
from collectors.envs.rows import BoolArray
from collectors.envs.slots import Index

HEIGHT, WIDTH = 6, 7
COLUMN_BITS = HEIGHT + 1
DIRECTIONS = np.array([[1], [COLUMN_BITS - 1], [COLUMN_BITS], [COLUMN_BITS + 1]])  # one for each way to lie
TWICE = DIRECTIONS * 2
# Of each piece that can be dropped, column by column from the bottom: its bit, and its cell of an observation.
BITS = (np.int64(1) << np.arange(WIDTH * COLUMN_BITS)).reshape(WIDTH, COLUMN_BITS)[:, :HEIGHT].reshape(-1)
CELLS = np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)[::-1].T.reshape(-1)
SPEC = board_spec("connect_four", ("player_0", "player_1"), (HEIGHT, WIDTH), WIDTH)


def four_in_a_row(board: Board) -> BoolArray:
    """Return which boards have four in a row."""
    pairs = board & (board >> DIRECTIONS)
    fours = pairs & (pairs >> TWICE)
    return np.asarray(np.bitwise_or.reduce(fours, axis=0) != 0)


class Drops:
    """The rules: a piece falls to the lowest free cell of its column."""

    def __init__(self, slots: int) -> None:
        self.legal = np.ones((slots, WIDTH), dtype=np.bool_)
        self._height = np.zeros((slots, WIDTH), dtype=np.int64)

    def clear(self, slots: Index) -> None:
        """Empty the boards of these slots."""
        self.legal[slots] = True
        self._height[slots] = 0

    def play(self, place: Index, actions: Index) -> tuple[Index, Board]:
        """Drop a piece in each slot."""
        heights = self._height.reshape(-1)
        height = heights[place]
        heights[place] = height + 1
        self.legal.reshape(-1)[place] = height < HEIGHT - 1
        fallen = actions * HEIGHT + height
        return CELLS[fallen], BITS[fallen]

    def won(self, board: Board) -> BoolArray:
        """Return which boards have four in a row."""
        return four_in_a_row(board)


class ConnectFour(AlternatingBoard):
    """Connect four as an `Environment`.

    >>> env = ConnectFour(slots=2)
    >>> env.start(np.array([0, 1], np.int32), np.array([1, 2]))
    >>> env.rows().observation.shape
    (2, 6, 7, 2)
    """

    def __init__(self, slots: int = 256) -> None:
        super().__init__(SPEC, Drops(slots), slots)
