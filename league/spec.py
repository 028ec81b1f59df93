"""The shape of an environment: its agents, seats and roles, and the arrays of observations and actions."""

import hashlib
import math
from functools import cached_property

import msgspec

from league.limits import SEATS
from league.variants import Variant

ACTIONS = ("one choice", "several choices", "continuous", "mixtures")  # kinds of action spaces


class ObservationPart(msgspec.Struct, frozen=True):
    """A part of a structured observation, and where it lies in the flat row.

    `path` leads to it through the structure: a text is the key of a dict, a number the place in a tuple. A choice among
    n options takes n numbers of the row, one-hot; `choices` has the n of each.

    >>> ObservationPart(("unit", 0), begin=3, shape=(2,), choices=(4, 5)).size
    9
    """

    path: tuple[str | int, ...]
    begin: int
    shape: tuple[int, ...]
    choices: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The numbers that it takes in the row."""
        return sum(self.choices) if self.choices else math.prod(self.shape)


class Array(msgspec.Struct, frozen=True, omit_defaults=True):
    """The shape and dtype of one observation, and the structure that was flattened into it."""

    shape: tuple[int, ...]
    dtype: str
    structure: tuple[ObservationPart, ...] = ()  # none: the observation is one array

    @property
    def size(self) -> int:
        """The number of values in one observation."""
        return math.prod(self.shape)


class Seat(msgspec.Struct, frozen=True):
    """The agents that one player controls in a match.

    Seats of the same role are interchangeable; seats of the same side win and lose together. A seat without a side is
    a side of its own.
    """

    agents: tuple[int, ...]
    role: str = "player"
    side: str | None = None


class EnvSpec(msgspec.Struct, frozen=True, dict=True):
    """Everything that the league knows about an environment.

    All agents have observations of the same shape (smaller ones are padded) and the same actions (options that an
    agent lacks are masked), so that the rows of all agents fit into one batch.

    An action has *parts*: first its choices, then its continuous numbers, each between -1 and 1. `choices` is the
    number of options of each choice, and a mask has an entry for each option of each choice, `actions` in total.
    `choices` may be left out if an action is a single choice, as in most games.

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
    returns: tuple[float, float] | None = None  # the least and the most that a seat can return, if that is known
    variants: tuple[Variant, ...] = ()  # none: all episodes are of the same kind

    def __post_init__(self) -> None:
        """Raise ValueError unless every agent has exactly one seat, a ticket can list all seats, and choices add up."""
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
        """The number of options of each choice, even if `choices` was left out."""
        return self.choices or ((self.actions,) if self.actions else ())

    @property
    def parts(self) -> int:
        """The number of parts of an action."""
        return len(self.heads) + self.continuous

    @property
    def single(self) -> bool:
        """Whether an action is a single choice, and so an integer; else it is a vector with a float for each part."""
        return len(self.heads) == 1 and not self.continuous

    @property
    def action_kind(self) -> str:
        """Which of ACTIONS an action is.

        >>> EnvSpec("toy", ("a",), (Seat((0,)),), Array((3,), "float32"), actions=2, continuous=1).action_kind
        'mixtures'
        """
        if self.continuous:
            return "mixtures" if self.heads else "continuous"
        return "one choice" if self.single else "several choices"

    @property
    def action(self) -> Array:
        """The shape and dtype of one action."""
        return Array((), "int32") if self.single else Array((self.parts,), "float32")

    @property
    def signature(self) -> str:
        """A short hash of the observation and action spaces: weights load only where it is the same."""
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
        """The side of every seat; sides are numbered from 0 in the order of seats.

        >>> team = [Seat((0,), side="red"), Seat((1,), side="blue"), Seat((2,), side="red"), Seat((3,))]
        >>> EnvSpec("toy", ("a", "b", "c", "d"), tuple(team), Array((3,), "float32"), actions=2).sides
        (0, 1, 0, 2)
        """
        names: dict[str | int, int] = {}
        for number, seat in enumerate(self.seats):
            names.setdefault(number if seat.side is None else seat.side, len(names))
        return tuple(names[number if seat.side is None else seat.side] for number, seat in enumerate(self.seats))

    @cached_property
    def side_kinds(self) -> tuple[str, ...]:
        """The roles on each side: sides of the same kind are interchangeable.

        >>> hunt = (Seat((0,), "fox"), Seat((1,), "hound", "pack"), Seat((2,), "hound", "pack"))
        >>> EnvSpec("toy", ("a", "b", "c"), hunt, Array((3,), "float32"), actions=2).side_kinds
        ('fox', 'hound+hound')
        """
        seats = list(zip(self.roles, self.sides, strict=True))
        return tuple(
            "+".join(sorted(role for role, where in seats if where == side)) for side in sorted(set(self.sides))
        )

    @property
    def asymmetric(self) -> bool:
        """Whether sides differ in their roles: then a player is compared with others of its role."""
        return len(set(self.side_kinds)) > 1

    @property
    def side_names(self) -> list[str]:
        """A name for the side of every seat, as `env.sides` takes them.

        >>> EnvSpec("toy", ("a", "b"), (Seat((0,)), Seat((1,))), Array((3,), "float32"), actions=2).side_names
        ['a', 'b']
        """
        own = [seat.side or "+".join(self.agents[agent] for agent in seat.agents) for seat in self.seats]
        return [own[self.sides.index(side)] for side in self.sides]

    @property
    def cooperative(self) -> bool:
        """Whether all seats are on the same side: then nobody can be beaten, and only returns count."""
        return len(set(self.sides)) == 1
