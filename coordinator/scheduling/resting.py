"""Pairs of players whose ticket was void: they rest for a while, and meet again only if no other pair is left."""

from itertools import combinations

from league.ids import PlayerId
from league.state import pairing
from league.ticket import Ticket


class RestingPairs:
    """The time until which each pair rests. In memory only; time is an argument."""

    def __init__(self) -> None:
        self.until: dict[frozenset[PlayerId], float] = {}

    def add(self, ticket: Ticket, until: float) -> None:
        """Let all pairs of a void ticket rest until this time."""
        for pair in combinations(pairing(ticket), 2):
            self.until[frozenset(pair)] = until

    def rests(self, a: PlayerId, b: PlayerId, now: float) -> bool:
        """Return whether two players should not meet now."""
        return self.until.get(frozenset((a, b)), 0.0) > now

    def __bool__(self) -> bool:
        return bool(self.until)
