"""The coordinator: decides what every message means. No socket, no file, no clock of its own.

coordinator = Coordinator(state, learners=["learner-0"])
reply = coordinator.handle(role, message, now)      # may emit events, which are applied at once
coordinator.tick(now)                               # leases that expire, phases that end
batch = coordinator.take()                          # the events to commit before any reply is sent
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from coordinator.challenging import PATIENCE, ChallengeError, is_human, take_up
from coordinator.leases import Leases
from coordinator.promoting import promote, prune
from coordinator.scheduler import Scheduler, final_is_done
from league.events import (
    CandidateWritten,
    Event,
    OperatorActed,
    PhaseBegan,
    ResultCounted,
    TicketIssued,
    TicketReissued,
    TicketVoided,
    TicketWithdrawn,
)
from league.ids import PlayerId, TicketNumber, derive_seed
from league.state import FINAL, OVER, TRAINING, LeagueState, apply
from league.ticket import Fault, Purpose, Result, Ticket
from league.wire.messages import (
    Ack,
    Assignment,
    Candidate,
    Challenge,
    Command,
    Done,
    Host,
    Message,
    Orders,
    Progress,
    Refused,
    Report,
    Role,
    Roster,
    Verdict,
    Worker,
)

log = logging.getLogger("ludus.coordinator")

SILENT = 60.0  # seconds after which a process that says nothing is forgotten
BACK_OFF = 60.0  # seconds for which a pairing that was void is not drawn again
_ROUTINE = (TicketIssued, ResultCounted)  # after these the pool is still the same

MAY_SAY: dict[type, Role] = {
    Report: Role.COLLECTOR,
    Challenge: Role.COLLECTOR,
    Progress: Role.LEARNER,
    Command: Role.OPERATOR,
}


@dataclass(frozen=True, slots=True)
class _Addresses:
    """Where a learner, and what stands beside it, can be reached."""

    ranks: tuple[str, ...]  # take segments
    inference: str  # answers for its networks
    doors: dict[PlayerId, tuple[str, ...]]  # take the segments of these players instead


@dataclass(slots=True)
class _Seen:
    """A process that talked to us lately."""

    role: Role
    session: str
    at: float
    metrics: dict[str, float] = field(default_factory=dict)
    fresh: bool = True  # metrics not yet written to the ledger


class Coordinator:
    """Reads the state, emits events. Everything beside the state is memory that a restart may lose."""

    def __init__(self, state: LeagueState, learners: Sequence[str], now: float = 0.0) -> None:
        self.state = state
        self.scheduler = Scheduler(state)
        self.leases = Leases(state.config.lease.seconds)
        self.stopping = False  # tell everybody to stop, whatever the phase
        self.elapsed = 0.0  # seconds of play, all terms together, as `tick` was told last
        self.learners = list(learners)
        self._workers: dict[str, _Seen] = {}
        self._addresses: dict[str, _Addresses] = {}  # by the learner's name
        self._directory = 0  # a fingerprint of the hosts: the same in all terms, so nobody keeps an old one
        self._pending: list[Event] = []
        self._void = "see the log of the coordinator"  # why a ticket was void last
        for ticket in state.open.values():
            self._grant(ticket, "", now)
        self._note_hosts()

    def emit(self, event: Event) -> None:
        """Apply an event now; `take` hands it to the ledger."""
        apply(self.state, event)
        self._pending.append(event)
        if not isinstance(event, _ROUTINE):
            self.scheduler.forget()

    @property
    def unsaved(self) -> bool:
        """Whether there are events that nobody took yet."""
        return bool(self._pending)

    def take(self) -> list[Event]:
        """Return the events since the last call."""
        batch, self._pending = self._pending, []
        self.scheduler.forget()
        return batch

    def handle(self, role: Role | None, message: Message, now: float) -> Message | None:
        """Return the answer to a message. A wrong role, or a message that is not for us, gets a refusal."""
        may = MAY_SAY.get(type(message))
        if may is not None and role not in (None, may):
            return Refused(reason=f"a {role} key may not send {type(message).__name__}")
        match message:
            case Report():
                return self._report(message, now)
            case Challenge():
                return self._challenge(message, now)
            case Progress():
                return self._progress(message, now)
            case Command():
                return self._command(message)
            case _:
                return Refused(reason=f"the coordinator does not take {type(message).__name__}")

    # --- collectors ------------------------------------------------------------------------------------------

    def _report(self, report: Report, now: float) -> Orders:
        self._note(report.name, Role.COLLECTOR, report.session, report.metrics, now)
        acks = [self._result(result, now) for result in report.results]
        acks += [self._fault(fault, now) for fault in report.faults]
        revoked = []
        for held in report.held:
            if self._is_current(held.ticket, held.attempt, report.session):
                self.leases.renew(held.ticket, held.attempt, report.session, held.steps, now)
            else:
                revoked.append((held.ticket, held.attempt))
        stop = self.stopping or self.state.phase == OVER
        tickets = [] if stop or self.state.paused else self._tickets(report, now)
        changed = report.directory != self._directory
        return Orders(
            term=self.state.term,
            request=report.request,
            acks=tuple(acks),
            tickets=tuple(tickets),
            revoked=tuple(revoked),
            directory=self._directory,
            hosts=self._hosts() if changed else None,
            stop=stop,
        )

    def _is_current(self, ticket: TicketNumber, attempt: int, session: str) -> bool:
        found = self.state.open.get(ticket)
        if found is None or found.attempt != attempt:
            return False
        return self.leases.holder(ticket) in (None, "", session)

    def _result(self, result: Result, now: float) -> Ack:
        """Count a result iff it is of the current attempt of an open ticket."""
        verdict = self._verdict(result.ticket, result.attempt)
        if verdict == Verdict.ACCEPTED:
            problem = self._problem(result)
            if problem:
                log.warning("ticket %d: %s", result.ticket, problem)
                self._retry(result.ticket, problem, now)
                verdict = Verdict.SUPERSEDED
            else:
                self.leases.end(result.ticket)
                self.emit(ResultCounted(ticket=result.ticket, attempt=result.attempt, episodes=result.episodes))
        return Ack(result.ticket, result.attempt, verdict)

    def _verdict(self, ticket: TicketNumber, attempt: int) -> Verdict:
        found = self.state.open.get(ticket)
        if found is not None:
            return Verdict.ACCEPTED if found.attempt == attempt else Verdict.SUPERSEDED
        return Verdict.DUPLICATE if 0 < ticket <= self.state.tickets else Verdict.UNKNOWN

    def _problem(self, result: Result) -> str:
        """Return what is wrong with a result that claims to be of this ticket."""
        ticket = self.state.open[result.ticket]
        if len(result.episodes) != ticket.episodes:
            return f"a result with {len(result.episodes)} episodes instead of {ticket.episodes}"
        seats = len(ticket.entries)
        if any(len(e.ranks) != seats or len(e.returns) != seats or e.length < 0 for e in result.episodes):
            return f"a result whose episodes do not tell of {seats} entries"
        if not all(math.isfinite(value) for e in result.episodes for value in e.returns):
            return "a result with a return that is no number"
        return ""

    def _fault(self, fault: Fault, now: float) -> Ack:
        verdict = self._verdict(fault.ticket, fault.attempt)
        if verdict == Verdict.ACCEPTED:
            self._retry(fault.ticket, fault.reason, now)
        return Ack(fault.ticket, fault.attempt, verdict)

    def _retry(self, number: TicketNumber, why: str, now: float) -> None:
        """Give a ticket another attempt, or void it and let its pairing rest."""
        ticket = self.state.open[number]
        if is_human(self.state, ticket):
            self._withdraw(number)
            return
        if ticket.attempt + 1 >= self.state.config.lease.attempts:
            self.leases.end(number)
            names = " v ".join(entry.player for entry in ticket.entries)
            log.error("ticket %d (%s) is void after %d attempts: %s", number, names, ticket.attempt + 1, why)
            self._void = why
            self.emit(TicketVoided(ticket=number, why=why))
            self.scheduler.back_off(ticket, now + BACK_OFF)
            return
        self.leases.enqueue(number)
        self.emit(TicketReissued(ticket=number, attempt=ticket.attempt + 1, why=why))

    def _tickets(self, report: Report, now: float) -> list[Ticket]:
        tickets = []
        for _ in range(min(report.want, 64)):
            ticket = self._again(report.starved) or self._new(report.starved, now)
            if ticket is None:
                break
            self._grant(ticket, report.session, now)
            tickets.append(ticket)
        return tickets

    def _grant(self, ticket: Ticket, session: str, now: float) -> None:
        patience = PATIENCE if is_human(self.state, ticket) else 0.0
        self.leases.grant(ticket.number, ticket.attempt, session, now + patience)

    def _challenge(self, challenge: Challenge, now: float) -> Orders | Refused:
        """Give a human the ticket of its game, or say why there is none."""
        try:
            events = take_up(self.state, challenge)
        except ChallengeError as error:
            return Refused(reason=str(error))
        for event in events:
            self.emit(event)
        ticket = self.state.open[TicketNumber(self.state.tickets)]
        self._grant(ticket, challenge.session, now)
        return Orders(term=self.state.term, request=challenge.request, tickets=(ticket,))

    def _withdraw(self, number: TicketNumber) -> None:
        self.leases.end(number)
        self.emit(TicketWithdrawn(ticket=number))

    def _again(self, starved: Sequence[PlayerId]) -> Ticket | None:
        for number in self.leases.waiting:
            ticket = self.state.open[number]
            if ticket.trains not in starved:
                return ticket
        return None

    def _new(self, starved: Sequence[PlayerId], now: float) -> Ticket | None:
        ticket = self.scheduler.next(now, starved)
        if ticket is not None:
            self.emit(TicketIssued(ticket=ticket))
        return ticket

    def _hosts(self) -> tuple[Host, ...]:
        return tuple(
            Host(player=p, incarnation=self.state.incarnations[p], address=at[0], more=at[1:], inference=its.inference)
            for learner in self.learners
            if learner in self._addresses
            for its in [self._addresses[learner]]
            for p in self._assigned(learner)
            if (at := its.doors.get(p, its.ranks))[0]
        )

    def _note_hosts(self) -> None:
        hosts = (f"{host.player} {host.incarnation} {host.addresses} {host.inference}" for host in self._hosts())
        self._directory = derive_seed("directory", *hosts)

    # --- learners --------------------------------------------------------------------------------------------

    def _assigned(self, learner: str) -> list[PlayerId]:
        """Share the learning players out among the learner processes, by their order."""
        if learner not in self.learners:
            return []
        mine, total = self.learners.index(learner), len(self.learners)
        return [p.id for i, p in enumerate(self.state.population.learning()) if i % total == mine]

    def _progress(self, progress: Progress, now: float) -> Roster:
        self._note(progress.name, Role.LEARNER, progress.session, progress.metrics, now)
        addresses = _Addresses((progress.address, *progress.more), progress.inference, progress.doors)
        if self._addresses.get(progress.name) != addresses:
            self._addresses[progress.name] = addresses
            self._note_hosts()
        if self.state.phase != OVER:  # the last candidates arrive when training is over already
            for candidate in progress.candidates:
                self._candidate(candidate)
        return Roster(
            term=self.state.term,
            request=progress.request,
            players=tuple(self._assignment(p) for p in self._assigned(progress.name)),
            spent=self.spent(),
            stop=self.stopping or self.state.phase == OVER,
        )

    def _assignment(self, player: PlayerId) -> Assignment:
        return Assignment(
            player=player,
            incarnation=self.state.incarnations[player],
            start=self.state.initial.get(player),
            train=self.state.phase == TRAINING,
        )

    def _candidate(self, candidate: Candidate) -> None:
        player = candidate.player
        if self.state.incarnations.get(player) != candidate.incarnation:
            return
        newest = self.state.candidate(player)
        if newest is not None and candidate.version <= newest.version:
            return
        self.emit(
            CandidateWritten(
                player=player,
                incarnation=candidate.incarnation,
                version=candidate.version,
                snapshot=candidate.snapshot,
                decisions=candidate.decisions,
            )
        )
        if self.state.phase == TRAINING:
            for event in promote(self.state, self.state.population[player]):
                self.emit(event)
            self._note_hosts()
        for event in prune(self.state, player):
            self.emit(event)

    # --- operators and viewers -------------------------------------------------------------------------------

    def _command(self, command: Command) -> Done:
        known = ("pause", "resume", "drain", "stop")
        if command.action not in known:
            error = f"unknown command {command.action!r}; there are {', '.join(known)}"
            return Done(term=self.state.term, request=command.request, error=error)
        self.emit(OperatorActed(action=command.action))
        self.stopping = self.stopping or command.action in ("drain", "stop")
        return Done(term=self.state.term, request=command.request)

    def workers(self, now: float) -> tuple[Worker, ...]:
        """Return every process that was heard of lately."""
        return tuple(
            Worker(name=name, role=seen.role, age=now - seen.at, metrics=seen.metrics)
            for name, seen in self._workers.items()
        )

    def take_metrics(self) -> list[tuple[str, dict[str, float]]]:
        """Return the metrics that arrived since the last call, by process."""
        fresh = [(name, seen.metrics) for name, seen in self._workers.items() if seen.fresh and seen.metrics]
        for seen in self._workers.values():
            seen.fresh = False
        return fresh

    def _note(self, name: str, role: Role, session: str, metrics: dict[str, float], now: float) -> None:
        seen = self._workers.get(name)
        if seen is None or seen.session != session:
            if seen is not None and role == Role.COLLECTOR:
                self._abandon(seen.session, now)
            self._workers[name] = _Seen(role, session, now, metrics, bool(metrics))
            return
        seen.at = now
        if metrics:
            seen.metrics, seen.fresh = metrics, True

    def _abandon(self, session: str, now: float) -> None:
        """Let others play what a collector held that has come back as a new process."""
        for ticket in self.leases.held_by(session):
            self._retry(ticket, "its collector ended, and was started again: the log of the collector says why", now)

    # --- time ------------------------------------------------------------------------------------------------

    def tick(self, now: float, elapsed: float = 0.0) -> None:
        """Let leases expire and phases end. `elapsed` is the time of play, all terms together."""
        self.elapsed = elapsed
        for number in self.leases.expired(now):
            why = f"no progress for {self.leases.seconds:g} s (league.lease.seconds)"
            self._retry(number, f"{why}: its collector is gone, or its environment hangs or is slow", now)
        for name in [n for n, seen in self._workers.items() if now - seen.at > SILENT]:
            del self._workers[name]
        if self.state.phase == TRAINING:
            why = self.budget_spent(elapsed) or self._hopeless()
            if why:
                self._finish(why)
        if self.state.phase == FINAL and (final_is_done(self.state, self.scheduler) or self._hopeless()):
            for number, ticket in list(self.state.open.items()):
                if is_human(self.state, ticket):
                    self._withdraw(number)
            self.emit(PhaseBegan(phase=OVER, why=self.state.why))

    def budget_spent(self, elapsed: float) -> str:
        """Return why training must end, or nothing."""
        budget = self.state.config.budget
        if budget.minutes is not None and elapsed >= budget.minutes * 60:
            return f"the budget of {budget.minutes:g} minutes is spent"
        if budget.env_steps is not None and self.state.env_steps >= budget.env_steps:
            return f"the budget of {budget.env_steps:,} env steps is spent"
        return ""

    def spent(self) -> float:
        """Return the share of the budget that is spent, by the limit that will be reached first; 0 without a budget."""
        budget = self.state.config.budget
        shares = [
            0.0 if budget.minutes is None else self.elapsed / (budget.minutes * 60),
            0.0 if budget.env_steps is None else self.state.env_steps / budget.env_steps,
        ]
        return min(1.0, max(shares))

    def _hopeless(self) -> str:
        if self.state.voids_in_a_row < self.state.config.lease.give_up:
            return ""
        return f"{self.state.voids_in_a_row} tickets in a row were void, the last one because of: {self._void}"

    def _finish(self, why: str) -> None:
        """Withdraw what is open and begin the final evaluation."""
        for number, ticket in list(self.state.open.items()):
            if ticket.purpose == Purpose.TRAIN:
                self._withdraw(number)
        self.emit(PhaseBegan(phase=OVER if self._hopeless() else FINAL, why=why))

    def reopen(self) -> None:
        """Go back to training: the league was resumed with budget left."""
        self.emit(PhaseBegan(phase=TRAINING, why="resumed"))
