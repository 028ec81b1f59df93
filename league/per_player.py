"""Values by player: a default, and the values of players that have their own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class PerPlayer(Generic[T]):
    """One value for every player.

    >>> learning_rate = PerPlayer(0.001, {"main": 0.01})
    >>> learning_rate["main"], learning_rate["exploiter"]
    (0.01, 0.001)
    """

    default: T
    own: Mapping[str, T] = field(default_factory=dict)

    def __getitem__(self, player: str) -> T:
        return self.own.get(player, self.default)

    def __iter__(self) -> Iterator[T]:
        """Iterate over the values: the default, then those of single players."""
        yield self.default
        yield from self.own.values()

    def map(self, function: Callable[[T], U]) -> "PerPlayer[U]":
        """Return the same players with `function` of each value."""
        return PerPlayer(function(self.default), {player: function(value) for player, value in self.own.items()})
