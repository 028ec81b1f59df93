"""Tickets: one seating of players for a number of episodes, and what came of it."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from league.ids import SEED_BITS, Hash, PlayerId, TicketNumber, derive_seed


class Purpose(StrEnum):
    """Why a ticket is played."""

    TRAIN = "train"
    EVALUATE = "evaluate"


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A player in a ticket. Without a snapshot its live weights play, which may change between ticks."""

    player: PlayerId
    snapshot: Hash | None = None
    bot: str | None = None


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """An order to play: `entries` (one for each seat) for `episodes` episodes, both seat orders inside.

    `trains` names the learning player whose decisions are recorded; an evaluation trains nobody.
    """

    number: TicketNumber
    purpose: Purpose
    entries: tuple[Entry, ...]
    episodes: int
    trains: PlayerId | None = None
    attempt: int = 0


def seating(roles: Sequence[str], episode: int) -> tuple[int, ...]:
    """Return which entry of a ticket sits in each seat in this episode.

    Entries rotate among the seats of the same role, so a ticket with an even number of episodes plays both
    orders of two interchangeable seats equally often.

    >>> seating(["player", "player"], 0), seating(["player", "player"], 1)
    ((0, 1), (1, 0))
    >>> seating(["fox", "hound", "hound"], 1)
    (0, 2, 1)
    """
    order = list(range(len(roles)))
    for role in dict.fromkeys(roles):
        group = [seat for seat, name in enumerate(roles) if name == role]
        for place, seat in enumerate(group):
            order[seat] = group[(place + episode) % len(group)]
    return tuple(order)


STRIDE = 0x61C88647  # odd, so that the seeds of a ticket's episodes are all different


def episode_seeds(run_seed: int, ticket: TicketNumber, attempt: int, episodes: Iterable[int]) -> list[int]:
    """Return the seeds that the environment is reset with: replay needs nothing else but the actions."""
    first = derive_seed(run_seed, "episodes", ticket, attempt)
    return [(first + STRIDE * episode) % (1 << SEED_BITS) for episode in episodes]


def episode_seed(run_seed: int, ticket: TicketNumber, attempt: int, episode: int) -> int:
    """Return the seed of one episode."""
    return episode_seeds(run_seed, ticket, attempt, (episode,))[0]


class Episode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The outcome of one episode, told for each entry of the ticket (not for each seat).

    `ranks` has 0 for the best; equal ranks are a draw. `actions` is the packed action sequence, if it was kept.
    """

    ranks: tuple[int, ...]
    returns: tuple[float, ...]
    length: int
    actions: bytes = b""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a ticket: its episodes in order. Counted exactly once."""

    ticket: TicketNumber
    attempt: int
    episodes: tuple[Episode, ...]


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket that could not be played, and why: nobody wins it."""

    ticket: TicketNumber
    attempt: int
    reason: str
