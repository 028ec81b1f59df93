"""Handles reports of collectors: counts results and faults, renews leases, hands out tickets."""

import logging
from collections.abc import Sequence

from coordinator.directory import Directory
from coordinator.open_tickets import OpenTickets
from coordinator.running_league import RunningLeague
from coordinator.workers import Workers, holder_of, is_guest
from league import result_check as checking
from league.events import TicketIssued
from league.ids import PlayerId, TicketNumber
from league.limits import HELD
from league.ticket import Fault, Result, Ticket
from league.wire.messages import Ack, Orders, Report, Verdict

log = logging.getLogger("ludus.coordinator")

AT_ONCE = 64  # tickets in one answer, at most
UNPROVEN = 64  # tickets that a session may hold before its first result


class CollectorReports:
    """Answers the reports of collectors."""

    def __init__(self, league: RunningLeague, tickets: OpenTickets, directory: Directory, workers: Workers) -> None:
        self._league, self._state = league, league.state
        self._tickets, self._directory, self._workers = tickets, directory, workers

    def answer(self, report: Report, now: float, stop: bool) -> Orders:
        """Return acknowledgements, new tickets, revoked tickets, and the hosts if they changed."""
        holder = holder_of(report.name, report.session)
        acks = [self._result(result, holder, now) for result in report.results]
        acks += [self._fault(fault, holder, now) for fault in report.faults]
        revoked = self._renew(report, holder, now)
        tickets = [] if stop or self._state.paused else self._hand_out(report, holder, now)
        changed = report.directory != self._directory.fingerprint
        return Orders(
            term=self._state.term,
            request=report.request,
            acks=tuple(acks),
            tickets=tuple(tickets),
            revoked=revoked,
            directory=self._directory.fingerprint,
            hosts=self._directory.hosts() if changed else None,
            stop=stop,
        )

    def _result(self, result: Result, holder: str, now: float) -> Ack:
        """Count a result if it is possible, of the current attempt of an open ticket, and from its holder."""
        verdict = self._tickets.verdict(result.ticket, result.attempt, holder)
        if verdict == Verdict.ACCEPTED:
            wrong = checking.problem(self._state.open[result.ticket], result.episodes, self._state.env)
            if wrong:
                log.warning("ticket %d: %s", result.ticket, wrong)
                self._tickets.fail(result.ticket, holder, wrong, now)
                verdict = Verdict.SUPERSEDED
            else:
                self._workers.prove(holder)
                self._tickets.settle(result, holder, now)
        return Ack(result.ticket, result.attempt, verdict)

    def _fault(self, fault: Fault, holder: str, now: float) -> Ack:
        verdict = self._tickets.verdict(fault.ticket, fault.attempt, holder)
        if verdict == Verdict.ACCEPTED:
            self._tickets.fail(fault.ticket, holder, fault.reason, now)
        return Ack(fault.ticket, fault.attempt, verdict)

    def _renew(self, report: Report, holder: str, now: float) -> tuple[tuple[TicketNumber, int], ...]:
        """Renew the leases of the tickets that a session reports; return those that it no longer holds."""
        revoked = []
        for held in report.held:
            if self._tickets.verdict(held.ticket, held.attempt, holder) == Verdict.ACCEPTED:
                self._tickets.leases.renew(held.ticket, held.attempt, holder, held.progress, now)
            else:
                revoked.append((held.ticket, held.attempt))
        return tuple(revoked)

    def _hand_out(self, report: Report, holder: str, now: float) -> list[Ticket]:
        self._tickets.quarantine(report.name, now)
        if report.name in self._state.quarantined or is_guest(report.name):
            return []
        if self._tickets.conduct.rests(report.name, self._workers.collectors, now):
            return []
        tickets = []
        most = HELD if self._workers.is_proven(report.name, report.session) else UNPROVEN
        for _ in range(min(report.want, AT_ONCE, max(0, most - self._tickets.leases.count(holder)))):
            ticket = self._waiting(report.starved) or self._new(report.starved, now)
            if ticket is None:
                break
            self._tickets.grant(ticket, holder, now)
            tickets.append(ticket)
        return tickets

    def _waiting(self, starved: Sequence[PlayerId]) -> Ticket | None:
        """Return a queued ticket that another session did not finish; None if there is none to play now."""
        for number in self._tickets.leases.waiting:
            ticket = self._state.open[number]
            if ticket.can_train(starved):
                return ticket
        return None

    def _new(self, starved: Sequence[PlayerId], now: float) -> Ticket | None:
        ticket = self._league.scheduler.next(now, starved)
        if ticket is not None:
            self._league.emit(TicketIssued(ticket=ticket))
        return ticket
