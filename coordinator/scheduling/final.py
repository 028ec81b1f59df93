"""The final evaluation: each last candidate plays a fixed number of games against anchors and frozen players."""

from collections.abc import Iterator, Sequence

from coordinator.scheduling.evaluation import contestants, evaluation_ticket
from coordinator.scheduling.resting import RestingPairs
from coordinator.scheduling.seat_choices import Seats, next_part
from league.ids import PlayerId, TicketNumber
from league.player import Status
from league.state import LeagueState
from league.ticket import Entry, Ticket


class FinalTickets:
    """Chooses the tickets of the final evaluation, and counts its games."""

    def __init__(self, state: LeagueState, seats: Seats, resting: RestingPairs) -> None:
        self._state, self._seats, self._resting = state, seats, resting
        self._shared: dict[tuple[PlayerId, PlayerId], list[int]] = {}  # the result of `_places` for each pair
        self.waiting = False  # no tickets yet: last candidates are awaited
        self.closing = False  # no more tickets: the time is up

    def next(self, number: TicketNumber, now: float) -> Ticket | None:
        """Return a ticket; None if no games are left, or none may be handed out now."""
        pairings = [] if self.waiting or self.closing else list(self.pairings())
        if not pairings:
            return None
        rested = [p for p in pairings if not self._resting.rests(p[0].player, p[1].player, now)] or pairings
        # If time may end it early, all pairings advance together: the one with the most episodes left is next.
        bounded = self._state.config.final_seconds() is not None
        candidate, other, left = max(rested, key=lambda p: p[2]) if bounded else rested[0]
        places = self._places(candidate, other)
        handed = self._handed(candidate, other)
        way, rest = next_part(handed, handed + left, len(places))  # every role has the same share
        entries = self._seats.lineup(candidate, other, places[way])
        assert entries is not None
        episodes = min(rest, self._state.config.evaluation.episodes)
        return evaluation_ticket(number, entries, episodes, self._seats.turn)

    def done(self) -> bool:
        """Return whether no more tickets will be handed out."""
        return not self.waiting and (self.closing or not any(self.pairings()))

    def pairings(self) -> Iterator[tuple[Entry, Entry, int]]:
        """Yield (candidate, other, episodes still to be handed out)."""
        for entry, other, wanted, played in self._wanted():
            left = -(-(wanted - played) // self._games) - self._state.pending[frozenset((entry.player, other.player))]
            if left > 0:
                yield entry, other, left

    @property
    def _games(self) -> int:
        """How many games of a pair an episode is: the other player has all other sides."""
        return max(1, len(set(self._seats.sides)) - 1)

    def _handed(self, entry: Entry, other: Entry) -> int:
        """Return how many episodes of a pair were played or are under way."""
        played = self._state.games_of_newest(entry.player, other.player) // self._games
        return played + self._state.pending[frozenset((entry.player, other.player))]

    def games(self) -> tuple[int, int]:
        """Return the number of games played, and the number wanted."""
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
                yield entry, other, wanted, state.games_of_newest(entry.player, other.player)

    def _quotas(self, entry: Entry, found: Sequence[Entry]) -> list[tuple[Entry, int]]:
        """Return the other players that a candidate meets in the final evaluation, and the number of games with each.

        It plays `final_games` against each anchor, for a precise score, and as many as against all anchors together, in
        equal shares, against the frozen players and the other candidates, live exploiters among them: ratings of
        non-transitive players are comparable only if they met the same opponents. In co-operative environments it plays
        with itself, the other candidates and the anchors.
        """
        everybody, enough = self._state.population, self._state.config.evaluation.final_games
        fitting = [e for e in found if self._places(entry, e)]
        anchors = [e for e in fitting if everybody[e.player].anchor is not None]
        if self._seats.cooperative:
            candidates = [e for e in fitting if everybody[e.player].learning]
            others = candidates + anchors if len(self._seats.roles) > 1 else [entry]
            return [(other, enough) for other in others]
        whole = enough * len(anchors)
        live = [e for e in fitting if everybody[e.player].learning and e.player != entry.player]
        frozen = [e for e in fitting if everybody[e.player].status == Status.FROZEN and e not in anchors]
        others = [*frozen, *live][-whole:] if whole else []
        return [(e, enough) for e in anchors] + [(e, min(enough, whole // len(others))) for e in others]

    def _places(self, entry: Entry, other: Entry) -> list[int]:
        """Return the seats that a player can take such that the other can take the rest."""
        pair = (entry.player, other.player)
        if pair not in self._shared:
            places = self._seats.places(entry.player)
            self._shared[pair] = [place for place in places if self._seats.lineup(entry, other, place)]
        return self._shared[pair]
