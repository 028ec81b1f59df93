"""The coordinator: dispatches every message to its handler. No socket, no file, no clock of its own.

coordinator = Coordinator(state, learners=["learner-0"])
reply = coordinator.handle(role, message, now)      # may emit events, which are applied at once
coordinator.tick(now)                               # expire leases, end phases
batch = coordinator.take()                          # the events to commit before any reply is sent

Each kind of message has a module of its own; this one checks who may send it.
"""

from collections.abc import Collection, Sequence

from coordinator.candidates import Inspect
from coordinator.challenges import Challenges
from coordinator.collector_reports import CollectorReports
from coordinator.directory import Directory
from coordinator.learner_reports import LearnerReports
from coordinator.once_log import OnceLog
from coordinator.open_tickets import OpenTickets
from coordinator.phases import Phases
from coordinator.running_league import RunningLeague
from coordinator.workers import HUMAN, Holdings, Workers
from league.events import Event, OperatorActed
from league.limits import PLAYED
from league.state import OVER, LeagueState
from league.wire.messages import (
    Challenge,
    Command,
    Done,
    FetchFold,
    Follow,
    Message,
    Note,
    Progress,
    Refused,
    Report,
    Role,
    Worker,
)

COMMANDS = ("pause", "unpause", "drain", "stop")
MAY_SEND: dict[type, Role] = {
    Report: Role.COLLECTOR,
    Challenge: Role.COLLECTOR,
    Progress: Role.LEARNER,
    Command: Role.OPERATOR,
}


class Coordinator:
    """Reads the state and emits events. Everything but the state is memory that a restart may lose.

    `admitted` lists the names of the processes that the launcher starts (None: any name is accepted); `inspect` checks
    the file of a candidate (None: there is no store); `allow` names packages whose rules the config may name.
    """

    def __init__(
        self,
        state: LeagueState,
        learners: Sequence[str],
        now: float = 0.0,
        admitted: Collection[str] | None = None,
        inspect: Inspect | None = None,
        allow: Collection[str] = (),
    ) -> None:
        self.state, self.league = state, RunningLeague(state, allow)
        self.scheduler = self.league.scheduler
        self.stopping = False  # whether all processes should stop, in any phase
        self.elapsed = 0.0  # seconds of play in all terms, as of the last `tick`
        self.processes = Workers(admitted)
        self._log = OnceLog()
        self._tickets = OpenTickets(self.league, now)
        self.leases = self._tickets.leases
        self._directory = Directory(state, learners)
        self.learners = self._directory.learners
        self._collectors = CollectorReports(self.league, self._tickets, self._directory, self.processes)
        self._learners = LearnerReports(self.league, self._directory, self._log, inspect)
        self._challenges = Challenges(self.league, self._tickets, now)
        self.phases = Phases(self.league, self._tickets, self._directory, self.processes, self._learners.last)

    @property
    def inspect(self) -> Inspect | None:
        """The check of a candidate's file."""
        return self._learners.inspect

    @inspect.setter
    def inspect(self, inspect: Inspect | None) -> None:
        self._learners.inspect = inspect

    def emit(self, event: Event) -> None:
        """Apply an event at once; the next `take` returns it for the commit."""
        self.league.emit(event)

    @property
    def unsaved(self) -> bool:
        """Whether there are events that `take` has not returned yet."""
        return self.league.unsaved

    def take(self) -> list[Event]:
        """Return the events since the last call, to be committed."""
        return self.league.take()

    def handle(self, role: Role | None, message: Message, now: float, name: str | None = None) -> Message | None:
        """Return the answer to a message; a refusal if the sender's role is wrong or no handler takes the message.

        `role` and `name` are those of the sender's key; None if the transport itself is private.
        """
        may = MAY_SEND.get(type(message))
        if may is not None and role not in (None, may):
            return Refused(reason=f"a {role} key may not send {type(message).__name__}")
        stop = self.stopping or self.state.phase == OVER
        match message:
            case Report():
                refused = self._refusal(Role.COLLECTOR, message, name, now)
                return refused or self._collectors.answer(message, now, stop)
            case Challenge() if name not in (None, HUMAN):
                return Refused(reason=f"the key of {name!r} is not that of a human")
            case Challenge():
                return self._challenges.answer(message, now)
            case Progress():
                refused = self._refusal(Role.LEARNER, message, name, now)
                return refused or self._learners.answer(message, now, self.spent(), stop)
            case Command():
                return self._command(message)
            case Follow() | Note() | FetchFold():
                return Refused(
                    reason="viewers and trackers are served by the replica; replica.json says where it listens"
                )
            case _:
                return Refused(reason=f"the coordinator does not take {type(message).__name__}")

    def _refusal(self, role: Role, message: Report | Progress, name: str | None, now: float) -> Refused | None:
        """Record the report of a process; return a refusal if its name is not admitted."""
        why = self.processes.report(role, message.session, message.name, name, message.metrics, now, message.host)
        if not why:
            return None
        self._log.warn(message.name if name is None else name, why)
        return Refused(reason=why)

    def _command(self, command: Command) -> Done:
        """Carry out an operator's command. To stop a paused league ends the pause: `ludus resume` lets it play."""
        error = ""
        if command.action in COMMANDS:
            stops = command.action in ("drain", "stop")
            if stops and self.state.paused:
                self.emit(OperatorActed(action="unpause"))
            self.emit(OperatorActed(action=command.action))
            self.stopping = self.stopping or stops
        else:
            error = f"unknown command {command.action!r}; there are {', '.join(COMMANDS)}"
        return Done(term=self.state.term, request=command.request, error=error)

    def tick(self, now: float, elapsed: float = 0.0) -> None:
        """Expire leases and end phases. `elapsed` is the time of play in all terms."""
        self.elapsed = elapsed
        why = f"no progress for {self.leases.seconds:g} s (league.lease.seconds)"
        why += ": its collector is gone, or its environment hangs or is slow"
        self._tickets.lose(self.leases.expired(now), why, now)
        for holder in self.processes.replaced(now):
            why = "its collector ended, and was started again: the log of the collector says why"
            self._tickets.lose(self.leases.held_by(holder), why, now)
        self.processes.forget(now)
        self.phases.tick(now, elapsed)

    def workers(self, now: float) -> tuple[Worker, ...]:
        """Return every process that reported recently."""
        holdings = Holdings(self.leases.count_by_name(), self.leases.oldest_by_name(PLAYED))
        return tuple(self.processes.listed(now, holdings))

    def take_metrics(self) -> list[tuple[str, dict[str, float]]]:
        """Return the metrics since the last call, by process."""
        return self.processes.take_metrics()

    def budget_spent(self, elapsed: float) -> str:
        """Return why training must end, "" if it need not."""
        return self.state.config.budget.spent(elapsed, self.state.env_steps)

    def spent(self) -> float:
        """Return the spent share of the budget: the largest of its limits; 0 without a budget."""
        return self.phases.spent(self.elapsed)

    def reopen(self) -> None:
        """Return to training, after the league was resumed with budget left."""
        self.phases.reopen()
