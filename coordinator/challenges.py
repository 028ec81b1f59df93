"""Answers challenges of humans with a ticket for a rated game, or a refusal."""

from coordinator.audience import Bucket
from coordinator.challenging import ChallengeError, take_up
from coordinator.open_tickets import OpenTickets
from coordinator.running_league import RunningLeague
from coordinator.workers import HUMAN, holder_of
from league.events import TicketWithdrawn
from league.ids import TicketNumber
from league.wire.messages import Challenge, Orders, Refused

CHALLENGES = 5  # a second, of all humans together: each is written to the ledger


class Challenges:
    """Answers challenges, up to CHALLENGES a second."""

    def __init__(self, league: RunningLeague, tickets: OpenTickets, now: float) -> None:
        self._league, self._tickets = league, tickets
        self._rate = Bucket(CHALLENGES, now)

    def answer(self, challenge: Challenge, now: float) -> Orders | Refused:
        """Return the ticket of a human's game, or the reason for a refusal."""
        if not self._rate.ready(now):
            return Refused(reason=f"more than {CHALLENGES} challenges a second: try again in a moment")
        self._rate.pay(1, now)
        state = self._league.state
        try:
            events = take_up(state, challenge)
        except ChallengeError as error:
            return Refused(reason=str(error))
        for event in events:
            self._league.emit(event)
            if isinstance(event, TicketWithdrawn):
                self._tickets.leases.end(event.ticket)
        ticket = state.open[TicketNumber(state.tickets)]
        self._tickets.grant(ticket, holder_of(f"{HUMAN}-{challenge.name}", challenge.session), now)
        return Orders(term=state.term, request=challenge.request, tickets=(ticket,))
