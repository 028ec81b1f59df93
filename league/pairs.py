"""Pairs: square matrices over the players of a league, which double when players join."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId

Indices = npt.NDArray[np.intp]
Arrays = Mapping[str, npt.NDArray[Any]]

SMALLEST_CAPACITY = 16


class Field(NamedTuple):
    """One matrix: the type of its elements ("d" float64, "q" int64) and what a new pair has in it."""

    code: Literal["d", "q"]
    start: float = 0


class Pairs:
    """Named square matrices with a row and a column for each player.

    `matrix` has them as numpy arrays, for whole rows; `flat` has the same bytes as one-dimensional
    memoryviews, because one element of a numpy array costs several times as much to reach. Both are new
    objects after each growth. Reading adds nobody: an unknown player reads a row that is always empty.
    """

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self._fields = fields
        self._order: dict[PlayerId, int] = {}
        self._allocate(SMALLEST_CAPACITY)

    def _allocate(self, capacity: int) -> None:
        self.capacity = capacity
        shape = (capacity, capacity)
        self.matrix: dict[str, npt.NDArray[Any]] = {
            name: np.full(shape, field.start, field.code) if field.start else np.zeros(shape, field.code)
            for name, field in self._fields.items()  # zeros cost nothing until they are written
        }
        self.flat: dict[str, Any] = {
            name: matrix.reshape(-1).data.cast("B").cast(self._fields[name].code)
            for name, matrix in self.matrix.items()
        }

    @property
    def players(self) -> list[PlayerId]:
        """Everyone in the table, in the order of its rows."""
        return list(self._order)

    def index(self, player: PlayerId) -> int:
        """Return the player's row; a new player gets the next one."""
        if (known := self._order.get(player)) is not None:
            return known
        size = len(self._order)
        if size + 2 > self.capacity:  # the row after the last player has to stay empty
            kept = self.matrix
            self._allocate(2 * self.capacity)
            self._fill({name: matrix[:size, :size] for name, matrix in kept.items()}, size)
        self._order[player] = size
        return size

    def find(self, player: PlayerId) -> int:
        """Return the player's row, or the empty one if it is unknown."""
        return self._order.get(player, len(self._order))

    def find_all(self, players: Sequence[PlayerId]) -> Indices:
        """Return the rows of all these players."""
        order, unknown = self._order, len(self._order)
        return np.array([order.get(player, unknown) for player in players], dtype=np.intp)

    def _fill(self, arrays: Arrays, size: int) -> None:
        for name, matrix in self.matrix.items():
            matrix[:size, :size] = arrays[name]

    def to_arrays(self) -> tuple[list[PlayerId], dict[str, npt.NDArray[Any]]]:
        """Return the players and copies of all matrices, as `load` takes them."""
        size = len(self._order)
        return self.players, {name: matrix[:size, :size].copy() for name, matrix in self.matrix.items()}

    def load(self, players: Sequence[PlayerId], arrays: Arrays) -> None:
        """Fill a new table with what `to_arrays` returned."""
        shape = (len(players), len(players))
        wrong = [name for name in self.matrix if name not in arrays or arrays[name].shape != shape]
        if wrong:
            raise ValueError(f"a table of {len(players)} players needs arrays of shape {shape}: look at {wrong}")
        self.seat(players)
        self._fill(arrays, len(players))

    def seat(self, players: Sequence[PlayerId]) -> None:
        """Give all players of a new table their rows, with one allocation."""
        if self._order or len(set(players)) != len(players):
            raise ValueError("load only into a new table, and name each player once")
        capacity = self.capacity
        while len(players) + 1 > capacity:  # the row after the last player has to stay empty
            capacity *= 2
        if capacity > self.capacity:
            self._allocate(capacity)
        self._order = {player: row for row, player in enumerate(players)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pairs):
            return NotImplemented
        (players, mine), (others, theirs) = self.to_arrays(), other.to_arrays()
        same = players == others and mine.keys() == theirs.keys()
        return same and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]  # it changes, so it has no hash
