"""What an environment looks like to the league: agents, seats, roles, and the arrays that go in and out."""

import hashlib
import math
from functools import cached_property

import msgspec

from league.limits import SEATS


class Array(msgspec.Struct, frozen=True):
    """The shape and dtype of one observation."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """How many numbers one observation has."""
        return math.prod(self.shape)


class Seat(msgspec.Struct, frozen=True):
    """The agents that one player controls in a match.

    Seats of the same role are interchangeable; seats of the same side win and lose together. Without a side,
    a seat is on its own.
    """

    agents: tuple[int, ...]
    role: str = "player"
    side: str | None = None


class EnvSpec(msgspec.Struct, frozen=True, dict=True):
    """All that the league knows about an environment.

    Every agent sees the same array (smaller observations are padded) and acts in the same way (options that an
    agent lacks are masked), so that the rows of all agents fit into one batch.

    An action has *parts*: first its choices, then its continuous numbers, each between -1 and 1. `choices` has
    the options of each choice, and a mask has a place for each option of each choice, `actions` in all. Most
    games have one choice and nothing else, and then `choices` may be left out.

    >>> EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=5, choices=(2, 3), continuous=1).parts
    3
    """

    name: str
    agents: tuple[str, ...]
    seats: tuple[Seat, ...]
    observation: Array
    actions: int
    choices: tuple[int, ...] = ()
    continuous: int = 0
    state: Array | None = None  # what a centralised critic may see, if the environment offers it

    def __post_init__(self) -> None:
        """Check that every agent sits in exactly one seat, and that a ticket can name all of them."""
        if len(self.seats) > SEATS:
            raise ValueError(
                f"{self.name}: {len(self.seats)} seats; a league has at most {SEATS}. Let one player control several "
                "agents: env.seats"
            )
        seated = [a for seat in self.seats for a in seat.agents]
        if sorted(seated) != list(range(len(self.agents))):
            named = [self.agents[a] if a < len(self.agents) else f"agent {a}" for a in seated]
            raise ValueError(
                f"{self.name}: every agent must sit in exactly one seat; agents are {list(self.agents)}, "
                f"seated are {named}. Correct env.seats."
            )
        if self.choices and sum(self.choices) != self.actions:
            raise ValueError(f"{self.name}: {self.actions} actions are not the options of the choices {self.choices}")

    @property
    def heads(self) -> tuple[int, ...]:
        """The options of each choice, also where `choices` was left out."""
        return self.choices or ((self.actions,) if self.actions else ())

    @property
    def parts(self) -> int:
        """How many parts an action has."""
        return len(self.heads) + self.continuous

    @property
    def single(self) -> bool:
        """Whether an action is one choice: then it is an integer, and else a vector with a float for each part."""
        return len(self.heads) == 1 and not self.continuous

    @property
    def action(self) -> Array:
        """The shape and dtype of one action."""
        return Array((), "int32") if self.single else Array((self.parts,), "float32")

    @property
    def signature(self) -> str:
        """A short hash of the spaces: weights trained under one signature load only under the same."""
        text = f"{self.observation.shape}/{self.observation.dtype}/{self.actions}"
        if not self.single:
            text += f"/{self.heads}/{self.continuous}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The role of every seat."""
        return tuple(seat.role for seat in self.seats)

    @cached_property
    def sides(self) -> tuple[int, ...]:
        """The side of every seat, numbered from 0 in the order of seats.

        >>> team = [Seat((0,), side="red"), Seat((1,), side="blue"), Seat((2,), side="red"), Seat((3,))]
        >>> EnvSpec("toy", ("a", "b", "c", "d"), tuple(team), Array((3,), "float32"), actions=2).sides
        (0, 1, 0, 2)
        """
        names: dict[str | int, int] = {}
        for number, seat in enumerate(self.seats):
            names.setdefault(number if seat.side is None else seat.side, len(names))
        return tuple(names[number if seat.side is None else seat.side] for number, seat in enumerate(self.seats))

    @property
    def cooperative(self) -> bool:
        """Whether all seats are on the same side: then nobody is beaten, and returns are what counts."""
        return len(set(self.sides)) == 1
