"""A value for each player: a default, and the values of players that have their own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class PerPlayer(Generic[T]):
    """Maps every player to a value.

    >>> learning_rate = PerPlayer(0.001, {"main": 0.01})
    >>> learning_rate["main"], learning_rate["exploiter"]
    (0.01, 0.001)
    """

    default: T
    own: Mapping[str, T] = field(default_factory=dict)

    def __getitem__(self, player: str) -> T:
        return self.own.get(player, self.default)

    def map(self, change: Callable[[T], S]) -> "PerPlayer[S]":
        """Return what a function makes of every value."""
        return PerPlayer(change(self.default), {name: change(value) for name, value in self.own.items()})

    def __iter__(self) -> Iterator[T]:
        """Iterate over the values: the default, then those of single players."""
        yield self.default
        yield from self.own.values()
