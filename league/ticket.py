"""Tickets: one seating of players for a number of episodes, and its result."""

import math
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

import msgspec

from league import limits
from league.ids import SEED_BITS, Hash, PlayerId, derive_seed
from league.variants import Variant, seed_in


class Purpose(StrEnum):
    """Why a ticket is played."""

    TRAIN = "train"
    EVALUATE = "evaluate"


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A member of a mixture: a snapshot or a bot, and its share of the episodes."""

    player: limits.PlayerName
    share: limits.Share
    snapshot: limits.Snapshot | None = None
    bot: limits.Bot | None = None


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A player in a ticket. Without a snapshot or a bot its live weights play, which may change between ticks.

    For a mixture one of its `members` plays each whole episode: see `sampled_member`.
    """

    player: limits.PlayerName
    snapshot: limits.Snapshot | None = None
    bot: limits.Bot | None = None
    members: Annotated[tuple[Member, ...], limits.FEW] = ()

    @property
    def snapshots(self) -> list[Hash]:
        """The snapshots that are needed to play."""
        return [found for found in (self.snapshot, *(member.snapshot for member in self.members)) if found is not None]


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """An order to play `episodes` episodes with these `entries`, one for each seat; `seating` swaps their seats.

    `trains` names the learning players whose decisions are recorded, first the one whose turn it is; an evaluation
    trains nobody. `spirit` is the weight of its side's mean reward in the rewards that each of them learns from. `turn`
    consecutive episodes share the environment's seed: in evaluation a whole turn of the seating, so that each player
    has each seat of the same deal. All episodes are of `variant`, where the environment has variants.
    """

    number: limits.Ticket
    purpose: Purpose
    entries: Annotated[tuple[Entry, ...], limits.FEW]
    episodes: Annotated[int, msgspec.Meta(ge=0, le=limits.EPISODES)]
    trains: Annotated[tuple[limits.PlayerName, ...], limits.FEW] = ()
    attempt: limits.Number = 0
    spirit: limits.Share = 0.0
    turn: Annotated[int, msgspec.Meta(ge=1, le=limits.EPISODES)] = 1
    variant: Variant | msgspec.UnsetType = msgspec.UNSET  # unset: not written

    def can_train(self, starved: Collection[PlayerId]) -> bool:
        """Whether an episode may begin now: one of those that it trains has credit, or it trains nobody."""
        return not self.trains or any(player not in starved for player in self.trains)


