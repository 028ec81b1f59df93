"""Evaluation tickets during training: those who may be among the best meet those who tell most of them.

One ticket of four is for the player with the fewest games, against whom it met least: so every rating and every cell of
the payoff is refreshed for ever, however sure it is.
"""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from coordinator.scheduling.choosing import any_of, least_played
from coordinator.scheduling.information import contenders, online_rating, telling
from coordinator.scheduling.resting import RestingPairs
from coordinator.scheduling.seat_choices import Seats
from league.ids import TicketNumber
from league.state import LeagueState
from league.ticket import Entry, Purpose, Ticket

TYPICAL_LENGTH = 20.0  # moves in an episode, until there are results
LEAST_KNOWN = 0.25  # of the tickets are for whoever has the fewest games, against whom it met least


def contestants(state: LeagueState) -> list[Entry]:
    """Return an entry for each player to evaluate: scripted and frozen ones and newest candidates, of rated kinds."""
    unrated = {kind for kind, row in state.config.kinds.items() if not row.rated}
    found = (state.contestant(player.id) for player in state.population if player.kind not in unrated)
    return [entry for entry in found if entry is not None]


def evaluation_ticket(number: TicketNumber, entries: Sequence[Entry], episodes: int, turn: int) -> Ticket:
    """Return a ticket that trains nobody. The episodes of a turn, in which all change seats, share a seed."""
    return Ticket(number=number, purpose=Purpose.EVALUATE, entries=tuple(entries), episodes=episodes, turn=turn)


class Known:
    """What the scheduler knows of all contestants: their online Elo, and how uncertain it is."""

    def __init__(self, state: LeagueState, entries: Sequence[Entry]) -> None:
        self._entries, self._episodes = entries, state.config.evaluation.episodes
        self._ratings = {
            name: online_rating(state.elo[name], state.evaluated[name], state.population[name].anchor is not None)
            for name in (entry.player for entry in entries)
        }

    def contenders(self) -> list[Entry]:
        """Return who may be among the best."""
        return list(compress(self._entries, contenders(list(self._ratings.values()))))

    def telling(self, first: Entry, others: list[Entry]) -> list[Entry]:
        """Return those of some opponents that tell about as much of a player as the best of them does."""
        ratings = [self._ratings[entry.player] for entry in others]
        return list(compress(others, telling(self._ratings[first.player], ratings, self._episodes)))


class EvaluationTickets:
    """Chooses the next evaluation ticket, and decides when it is due."""

    def __init__(
        self, state: LeagueState, seats: Seats, resting: RestingPairs, least_known: float = LEAST_KNOWN
    ) -> None:
        self._state, self._seats, self._resting, self._least_known = state, seats, resting, least_known

    def is_due(self) -> bool:
        """Return whether evaluation, including open tickets, is behind its share of env steps."""
        training, evaluation = self._expected(Purpose.TRAIN), self._expected(Purpose.EVALUATE)
        return evaluation < self._state.config.evaluation.share * (training + evaluation)

    def _expected(self, purpose: Purpose) -> float:
        """Return the env steps of a purpose; each episode of an open ticket counts as the mean of finished ones."""
        steps, episodes = self._state.steps[purpose], self._state.episodes[purpose]
        return steps + self._state.outstanding[purpose] * (steps / episodes if episodes else TYPICAL_LENGTH)

    def next(self, number: TicketNumber, rng: np.random.Generator, now: float) -> Ticket | None:
        """Let a contender with few games meet one who tells much of it: often anchors, so that no rating drifts."""
        state, found = self._state, contestants(self._state)
        if not found or state.config.evaluation.share <= 0:
            return None
        known = None if self._seats.cooperative or rng.random() < self._least_known else Known(state, found)
        pool = found if known is None else known.contenders()
        first = least_played(pool, [state.evaluated[e.player] for e in pool], rng)
        place = any_of(self._seats.places(first.player), rng)
        if self._seats.cooperative:
            entries = self._with_partner(first, place, found, rng, now)
        else:
            others = self._rested(first, [e for e in found if e.player != first.player], now)
            entries = self._against(first, place, others, known, rng)
        if entries is None:
            return None
        return evaluation_ticket(number, entries, state.config.evaluation.episodes, self._seats.turn)

    def _against(
        self, first: Entry, place: int, others: list[Entry], known: Known | None, rng: np.random.Generator
    ) -> list[Entry] | None:
        """Return the entries of a match between sides. Each side is a team of one player, as far as roles allow.

        So a rating belongs to a player and does not depend on its team-mates.
        """
        seats, sides = self._seats, self._seats.sides
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
            if known is not None:
                fresh = known.telling(first, fresh)
            lineup[seat] = least_played(fresh, [self._met(first, e) for e in fresh], rng)
        return [lineup[seat] for seat in range(len(seats.roles))]

    def _with_partner(
        self, first: Entry, place: int, found: Sequence[Entry], rng: np.random.Generator, now: float
    ) -> list[Entry] | None:
        """Return the entries of a co-operative match: an entry, and the partner (or itself) it played with least."""
        partners = self._rested(first, [e for e in found if self._seats.lineup(first, e, place)], now)
        if len(self._seats.roles) == 1:
            partners = [first]
        if not partners:
            return None
        partner = least_played(partners, [self._met(first, e) for e in partners], rng)
        return self._seats.lineup(first, partner, place)

    def _rested(self, first: Entry, others: list[Entry], now: float) -> list[Entry]:
        """Return the others whose pair with the first does not rest; all of them, if every pair rests."""
        return [e for e in others if not self._resting.rests(first.player, e.player, now)] or others

    def _met(self, a: Entry, b: Entry) -> float:
        """Return the evaluation games of two players, plus the episodes that are pending."""
        pending = self._state.pending[frozenset((a.player, b.player))]
        met = self._state.evaluation.return_games if self._seats.cooperative else self._state.evaluation.games
        return met(a.player, b.player) + pending
