"""Open tickets: who plays them, and what happens to those that are not finished."""

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

BACK_OFF = 60.0  # seconds for which a pairing that was void is not chosen again


class OpenTickets:
    """The open tickets of a league, with their leases and the conduct of those who hold them."""

    def __init__(self, league: RunningLeague, now: float) -> None:
        rules = league.state.config.lease
        self._league, self._state = league, league.state
        self.leases = Leases(rules.seconds)
        self.conduct = Conduct(rules.quarantine, rules.seconds)
        self._void = "see the log of the coordinator"  # why a ticket was void last
        for ticket in self._state.open.values():
            self.grant(ticket, "", now)

    def grant(self, ticket: Ticket, holder: str, now: float) -> None:
        """Lease a ticket to a session; a human may think for long."""
        patience = HUMAN_GAME_SECONDS if is_human(self._state, ticket) else 0.0
        self.leases.grant(ticket.number, ticket.attempt, holder, now + patience)

    def verdict(self, ticket: TicketNumber, attempt: int, holder: str) -> Verdict:
        """Return whether a session's report about a ticket counts: only if it holds the ticket.

        After a restart nobody is known to hold it: then the first session that reports it does.
        """
        found = self._state.open.get(ticket)
        if found is not None:
            held = self.leases.holder(ticket)
            mine = found.attempt == attempt and (held == holder or (held == "" and self._may_claim(found, holder)))
            return Verdict.ACCEPTED if mine else Verdict.SUPERSEDED
        return Verdict.DUPLICATE if 0 < ticket <= self._state.tickets else Verdict.UNKNOWN

    def _may_claim(self, ticket: Ticket, holder: str) -> bool:
        """Whether a session can be the one that got a ticket before this coordinator started."""
        if name_of(holder) in self._state.quarantined:
            return False
        return is_guest(holder) == is_human(self._state, ticket)

    def settle(self, result: Result, holder: str, now: float) -> None:
        """Count a result."""
        self.leases.end(result.ticket)
        self.conduct.succeeded(name_of(holder), now)
        self._league.emit(ResultCounted(ticket=result.ticket, attempt=result.attempt, episodes=result.episodes))

    def withdraw(self, number: TicketNumber) -> None:
        """Close a ticket that nobody need play any more."""
        self.leases.end(number)
        self._league.emit(TicketWithdrawn(ticket=number))

    def fail(self, number: TicketNumber, holder: str, why: str, now: float) -> None:
        """Let others try what a session could not play; a session that can play nothing is quarantined."""
        name = name_of(holder)
        self._retry(number, why, now)
        if is_guest(name):
            return
        self.conduct.faulted(name, why, now)
        self.quarantine(name, now)

    def lose(self, numbers: Sequence[TicketNumber], why: str, now: float) -> None:
        """Let others play what collectors were given and did not finish: one fault of each session, however many."""
        holders = {self.leases.holder(number) or "" for number in numbers}
        for number in numbers:
            self._retry(number, why, now)
        for name in map(name_of, sorted(holders)):
            if name and not is_guest(name):
                self.conduct.faulted(name, why, now)
                self.quarantine(name, now)

    def quarantine(self, name: str, now: float) -> None:
        """Give a collector no more tickets if it fails everything while others succeed; others play what it holds."""
        why = self.conduct.at_fault(name)
        if why and name not in self._state.quarantined:
            log.error("%s is quarantined: it fails everything while others succeed; the last time: %s", name, why)
            self._league.emit(CollectorQuarantined(name=name, why=why))
            for ticket in self.leases.held_by_name(name):
                self._retry(ticket, "its collector was quarantined", now)

    def _retry(self, number: TicketNumber, why: str, now: float) -> None:
        """Give a ticket another attempt, or void it and let its pairing rest."""
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
        """Return why the league cannot go on, or nothing: as long as one collector may succeed, it can."""
        voids = self._state.voids_in_a_row
        if voids < self._state.config.lease.give_up or not self.conduct.nobody_succeeds(collectors, now):
            return ""
        return f"{voids} tickets in a row were void, the last one because of: {self._void}"
