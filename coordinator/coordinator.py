"""The coordinator: decides what every message means. No socket, no file, no clock of its own.

coordinator = Coordinator(state, learners=["learner-0"])
reply = coordinator.handle(role, message, now)      # may emit events, which are applied at once
coordinator.tick(now)                               # leases that expire, phases that end
batch = coordinator.take()                          # the events to commit before any reply is sent
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from coordinator.audience import Bucket
from coordinator.candidates import Inspect, is_news, problem
from coordinator.challenging import PATIENCE, ChallengeError, is_human, take_up
from coordinator.conduct import Conduct
from coordinator.finishing import LastCandidates
from coordinator.leases import Leases
from coordinator.promoting import promote, prune
from coordinator.scheduler import Scheduler, final_is_done
from coordinator.workers import HUMAN, Workers, holder_of, is_guest, name_of
from league import checking
from league.events import (
    CandidateWritten,
    CollectorQuarantined,
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
from league.limits import HELD
from league.state import FINAL, OVER, TRAINING, LeagueState, apply
from league.ticket import Fault, Purpose, Result, Ticket
from league.wire.messages import (
    Ack,
    Assignment,
    Candidate,
    Challenge,
    Command,
    Done,
    FetchFold,
    Follow,
    Host,
    Message,
    Note,
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

CHALLENGES = 5  # of all humans together, in a second: each is written to the ledger
AT_ONCE = 64  # tickets in one answer
UNPROVEN = 64  # tickets that a session may hold before its first result
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


class Coordinator:
    """Reads the state, emits events. Everything beside the state is memory that a restart may lose.

    `roster` has the names of the processes that the launcher starts (None: any name will do), `inspect` looks at the
    file of a candidate (None: there is no store to look into).
    """

    def __init__(
        self,
        state: LeagueState,
        learners: Sequence[str],
        now: float = 0.0,
        roster: Collection[str] | None = None,
        inspect: Inspect | None = None,
    ) -> None:
        self.state = state
        self.scheduler = Scheduler(state)
        self.leases = Leases(state.config.lease.seconds)
        self.stopping = False  # tell everybody to stop, whatever the phase
        self.elapsed = 0.0  # seconds of play, all terms together, as `tick` was told last
        self.learners = list(learners)
        self.known = Workers(roster)
        self.inspect = inspect
        self._conduct = Conduct(state.config.lease.quarantine, state.config.lease.seconds)
        self._told: dict[str, str] = {}  # what was logged last of a name or player: a peer may repeat it for ever
        self._challenges = Bucket(CHALLENGES, now)
        self._refused: dict[PlayerId, Candidate] = {}  # whose file was looked at last, and was wrong
        self._absent: set[PlayerId] = set()  # whose candidate was reported before its file could be seen
        self._last = LastCandidates()
        self._addresses: dict[str, _Addresses] = {}  # by the learner's name
        self._directory = 0  # a fingerprint of the hosts: the same in all terms, so nobody keeps an old one
        self._pending: list[Event] = []
        self._void = "see the log of the coordinator"  # why a ticket was void last
        self._final_since: float | None = None  # the time of play when this term saw the final evaluation begin
        self.scheduler.waiting = state.phase == FINAL
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

    def handle(self, role: Role | None, message: Message, now: float, name: str | None = None) -> Message | None:
        """Return the answer to a message. A wrong role, or a message that is not for us, gets a refusal.

        `role` and `name` are those of the sender's key; None where the wire itself is private.
        """
        may = MAY_SAY.get(type(message))
        if may is not None and role not in (None, may):
            return Refused(reason=f"a {role} key may not send {type(message).__name__}")
        match message:
            case Report():
                return self._refusal(Role.COLLECTOR, message, name, now) or self._report(message, now)
            case Challenge() if name not in (None, HUMAN):
                return Refused(reason=f"the key of {name!r} is not that of a human")
            case Challenge():
                return self._challenge(message, now)
            case Progress():
                return self._refusal(Role.LEARNER, message, name, now) or self._progress(message, now)
            case Command():
                return self._command(message)
            case Follow() | Note() | FetchFold():
                return Refused(
                    reason="viewers and trackers are served by the replica; replica.json says where it listens"
                )
            case _:
                return Refused(reason=f"the coordinator does not take {type(message).__name__}")

    def _refusal(self, role: Role, message: Report | Progress, name: str | None, now: float) -> Refused | None:
        """Note who speaks; return a refusal if nobody of that name is expected."""
        why = self.known.hear(role, message.session, message.name, name, message.metrics, now)
        if not why:
            return None
        self._log_once(message.name if name is None else name, why)
        return Refused(reason=why)

    # --- collectors ------------------------------------------------------------------------------------------

    def _report(self, report: Report, now: float) -> Orders:
        holder = holder_of(report.name, report.session)
        acks = [self._result(result, holder, now) for result in report.results]
        acks += [self._fault(fault, holder, now) for fault in report.faults]
        revoked = []
        for held in report.held:
            if self._verdict(held.ticket, held.attempt, holder) == Verdict.ACCEPTED:
                self.leases.renew(held.ticket, held.attempt, holder, held.steps, now)
            else:
                revoked.append((held.ticket, held.attempt))
        stop = self.stopping or self.state.phase == OVER
        tickets = [] if stop or self.state.paused else self._tickets(report, holder, now)
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

    def _result(self, result: Result, holder: str, now: float) -> Ack:
        """Count a result iff it is of the current attempt of an open ticket, and from the session that holds it."""
        verdict = self._verdict(result.ticket, result.attempt, holder)
        if verdict == Verdict.ACCEPTED:
            wrong = checking.problem(self.state.open[result.ticket], result.episodes, self.state.env)
            if wrong:
                log.warning("ticket %d: %s", result.ticket, wrong)
                self._failed(result.ticket, holder, wrong, now)
                verdict = Verdict.SUPERSEDED
            else:
                self.leases.end(result.ticket)
                self._conduct.succeeded(name_of(holder), now)
                self.known.prove(holder)
                self.emit(ResultCounted(ticket=result.ticket, attempt=result.attempt, episodes=result.episodes))
        return Ack(result.ticket, result.attempt, verdict)

    def _verdict(self, ticket: TicketNumber, attempt: int, holder: str) -> Verdict:
        """Return what becomes of what a session says of a ticket: it counts if the session holds it.

        After a restart nobody is known to hold it: then it is the first one that says so.
        """
        found = self.state.open.get(ticket)
        if found is not None:
            held = self.leases.holder(ticket)
            mine = found.attempt == attempt and (held == holder or (held == "" and self._may_claim(found, holder)))
            return Verdict.ACCEPTED if mine else Verdict.SUPERSEDED
        return Verdict.DUPLICATE if 0 < ticket <= self.state.tickets else Verdict.UNKNOWN

    def _may_claim(self, ticket: Ticket, holder: str) -> bool:
        """Whether a session can be the one that got a ticket before this coordinator started."""
        if name_of(holder) in self.state.quarantined:
            return False
        return is_guest(holder) == is_human(self.state, ticket)

    def _fault(self, fault: Fault, holder: str, now: float) -> Ack:
        verdict = self._verdict(fault.ticket, fault.attempt, holder)
        if verdict == Verdict.ACCEPTED:
            self._failed(fault.ticket, holder, fault.reason, now)
        return Ack(fault.ticket, fault.attempt, verdict)

    def _failed(self, number: TicketNumber, holder: str, why: str, now: float) -> None:
        """Let others try what a session could not play; a session that can play nothing is quarantined."""
        name = name_of(holder)
        self._retry(number, why, now)
        if is_guest(name):
            return
        self._conduct.faulted(name, why, now)
        self._quarantine(name, now)

    def _quarantine(self, name: str, now: float) -> None:
        """Give a collector no more tickets if it fails everything while others succeed; others play what it holds."""
        why = self._conduct.at_fault(name)
        if why and name not in self.state.quarantined:
            log.error("%s is quarantined: it fails everything while others succeed; the last time: %s", name, why)
            self.emit(CollectorQuarantined(name=name, why=why))
            for ticket in self.leases.held_by_name(name):
                self._retry(ticket, "its collector was quarantined", now)

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

    def _tickets(self, report: Report, holder: str, now: float) -> list[Ticket]:
        self._quarantine(report.name, now)
        if report.name in self.state.quarantined or is_guest(report.name):
            return []
        if self._conduct.rests(report.name, self.known.collectors, now):
            return []
        tickets = []
        most = HELD if self.known.is_proven(report.name, report.session) else UNPROVEN
        for _ in range(min(report.want, AT_ONCE, max(0, most - self.leases.count(holder)))):
            ticket = self._again(report.starved) or self._new(report.starved, now)
            if ticket is None:
                break
            self._grant(ticket, holder, now)
            tickets.append(ticket)
        return tickets

    def _grant(self, ticket: Ticket, holder: str, now: float) -> None:
        patience = PATIENCE if is_human(self.state, ticket) else 0.0
        self.leases.grant(ticket.number, ticket.attempt, holder, now + patience)

    def _challenge(self, challenge: Challenge, now: float) -> Orders | Refused:
        """Give a human the ticket of its game, or say why there is none."""
        if not self._challenges.ready(now):
            return Refused(reason=f"more than {CHALLENGES} challenges a second: try again in a moment")
        self._challenges.pay(1, now)
        try:
            events = take_up(self.state, challenge)
        except ChallengeError as error:
            return Refused(reason=str(error))
        for event in events:
            self.emit(event)
            if isinstance(event, TicketWithdrawn):
                self.leases.end(event.ticket)
        ticket = self.state.open[TicketNumber(self.state.tickets)]
        self._grant(ticket, holder_of(f"{HUMAN}-{challenge.name}", challenge.session), now)
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
        addresses = _Addresses((progress.address, *progress.more), progress.inference, progress.doors)
        if self._addresses.get(progress.name) != addresses:
            self._addresses[progress.name] = addresses
            self._note_hosts()
        if self.state.phase != OVER:  # the last candidates arrive when training is over already
            for candidate in progress.candidates:
                if self._may_count(candidate, progress.name):
                    self._candidate(candidate)
        finished = set(progress.finished) if self.state.phase == FINAL else set()
        self._last.hear(progress.name, finished - self._absent, now)
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

    def _may_count(self, candidate: Candidate, learner: str) -> bool:
        """Whether a candidate is new and right. One whose file is not there yet will be reported again."""
        self._absent.discard(candidate.player)
        if not is_news(self.state, candidate) or self._refused.get(candidate.player) == candidate:
            return False
        wrong = problem(self.state, candidate, self._assigned(learner))
        if not wrong and self.inspect is not None:
            looked = self.inspect(candidate)
            if looked is None:
                self._absent.add(candidate.player)
                self._log_once(candidate.player, f"the file of its candidate {candidate.snapshot} is not there yet")
                return False
            if looked:
                self._refused[candidate.player] = candidate
            wrong = looked
        if wrong:
            self._log_once(candidate.player, f"the candidate {candidate.snapshot} of {learner} is refused: {wrong}")
        return not wrong

    def _candidate(self, candidate: Candidate) -> None:
        player = candidate.player
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
        return tuple(self.known.told(now))

    def take_metrics(self) -> list[tuple[str, dict[str, float]]]:
        """Return what was measured since the last call, by process."""
        return self.known.take_metrics()

    def _log_once(self, about: str, line: str) -> None:
        """Log what a peer may make us repeat: each line once, and the names of a bounded number of them."""
        if self._told.get(about) != line and (about in self._told or len(self._told) < HELD):
            self._told[about] = line
            log.warning("%s: %s", about, line)

    # --- time ------------------------------------------------------------------------------------------------

    def tick(self, now: float, elapsed: float = 0.0) -> None:
        """Let leases expire and phases end. `elapsed` is the time of play, all terms together."""
        self.elapsed = elapsed
        why = f"no progress for {self.leases.seconds:g} s (league.lease.seconds)"
        self._lose(self.leases.expired(now), f"{why}: its collector is gone, or its environment hangs or is slow", now)
        for holder in self.known.over(now):
            why = "its collector ended, and was started again: the log of the collector says why"
            self._lose(self.leases.held_by(holder), why, now)
        self.known.forget(now)
        if self.state.phase == TRAINING:
            why = self.budget_spent(elapsed) or self._hopeless(now)
            if why:
                self._finish(why, now)
        self._await_last(now)
        self._time_final(elapsed)
        if self.state.phase == FINAL and (final_is_done(self.state, self.scheduler) or self._hopeless(now)):
            for number, ticket in list(self.state.open.items()):
                if is_human(self.state, ticket):
                    self._withdraw(number)
            self.emit(PhaseBegan(phase=OVER, why=self.state.why))

    def _await_last(self, now: float) -> None:
        """Let the final evaluation begin when the last candidates are there that it is about."""
        if self.state.phase != FINAL:
            self._last.forget()
            self.scheduler.waiting = False
            return
        assigned = {learner: self._assigned(learner) for learner in self.learners}
        self.scheduler.waiting = bool(self._last.awaited(assigned, now))

    def _time_final(self, elapsed: float) -> None:
        """Hand out no more games of a final evaluation that takes longer than it may; a new term counts from 0."""
        if self.state.phase != FINAL or self.scheduler.waiting:
            self._final_since, self.scheduler.closing = None, False
            return
        self._final_since = elapsed if self._final_since is None else self._final_since
        allowed = self.state.config.final_seconds()
        lasted = elapsed - self._final_since
        self.scheduler.closing = allowed is not None and lasted >= allowed
        if allowed is not None and lasted >= allowed + self.leases.seconds:
            for number in [n for n, ticket in self.state.open.items() if not is_human(self.state, ticket)]:
                self._withdraw(number)  # whoever holds it makes progress, but nobody knows for how long

    def _lose(self, numbers: Sequence[TicketNumber], why: str, now: float) -> None:
        """Let others play what collectors were given and did not finish: one fault of each session, however many."""
        holders = {self.leases.holder(number) or "" for number in numbers}
        for number in numbers:
            self._retry(number, why, now)
        for name in map(name_of, sorted(holders)):
            if name and not is_guest(name):
                self._conduct.faulted(name, why, now)
                self._quarantine(name, now)

    def budget_spent(self, elapsed: float) -> str:
        """Return why training must end, or nothing."""
        return self.state.config.budget.spent(elapsed, self.state.env_steps)

    def spent(self) -> float:
        """Return the share of the budget that is spent, by the limit that will be reached first; 0 without a budget."""
        budget = self.state.config.budget
        shares = [
            0.0 if budget.minutes is None else self.elapsed / (budget.minutes * 60),
            0.0 if budget.env_steps is None else self.state.env_steps / budget.env_steps,
        ]
        return min(1.0, max(shares))

    def _hopeless(self, now: float) -> str:
        """Return why the league cannot go on, or nothing: as long as one collector may succeed, it can."""
        if self.state.voids_in_a_row < self.state.config.lease.give_up:
            return ""
        if not self._conduct.nobody_succeeds(self.known.collectors(), now):
            return ""
        return f"{self.state.voids_in_a_row} tickets in a row were void, the last one because of: {self._void}"

    def _finish(self, why: str, now: float) -> None:
        """Withdraw what is open and begin the final evaluation."""
        for number, ticket in list(self.state.open.items()):
            if ticket.purpose == Purpose.TRAIN:
                self._withdraw(number)
        self.emit(PhaseBegan(phase=OVER if self._hopeless(now) else FINAL, why=why))

    def reopen(self) -> None:
        """Go back to training: the league was resumed with budget left."""
        self.emit(PhaseBegan(phase=TRAINING, why="resumed"))
