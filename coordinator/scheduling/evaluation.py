"""Evaluation tickets during training: those who played least meet those whom they met least."""

from collections.abc import Sequence

import numpy as np

from coordinator.scheduling.choosing import any_of, least_played
from coordinator.scheduling.resting import RestingPairs
from coordinator.scheduling.seat_choices import Seats
from league.ids import TicketNumber
from league.state import LeagueState
from league.ticket import Entry, Purpose, Ticket

TYPICAL_LENGTH = 20.0  # moves in an episode, until there are results


def contestants(state: LeagueState) -> list[Entry]:
    """Return all that can be evaluated: scripted and frozen players, and the newest candidates."""
    found = (state.contestant(player.id) for player in state.population)
    return [entry for entry in found if entry is not None]


def evaluation_ticket(number: TicketNumber, entries: Sequence[Entry], episodes: int) -> Ticket:
    """Return a ticket that trains nobody."""
    return Ticket(number=number, purpose=Purpose.EVALUATE, entries=tuple(entries), episodes=episodes)


class EvaluationTickets:
    """Chooses the next evaluation ticket, and when it is due."""

    def __init__(self, state: LeagueState, seats: Seats, resting: RestingPairs) -> None:
        self._state, self._seats, self._resting = state, seats, resting

    def is_due(self) -> bool:
        """Return whether evaluation, outstanding tickets included, is behind its share of env steps."""
        training, evaluation = self._expected(Purpose.TRAIN), self._expected(Purpose.EVALUATE)
        return evaluation < self._state.config.evaluation.share * (training + evaluation)

    def _expected(self, purpose: Purpose) -> float:
        """Return the env steps of a purpose, as many for an outstanding episode as for a typical one."""
        steps, episodes = self._state.steps[purpose], self._state.episodes[purpose]
        return steps + self._state.outstanding[purpose] * (steps / episodes if episodes else TYPICAL_LENGTH)

    def next(self, number: TicketNumber, rng: np.random.Generator, now: float) -> Ticket | None:
        """Let the contestant with the fewest games meet those it met least: often anchors, so that no rating drifts."""
        state, found = self._state, contestants(self._state)
        if not found or state.config.evaluation.share <= 0:
            return None
        first = least_played(found, [state.evaluated[e.player] for e in found], rng)
        place = any_of(self._seats.places(first.player), rng)
        fill = self._with_partner if self._seats.cooperative else self._against
        entries = fill(first, place, found, rng, now)
        return None if entries is None else evaluation_ticket(number, entries, state.config.evaluation.episodes)

    def _against(
        self, first: Entry, place: int, found: Sequence[Entry], rng: np.random.Generator, now: float
    ) -> list[Entry] | None:
        """Return a match of sides: each is a team of one player, as far as its role allows.

        So a rating is that of a player, and not of whom it happened to play with.
        """
        seats, sides = self._seats, self._seats.sides
        others = self._rested(first, [e for e in found if e.player != first.player], now)
        anchored = rng.random() < self._state.config.evaluation.anchored
        lineup: dict[int, Entry] = {place: first}
        for seat, role in enumerate(seats.roles):
            if seat in lineup:
                continue
            mates = [e for s, e in lineup.items() if sides[s] == sides[seat] and seats.fits(e.player, role)]
            fitting = mates[:1] or [e for e in others if seats.fits(e.player, role)]
            if not fitting:
                return None
            fresh = [e for e in fitting if e not in lineup.values()] or fitting
            if anchored:
                fresh = [e for e in fresh if self._state.population[e.player].anchor is not None] or fresh
            lineup[seat] = least_played(fresh, [self._met(first, e) for e in fresh], rng)
        return [lineup[seat] for seat in range(len(seats.roles))]

    def _with_partner(
        self, first: Entry, place: int, found: Sequence[Entry], rng: np.random.Generator, now: float
    ) -> list[Entry] | None:
        """Return a match of one side: a contestant with the partner, perhaps itself, that it has played with least."""
        partners = self._rested(first, [e for e in found if self._seats.lineup(first, e, place)], now)
        if len(self._seats.roles) == 1:
            partners = [first]
        if not partners:
            return None
        partner = least_played(partners, [self._met(first, e) for e in partners], rng)
        return self._seats.lineup(first, partner, place)

    def _rested(self, first: Entry, others: list[Entry], now: float) -> list[Entry]:
        """Return those of others whose pair with the first does not rest; all of them, if every one does."""
        return [e for e in others if not self._resting.rests(first.player, e.player, now)] or others

    def _met(self, a: Entry, b: Entry) -> float:
        """Return how often two contestants met in evaluation, matches under way included."""
        pending = self._state.pending[frozenset((a.player, b.player))]
        met = self._state.evaluation.return_games if self._seats.cooperative else self._state.evaluation.games
        return met(a.player, b.player) + pending
