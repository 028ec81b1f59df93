"""Open tickets: their holders, and retries, withdrawals and voids of tickets that are not finished."""

import logging
from collections.abc import Collection, Sequence

from coordinator.challenging import HUMAN_GAME_SECONDS, is_human
from coordinator.conduct import Conduct
from coordinator.leases import Leases
from coordinator.running_league import RunningLeague
from coordinator.workers import is_guest, name_of
from league.events import CollectorQuarantined, ResultCounted, TicketReissued, TicketVoided, TicketWithdrawn
from league.ids import TicketNumber
from league.ticket import Result, Ticket
from league.wire.messages import Verdict

log = logging.getLogger("ludus.coordinator")

BACK_OFF = 60.0  # seconds for which the pairing of a void ticket rests


class OpenTickets:
    """The open tickets of a league, with their leases and the conduct of their holders."""

    def __init__(self, league: RunningLeague, now: float) -> None:
        rules = league.state.config.lease
        self._league, self._state = league, league.state
        self.leases = Leases(rules.seconds)
        self.conduct = Conduct(rules.quarantine, rules.seconds)
        self._void = "see the log of the coordinator"  # why the last void ticket failed
        for ticket in self._state.open.values():
            self.grant(ticket, "", now)

    def grant(self, ticket: Ticket, holder: str, now: float) -> None:
        """Lease a ticket to a session; a human gets more time."""
        extra = HUMAN_GAME_SECONDS if is_human(self._state, ticket) else 0.0
        self.leases.grant(ticket.number, ticket.attempt, holder, now + extra)

    def verdict(self, ticket: TicketNumber, attempt: int, holder: str) -> Verdict:
        """Return the verdict on a session's report about a ticket: ACCEPTED only if the session holds the ticket.

        After a restart the holder is unknown: the first session that reports the ticket becomes its holder.
        """
        found = self._state.open.get(ticket)
        if found is not None:
            held = self.leases.holder(ticket)
            mine = found.attempt == attempt and (held == holder or (held == "" and self._may_claim(found, holder)))
            return Verdict.ACCEPTED if mine else Verdict.SUPERSEDED
        return Verdict.DUPLICATE if 0 < ticket <= self._state.tickets else Verdict.UNKNOWN

    def _may_claim(self, ticket: Ticket, holder: str) -> bool:
        """Return whether a session may have received a ticket before this coordinator started."""
        if name_of(holder) in self._state.quarantined:
            return False
        return is_guest(holder) == is_human(self._state, ticket)

    def settle(self, result: Result, holder: str, now: float) -> None:
        """Count a result and close its ticket."""
        self.leases.end(result.ticket)
        self.conduct.succeeded(name_of(holder), now)
        self._league.emit(ResultCounted(ticket=result.ticket, attempt=result.attempt, episodes=result.episodes))

    def withdraw(self, number: TicketNumber) -> None:
        """Close a ticket without a result."""
        self.leases.end(number)
        self._league.emit(TicketWithdrawn(ticket=number))

    def fail(self, number: TicketNumber, holder: str, why: str, now: float) -> None:
        """Retry a ticket that a session could not play, and record the fault, which may quarantine its collector."""
        name = name_of(holder)
        self._retry(number, why, now)
        if is_guest(name):
            return
        self.conduct.faulted(name, why, now)
        self.quarantine(name, now)

    def lose(self, numbers: Sequence[TicketNumber], why: str, now: float) -> None:
        """Retry tickets that collectors did not finish: one fault for each session, however many tickets it held."""
        holders = {self.leases.holder(number) or "" for number in numbers}
        for number in numbers:
            self._retry(number, why, now)
        for name in map(name_of, sorted(holders)):
            if name and not is_guest(name):
                self.conduct.faulted(name, why, now)
                self.quarantine(name, now)

    def quarantine(self, name: str, now: float) -> None:
        """Quarantine a collector that fails everything while others succeed: retry its tickets, and give it no more."""
        why = self.conduct.at_fault(name)
        if why and name not in self._state.quarantined:
            log.error("%s is quarantined: it fails everything while others succeed; the last time: %s", name, why)
            self._league.emit(CollectorQuarantined(name=name, why=why))
            for ticket in self.leases.held_by_name(name):
                self._retry(ticket, "its collector was quarantined", now)

    def _retry(self, number: TicketNumber, why: str, now: float) -> None:
        """Queue a ticket for another attempt, or void it and let its pairing rest; withdraw a human's ticket."""
        ticket = self._state.open[number]
        if is_human(self._state, ticket):
            self.withdraw(number)
            return
        if ticket.attempt + 1 >= self._state.config.lease.attempts:
            self.leases.end(number)
            names = " v ".join(entry.player for entry in ticket.entries)
            log.error("ticket %d (%s) is void after %d attempts: %s", number, names, ticket.attempt + 1, why)
            self._void = why
            self._league.emit(TicketVoided(ticket=number, why=why))
            self._league.scheduler.resting.add(ticket, now + BACK_OFF)
            return
        self.leases.enqueue(number)
        self._league.emit(TicketReissued(ticket=number, attempt=ticket.attempt + 1, why=why))

    def hopeless(self, collectors: Collection[str], now: float) -> str:
        """Return why the league must end, "" if it need not: it may continue while any collector may succeed."""
        voids = self._state.voids_in_a_row
        if voids < self._state.config.lease.give_up or not self.conduct.nobody_succeeds(collectors, now):
            return ""
        return f"{voids} tickets in a row were void, the last one because of: {self._void}"
