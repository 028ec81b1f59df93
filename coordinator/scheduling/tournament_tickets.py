"""The tickets of a tournament: every pair plays the same number of rounds, until all ratings are precise enough."""

from collections.abc import Iterator
from itertools import combinations

from coordinator.scheduling.evaluation import contestants, evaluation_ticket
from coordinator.scheduling.resting import RestingPairs
from coordinator.scheduling.seat_choices import Seats, next_part
from league.appraisal import appraise
from league.ids import PlayerId, TicketNumber
from league.state import LeagueState
from league.ticket import Entry, Ticket

Pair = tuple[PlayerId, PlayerId]


class TournamentTickets:
    """Chooses the tickets of a tournament, and counts its games. It reads the state only, so that it can be resumed."""

    def __init__(self, state: LeagueState, seats: Seats, resting: RestingPairs) -> None:
        self._state, self._seats, self._resting = state, seats, resting
        self._lineups: dict[Pair, list[list[Entry]]] = {}
        self._precise: tuple[int, bool] = (-1, False)  # the number of results, and whether ratings were precise then
        self.waiting = False  # for nobody: nobody learns
        self.closing = False

    def next(self, number: TicketNumber, now: float) -> Ticket | None:
        """Return a ticket of the pair with the most rounds left; None if no games are left to be handed out."""
        pairings = list(self.pairings())
        rested = [p for p in pairings if not self._resting.rests(p[0].player, p[1].player, now)] or pairings
        if not rested:
            return None
        first, second, left = max(rested, key=lambda p: p[2])
        lineups, turn, base = (
            self._between(first, second),
            self._seats.turn,
            self._reached() * self._round(first, second),
        )
        wanted = self._level() * self._round(first, second)
        way, rest = next_part(wanted - left - base, wanted - base, len(lineups))
        episodes = min(rest, max(turn, self._state.config.evaluation.episodes // turn * turn))
        return evaluation_ticket(number, lineups[way], episodes, turn)

    def done(self) -> bool:
        """Return whether no more tickets will be handed out."""
        return not any(self.pairings())

    def pairings(self) -> Iterator[tuple[Entry, Entry, int]]:
        """Yield (first, second, episodes still to be handed out)."""
        level = self._level()
        for first, second in self._pairs():
            wanted = level * self._round(first, second)
            left = wanted - self._episodes(first, second) - self._pending(first, second)
            if left > 0:
                yield first, second, left

    def games(self) -> tuple[int, int]:
        """Return the number of episodes played, and the number wanted as far as that is known."""
        level = self._level()
        pairs = [(level * self._round(a, b), self._episodes(a, b)) for a, b in self._pairs()]
        return sum(min(pair) for pair in pairs), sum(wanted for wanted, _ in pairs)

    def _level(self) -> int:
        """Return how many rounds each pair is to play: the next level while a rating is not precise enough."""
        levels, reached = self._state.config.tournament.levels(), self._reached()
        if reached and (reached == levels[-1] or (self._least() == reached and self._is_precise())):
            return reached
        return next(level for level in levels if level > reached)

    def _reached(self) -> int:
        """Return the highest level that all pairs have played; 0 if there is none."""
        least = self._least()
        return max((level for level in self._state.config.tournament.levels() if least >= level), default=0)

    def _least(self) -> float:
        """Return how many rounds every pair has played, at least."""
        return min((self._episodes(a, b) / self._round(a, b) for a, b in self._pairs()), default=0.0)

    def _round(self, first: Entry, second: Entry) -> int:
        """Return after how many episodes both have had every seat that they can have against each other."""
        return self._seats.turn * len(self._between(first, second))

    def _is_precise(self) -> bool:
        """Return whether the interval of every rating is narrow enough; computed once for each number of results."""
        results = sum(self._state.results.values())
        if self._precise[0] != results:
            self._precise = (results, self._measured() <= (self._state.config.tournament.until or 0.0))
        return self._precise[1]

    def _measured(self) -> float:
        """Return half of the widest interval of a rating that is not pinned."""
        population = list(self._state.population)
        ratings = appraise(self._state.population, self._state.evaluation).fit.ratings
        free = [i for i, player in enumerate(population) if player.anchor is None]
        return max((float(ratings.high[i] - ratings.low[i]) / 2 for i in free), default=0.0)

    def _pairs(self) -> Iterator[tuple[Entry, Entry]]:
        """Yield all who meet: everybody, or in a gauntlet each one and those that it is run against."""
        against = self._state.config.tournament.against
        for first, second in combinations(contestants(self._state), 2):
            met = not against or (first.player in against) != (second.player in against)
            if met and self._between(first, second):
                yield first, second

    def _between(self, first: Entry, second: Entry) -> list[list[Entry]]:
        """Return the ways in which two can sit against each other: one for each kind of seat of the first."""
        pair = (first.player, second.player)
        if pair not in self._lineups:
            found = (self._seats.lineup(first, second, place) for place in self._seats.places(first.player))
            self._lineups[pair] = [entries for entries in found if entries is not None]
        return self._lineups[pair]

    def _episodes(self, first: Entry, second: Entry) -> int:
        """Return how many episodes two have played; with more than two sides an episode is several games of a pair."""
        a, b, sides = first.player, second.player, len(set(self._seats.sides))
        table = self._state.evaluation
        if self._seats.cooperative:
            return int(table.return_games(a, b))
        return round(table.games(a, b)) // max(1, sides - 1)

    def _pending(self, first: Entry, second: Entry) -> int:
        return self._state.pending[frozenset((first.player, second.player))]
