"""The scheduler: chooses the next ticket. Pure: it reads the state, and random numbers derive from the ticket number.

Evaluation is due when it is behind its share of env steps. Training is divided among the learning players by
their rates, and a matchmaker chooses the opponents.
"""

from collections.abc import Collection, Iterator

import numpy as np

from coordinator.scheduling.choosing import TicketRandomness
from coordinator.scheduling.evaluation import EvaluationTickets, contestants
from coordinator.scheduling.final import FinalTickets
from coordinator.scheduling.resting import RestingPairs
from coordinator.scheduling.seat_choices import Seats
from coordinator.scheduling.tournament_tickets import TournamentTickets
from coordinator.scheduling.training import TrainingTickets
from coordinator.scheduling.variant_choice import with_variant
from league.ids import PlayerId, TicketNumber
from league.matchmaking.choice import Choice
from league.player import Player
from league.state import FINAL, TRAINING, LeagueState
from league.ticket import Entry, Ticket


class Scheduler:
    """Chooses the next ticket of a league: one for training, evaluation, or the final evaluation."""

    def __init__(self, state: LeagueState, allow: Collection[str] = ()) -> None:
        self._state = state
        self._randomness = TicketRandomness()
        seats, self.resting = Seats(state), RestingPairs()
        self._training = TrainingTickets(state, seats, self.resting, allow)
        self._evaluation = EvaluationTickets(state, seats, self.resting)
        kind = TournamentTickets if state.config.tournament.enabled else FinalTickets
        self.final: FinalTickets | TournamentTickets = kind(state, seats, self.resting)

    def next(self, now: float, starved: Collection[PlayerId] = ()) -> Ticket | None:
        """Return a new ticket, or None if there is nothing to play. No ticket trains a player in `starved`."""
        state = self._state
        if state.paused or state.env is None:
            return None
        number = TicketNumber(state.tickets + 1)
        rng = self._randomness.of(state.seed, number)
        ticket = self._next(number, rng, now, starved)
        return None if ticket is None else with_variant(state, ticket, rng)

    def _next(
        self, number: TicketNumber, rng: np.random.Generator, now: float, starved: Collection[PlayerId]
    ) -> Ticket | None:
        if self._state.phase == FINAL:
            return self.final.next(number, now)
        if self._state.phase != TRAINING:
            return None
        if self._evaluation.is_due():
            return self._evaluation.next(number, rng, now) or self._training.next(number, rng, now, starved)
        return self._training.next(number, rng, now, starved)

    def choices(self, player: Player, roles: frozenset[str] | None = None, mates: bool = False) -> list[Choice]:
        """Return the player's possible opponents, or its mates, with exact probabilities and reasons."""
        return self._training.choices(player, roles, mates)

    def forget(self) -> None:
        """Drop cached probabilities of matchmakers: a batch of messages has ended, or the pool has changed."""
        self._training.forget()

    def note_cpu_seconds(self, player: PlayerId, seconds: float) -> None:
        """Note what all updates of a player took; it counts where rates are shares of that (league.rate_by)."""
        episodes = self._state.trained_episodes[player]
        if seconds > 0 and episodes:
            self._training.cpu_seconds[player] = seconds / episodes

    def contestants(self) -> list[Entry]:
        """Return an entry for each player that can be evaluated."""
        return contestants(self._state)

    def final_pairings(self) -> Iterator[tuple[Entry, Entry, int]]:
        """Yield (candidate, other, episodes still to be handed out) of the final evaluation."""
        return self.final.pairings()

    def final_games(self) -> tuple[int, int]:
        """Return the number of games of the final evaluation that are played, and the number wanted."""
        return self.final.games()