def seating(roles: Sequence[str], episode: int, sides: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return the index of the entry in each seat in this episode.

    Entries rotate but stay together as sides: sides with the same roles rotate as a whole, then entries of the same
    role rotate within their side. So a ticket with an even number of episodes plays both orders of two interchangeable
    seats equally often. Without `sides` each seat is a side of its own.

    >>> seating(["player", "player"], 0), seating(["player", "player"], 1)
    ((0, 1), (1, 0))
    >>> seating(["fox", "hound", "hound"], 1)
    (0, 2, 1)
    >>> [seating(["player"] * 4, episode, sides=[0, 0, 1, 1]) for episode in range(3)]
    [(0, 1, 2, 3), (2, 3, 0, 1), (1, 0, 3, 2)]
    """
    order = [0] * len(roles)
    for alike in _interchangeable(roles, sides or range(len(roles))):
        for place, side in enumerate(alike):
            source = alike[(place + episode) % len(alike)]
            turn = episode // len(alike)
            for role, seats in side.items():
                for i, seat in enumerate(seats):
                    order[seat] = source[role][(i + turn) % len(seats)]
    return tuple(order)


def turns(roles: Sequence[str], sides: Sequence[int] | None = None) -> int:
    """Return the number of episodes after which the seating repeats.

    >>> turns(["player"] * 4), turns(["player"] * 4, [0, 0, 1, 1]), turns(["fox", "hound"])
    (4, 4, 1)
    """
    groups = _interchangeable(roles, sides or range(len(roles)))
    return math.lcm(*(len(alike) * math.lcm(*map(len, alike[0].values())) for alike in groups))


@lru_cache(maxsize=64)
def side_seats(roles: tuple[str, ...], sides: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the first seat of each entry's side, for every episode of a turn: of two sides, the lower one is first.

    >>> side_seats(("player", "player"), (0, 1)), side_seats(("fox", "hound", "hound"), (0, 1, 1))
    (((0, 1), (1, 0)), ((0, 1, 1), (0, 1, 1)))
    """
    found = []
    for episode in range(turns(roles, sides)):
        seat = {entry: place for place, entry in enumerate(seating(roles, episode, sides))}
        first = {side: min(seat[i] for i, other in enumerate(sides) if other == side) for side in sides}
        found.append(tuple(first[side] for side in sides))
    return tuple(found)


def _interchangeable(roles: Sequence[str], sides: Sequence[int]) -> list[list[dict[str, list[int]]]]:
    """Return the sides, each as its seats by role, in groups with the same number of seats of each role."""
    groups: dict[tuple[tuple[str, int], ...], list[dict[str, list[int]]]] = {}
    for side in dict.fromkeys(sides):
        seats: dict[str, list[int]] = {}
        for seat, role in enumerate(roles):
            if sides[seat] == side:
                seats.setdefault(role, []).append(seat)
        key = tuple(sorted((role, len(found)) for role, found in seats.items()))
        groups.setdefault(key, []).append(seats)
    return list(groups.values())


STRIDE = 0x61C88647  # odd, so that the seeds of a ticket's episodes are all different


def episode_seeds(run_seed: int, ticket: Ticket, attempt: int, episodes: Iterable[int]) -> list[int]:
    """Return the seeds for resetting the environment: a replay needs only these and the actions.

    The episodes of one turn have the same seed.
    """
    first, variant = derive_seed(run_seed, "episodes", ticket.number, attempt), ticket.variant
    seeds = [(first + STRIDE * (episode // ticket.turn)) % (1 << SEED_BITS) for episode in episodes]
    return seeds if variant is msgspec.UNSET else [seed_in(seed, variant) for seed in seeds]


def episode_seed(run_seed: int, ticket: Ticket, attempt: int, episode: int) -> int:
    """Return the seed of one episode."""
    return episode_seeds(run_seed, ticket, attempt, (episode,))[0]


def sampled_member(members: Sequence[Member], seed: int, entry: int) -> int:
    """Return the number of the member of a mixture that plays an episode with this seed for an entry of the ticket.

    It follows from the seed alone, so a replay can say who played, and both games of a pair have the same member.

    >>> trio = [Member(name, share) for name, share in (("a", 0.5), ("b", 0.25), ("c", 0.25))]
    >>> played = [sampled_member(trio, seed, 0) for seed in range(1000)]
    >>> [played.count(member) for member in range(3)]
    [499, 259, 242]
    """
    point = derive_seed(seed, "mixture", entry) / (1 << SEED_BITS) * sum(member.share for member in members)
    for number, member in enumerate(members):
        point -= member.share
        if point < 0:
            return number
    return max(number for number, member in enumerate(members) if member.share > 0)  # rounding errors add up to this


class Episode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The outcome of one episode, by entry of the ticket (not by seat).

    The best has rank 0; equal ranks are a draw. `actions` is the packed action sequence, if it was recorded.
    """

    ranks: Annotated[tuple[limits.Rank, ...], limits.FEW]
    returns: Annotated[tuple[limits.Return, ...], limits.FEW]
    length: limits.Length
    actions: limits.Actions = b""


def total_return(episode: Episode, entries: Iterable[int]) -> float:
    """Return the sum of the returns of some entries in an episode."""
    return sum(episode.returns[i] for i in entries)


def mean_return(episode: Episode, entries: Sequence[int]) -> float:
    """Return the mean of the returns of some entries in an episode, for example those of a side.

    >>> mean_return(Episode(ranks=(0, 0, 1), returns=(3.0, 1.0, -4.0), length=5), [0, 1])
    2.0
    """
    return total_return(episode, entries) / len(entries)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The episodes of a ticket, in order. It is counted exactly once."""

    ticket: limits.Ticket
    attempt: limits.Number
    episodes: Annotated[tuple[Episode, ...], limits.MANY]


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket that a collector could not play, and the reason."""

    ticket: limits.Ticket
    attempt: limits.Number
    reason: limits.Reason
