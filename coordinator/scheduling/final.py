"""The final evaluation: each last candidate plays a fixed number of games against anchors and frozen players."""

from collections.abc import Iterator, Sequence

from coordinator.scheduling.evaluation import contestants, evaluation_ticket
from coordinator.scheduling.resting import RestingPairs
from coordinator.scheduling.seat_choices import Seats
from league.ids import PlayerId, TicketNumber
from league.player import Kind
from league.state import LeagueState
from league.ticket import Entry, Ticket


class FinalTickets:
    """Chooses the tickets of the final evaluation, and counts how many of its games are left."""

    def __init__(self, state: LeagueState, seats: Seats, resting: RestingPairs) -> None:
        self._state, self._seats, self._resting = state, seats, resting
        self._shared: dict[tuple[PlayerId, PlayerId], list[int]] = {}  # where a player can sit opposite another one
        self.waiting = False  # for last candidates, before which there are no tickets
        self.closing = False  # its time is up: no more tickets

    def next(self, number: TicketNumber, now: float) -> Ticket | None:
        """Return a ticket, or None if nothing is left to play, or nothing may be handed out."""
        pairings = [] if self.waiting or self.closing else list(self.pairings())
        if not pairings:
            return None
        rested = [p for p in pairings if not self._resting.rests(p[0].player, p[1].player, now)] or pairings
        # Where time may end it early, all pairings come along together: the one with the most left is next.
        bounded = self._state.config.final_seconds() is not None
        candidate, other, left = max(rested, key=lambda p: p[2]) if bounded else rested[0]
        places = self._places(candidate, other)
        entries = self._seats.lineup(candidate, other, places[number % len(places)])  # in every role in turn
        assert entries is not None
        return evaluation_ticket(number, entries, min(left, self._state.config.evaluation.episodes))

    def done(self) -> bool:
        """Whether no more tickets will be handed out."""
        return not self.waiting and (self.closing or not any(self.pairings()))

    def pairings(self) -> Iterator[tuple[Entry, Entry, int]]:
        """Yield (candidate, other, episodes still to be handed out)."""
        games = max(1, len(set(self._seats.sides)) - 1)  # in one episode: the other has all other sides
        for entry, other, wanted, played in self._wanted():
            left = -(-(wanted - played) // games) - self._state.pending[frozenset((entry.player, other.player))]
            if left > 0:
                yield entry, other, left

    def games(self) -> tuple[int, int]:
        """Return how many games are played, and how many are wanted."""
        done = total = 0
        for _, _, wanted, played in self._wanted():
            done += min(wanted, played)
            total += wanted
        return done, total

    def _wanted(self) -> Iterator[tuple[Entry, Entry, int, int]]:
        """Yield (candidate, other, games wanted, games played)."""
        state, found = self._state, contestants(self._state)
        for entry in (e for e in found if state.population[e.player].learning):
            for other, wanted in self._quotas(entry, found):
                yield entry, other, wanted, sum(state.latest[entry.player].get(other.player, ()))

    def _quotas(self, entry: Entry, found: Sequence[Entry]) -> list[tuple[Entry, int]]:
        """Return whom a candidate meets in the final evaluation, and how often.

        The anchors, so that its score against each is worth its digits; and as often in all, shared out evenly, the
        frozen players. These met each other about as often as anchors, and where players beat each other in circles
        only those who met the same can be compared. In co-operation it plays with itself and the other candidates.
        """
        everybody, enough = self._state.population, self._state.config.evaluation.final_games
        fitting = [e for e in found if self._places(entry, e)]
        anchors = [e for e in fitting if everybody[e.player].anchor is not None]
        if self._seats.cooperative:
            candidates = [e for e in fitting if everybody[e.player].learning]
            others = candidates + anchors if len(self._seats.roles) > 1 else [entry]
            return [(other, enough) for other in others]
        whole = enough * len(anchors)
        frozen = [e for e in fitting if everybody[e.player].kind == Kind.FROZEN and e not in anchors][-whole:]
        return [(e, enough) for e in anchors] + [(e, min(enough, whole // len(frozen))) for e in frozen if whole]

    def _places(self, entry: Entry, other: Entry) -> list[int]:
        """Return where a player can sit so that the other can have the rest."""
        pair = (entry.player, other.player)
        if pair not in self._shared:
            places = self._seats.places(entry.player)
            self._shared[pair] = [place for place in places if self._seats.lineup(entry, other, place)]
        return self._shared[pair]
