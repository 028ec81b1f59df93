"""Pairs of players whose ticket was void: for a while they do not meet again, unless nothing else is left."""

from itertools import combinations

from league.ids import PlayerId
from league.state import pairing
from league.ticket import Ticket


class RestingPairs:
    """Pairs, and until when each of them rests. In memory only; time is an argument."""

    def __init__(self) -> None:
        self.until: dict[frozenset[PlayerId], float] = {}

    def add(self, ticket: Ticket, until: float) -> None:
        """Let all pairs of a void ticket rest."""
        for pair in combinations(pairing(ticket), 2):
            self.until[frozenset(pair)] = until

    def rests(self, a: PlayerId, b: PlayerId, now: float) -> bool:
        """Whether two players should not meet now."""
        return self.until.get(frozenset((a, b)), 0.0) > now

    def __bool__(self) -> bool:
        return bool(self.until)
