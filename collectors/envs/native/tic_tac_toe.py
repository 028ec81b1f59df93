"""Tic-tac-toe, many games at once: move for move what PettingZoo's tictactoe_v3 plays."""

import numpy as np

from collectors.envs.native.board import AlternatingBoard, Board, board_spec
from collectors.envs.rows import BoolArray
from collectors.envs.slots import Index

SIDE = 3
CELLS = SIDE * SIDE
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
SPEC = board_spec("tic_tac_toe", ("player_1", "player_2"), (SIDE, SIDE), CELLS)


def _winning_boards() -> BoolArray:
    boards = np.arange(1 << CELLS)
    lines = np.array([sum(1 << cell for cell in line) for line in LINES])
    return np.asarray(((boards[:, None] & lines) == lines).any(axis=1))


WINS = _winning_boards()  # all 512 sets of cells that a player can have: a win is one look-up
BITS = np.int64(1) << np.arange(CELLS)


class Marks:
    """The rules: a mark goes on any free cell."""

    def __init__(self, slots: int) -> None:
        self.legal = np.ones((slots, CELLS), dtype=np.bool_)

    def clear(self, slots: Index) -> None:
        """Empty the boards of these slots."""
        self.legal[slots] = True

    def play(self, place: Index, actions: Index) -> tuple[Index, Board]:
        """Set a mark in each slot."""
        self.legal.reshape(-1)[place] = False
        return actions, BITS[actions]

    def won(self, board: Board) -> BoolArray:
        """Return which boards have a line."""
        return np.asarray(WINS[board])


class TicTacToe(AlternatingBoard):
    """Tic-tac-toe as an `Environment`.

    >>> env = TicTacToe(slots=1)
    >>> env.start(np.array([0], np.int32), np.array([1]))
    >>> int(env.rows().mask.sum())
    9
    """

    def __init__(self, slots: int = 256) -> None:
        super().__init__(SPEC, Marks(slots), slots)
