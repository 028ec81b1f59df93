"""Tickets: one seating of players for a number of episodes, and its result."""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated

import msgspec

from league import limits
from league.ids import SEED_BITS, TicketNumber, derive_seed


class Purpose(StrEnum):
    """Why a ticket is played."""

    TRAIN = "train"
    EVALUATE = "evaluate"


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A player in a ticket. Without a snapshot its live weights play, which may change between ticks."""

    player: limits.PlayerName
    snapshot: limits.Snapshot | None = None
    bot: limits.Bot | None = None


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """An order to play: `entries` (one for each seat) for `episodes` episodes, both seat orders inside.

    `trains` names the learning player whose decisions are recorded; an evaluation trains nobody. `spirit` is the
    share of its side's mean in the rewards that it learns from.
    """

    number: limits.Ticket
    purpose: Purpose
    entries: Annotated[tuple[Entry, ...], limits.FEW]
    episodes: Annotated[int, msgspec.Meta(ge=0, le=limits.EPISODES)]
    trains: limits.PlayerName | None = None
    attempt: limits.Number = 0
    spirit: limits.Share = 0.0


def seating(roles: Sequence[str], episode: int, sides: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return which entry of a ticket sits in each seat in this episode.

    Entries stay with their side, and change places: sides with the same roles change as a whole, and then
    entries of the same role within their side. So a ticket with an even number of episodes plays both orders of
    two interchangeable seats equally often. Without `sides` everybody is on its own.

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
    """Return after how many episodes the seating begins again.

    >>> turns(["player"] * 4), turns(["player"] * 4, [0, 0, 1, 1]), turns(["fox", "hound"])
    (4, 4, 1)
    """
    groups = _interchangeable(roles, sides or range(len(roles)))
    return math.lcm(*(len(alike) * math.lcm(*map(len, alike[0].values())) for alike in groups))


def _interchangeable(roles: Sequence[str], sides: Sequence[int]) -> list[list[dict[str, list[int]]]]:
    """Return the sides, each as its seats by role, grouped with those that have the same roles as often."""
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


def episode_seeds(run_seed: int, ticket: TicketNumber, attempt: int, episodes: Iterable[int]) -> list[int]:
    """Return the seeds that the environment is reset with: replay needs nothing else but the actions."""
    first = derive_seed(run_seed, "episodes", ticket, attempt)
    return [(first + STRIDE * episode) % (1 << SEED_BITS) for episode in episodes]


def episode_seed(run_seed: int, ticket: TicketNumber, attempt: int, episode: int) -> int:
    """Return the seed of one episode."""
    return episode_seeds(run_seed, ticket, attempt, (episode,))[0]


class Episode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The outcome of one episode, by entry of the ticket (not by seat).

    `ranks` has 0 for the best; equal ranks are a draw. `actions` is the packed action sequence, if it was kept.
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
    """The episodes of a ticket, in order. Counted exactly once."""

    ticket: limits.Ticket
    attempt: limits.Number
    episodes: Annotated[tuple[Episode, ...], limits.MANY]


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket that could not be played, and why: nobody wins it."""

    ticket: limits.Ticket
    attempt: limits.Number
    reason: limits.Reason
