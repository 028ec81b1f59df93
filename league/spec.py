"""What an environment looks like to the league: agents, seats, roles, and the arrays that go in and out."""

import hashlib
import math

import msgspec


class Array(msgspec.Struct, frozen=True):
    """The shape and dtype of one observation."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """How many numbers one observation has."""
        return math.prod(self.shape)


class Seat(msgspec.Struct, frozen=True):
    """The agents that one player controls in a match. Seats of the same role are interchangeable."""

    agents: tuple[int, ...]
    role: str = "player"


class EnvSpec(msgspec.Struct, frozen=True):
    """All that the league knows of an environment.

    Every agent sees the same array (smaller observations are padded) and chooses among the same number of
    actions (those an agent lacks are masked), so that the rows of all agents fit into one batch.
    """

    name: str
    agents: tuple[str, ...]
    seats: tuple[Seat, ...]
    observation: Array
    actions: int

    def __post_init__(self) -> None:
        """Check that every agent sits in exactly one seat."""
        seated = [a for seat in self.seats for a in seat.agents]
        if sorted(seated) != list(range(len(self.agents))):
            named = [self.agents[a] if a < len(self.agents) else f"agent {a}" for a in seated]
            raise ValueError(
                f"{self.name}: every agent must sit in exactly one seat; agents are {list(self.agents)}, "
                f"seated are {named}. Mend env.seats."
            )

    @property
    def signature(self) -> str:
        """A short hash of the spaces: weights trained under one signature load only under the same."""
        text = f"{self.observation.shape}/{self.observation.dtype}/{self.actions}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def roles(self) -> tuple[str, ...]:
        """The role of every seat."""
        return tuple(seat.role for seat in self.seats)
