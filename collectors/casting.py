"""Casting: which actor plays for each entry of a ticket in each episode. For a mixture it is one of its members."""

from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt

from collectors.actors import Actors
from collectors.seating import Cast, same_cast
from league.ticket import Entry, Ticket, sampled_member


def cast_of(ticket: Ticket, seeds: Sequence[int], actors: Actors, in_use: Callable[[], Collection[int]]) -> Cast | None:
    """Return who acts in the episodes of a ticket, which have these seeds; None while live weights have not arrived.

    Raises what `Actors.number` raises: then the ticket cannot be played.
    """
    found: list[int] = []
    places: list[int] = []  # where the numbers of each entry begin
    for entry in ticket.entries:
        places.append(len(found))
        for one in as_entries(entry):
            number = actors.number(one, lambda: {*in_use(), *found})
            if number is None:
                return None
            found.append(number)
    if not any(entry.members for entry in ticket.entries):
        return same_cast(found)
    numbers = np.array(found, np.int16)

    def cast(episodes: Sequence[int]) -> npt.NDArray[np.int16]:
        chosen = np.array([_chosen(ticket.entries, places, seeds[episode]) for episode in episodes])
        found: npt.NDArray[np.int16] = numbers[chosen]
        return found

    return cast


def as_entries(entry: Entry) -> list[Entry]:
    """Return an entry, or those of the members of a mixture."""
    return [Entry(member.player, member.snapshot, member.bot) for member in entry.members] or [entry]


def _chosen(entries: Sequence[Entry], places: Sequence[int], seed: int) -> list[int]:
    """Return the place of the actor of each entry in an episode."""
    return [
        place + (sampled_member(entry.members, seed, number) if entry.members else 0)
        for number, (entry, place) in enumerate(zip(entries, places, strict=True))
    ]
