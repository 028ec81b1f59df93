"""Workers: the processes that reported recently, and their sessions. In memory only; time is an argument.

A session is one start of a process. Two sessions of one name may report at the same time: a process may be restarted
before the old one has ended, or somebody may use a stolen key. So a later session takes nothing from an earlier one
that still reports.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from league.ids import TicketNumber
from league.metrics import RATES, SECONDS
from league.wire.messages import Role, Worker

SILENT = 60.0  # seconds without a report after which a process is forgotten
REPLACED = 2.0  # seconds without a report after which a session with a successor has ended
SESSIONS = 8  # of one name at the same time, at most
HUMAN = "human"  # the name of the key of `ludus play`, and the prefix of the names of its processes


def holder_of(name: str, session: str) -> str:
    """Return the holder's name for leases: process and session, so that no other session can take them over."""
    return f"{name} {session}"


def name_of(holder: str) -> str:
    """Return the process name of a holder."""
    return holder.partition(" ")[0]


def is_guest(name: str) -> bool:
    """Return whether this is the name of a human's process, which the launcher did not start."""
    return name.startswith(f"{HUMAN}-")


@dataclass(slots=True)
class _Process:
    role: Role
    at: float
    sessions: dict[str, float] = field(default_factory=dict)  # last report of each; the newest session is last
    proven: set[str] = field(default_factory=set)  # sessions with a counted result
    ended: deque[str] = field(default_factory=lambda: deque(maxlen=SESSIONS))  # sessions that were replaced
    metrics: dict[str, float] = field(default_factory=dict)
    fresh: bool = False  # metrics not yet written to the ledger
    host: str = ""


@dataclass(frozen=True, slots=True)
class Holdings:
    """How many tickets each process holds, and which it has held longest."""

    counts: Mapping[str, int]
    oldest: Mapping[str, Sequence[TicketNumber]]


NOTHING_HELD = Holdings({}, {})


class Workers:
    """The processes of a league that report to the coordinator.

    `admitted` lists the names that the launcher assigned; None admits any name. If a key proves the sender's name, that
    is checked instead.
    """

    def __init__(self, admitted: Collection[str] | None = None) -> None:
        self.admitted = admitted
        self._processes: dict[str, _Process] = {}
        self._crowded: set[str] = set()  # names with more than one session
        self._begun: dict[str, tuple[int, str]] = {}  # sessions that each name began, also a forgotten one; the newest

    def report(
        self,
        role: Role,
        session: str,
        name: str,
        proven: str | None,
        metrics: dict[str, float],
        now: float,
        host: str = "",
    ) -> str:
        """Record the report of a process; return why the process is refused, "" if it is not."""
        process = self._processes.get(name)
        admitted = process is not None and session in process.sessions and proven in (None, name)
        if not admitted and (why := self.refusal(name, session, proven)):
            return why
        self.note(name, role, session, metrics, now, host)
        return ""

    def refusal(self, name: str, session: str, proven: str | None) -> str:
        """Return why a process of this name is refused, "" if it is not."""
        if proven is not None:
            if name != proven and not (proven == HUMAN and is_guest(name)):
                return f"the key of {proven!r} does not speak for {name!r}"
        elif self.admitted is not None and name not in self.admitted and not is_guest(name):
            return f"no process of this league is called {name!r}"
        process = self._processes.get(name)
        if process is not None and session not in process.sessions and len(process.sessions) >= SESSIONS:
            return f"{len(process.sessions)} processes call themselves {name!r} already"
        return ""

    def note(self, name: str, role: Role, session: str, metrics: dict[str, float], now: float, host: str = "") -> None:
        """Record the report of a process. Humans are not recorded: there may be any number of them."""
        process = self._processes.get(name)
        if process is None:
            if is_guest(name):
                return
            process = self._processes[name] = _Process(role, now)
        if session not in process.sessions:
            if session in process.ended:  # it reports again, or this message is late: it is not a successor
                process.sessions = {session: now, **process.sessions}
            else:
                process.sessions[session] = now
                self._begin(name, session)
                process.host = host
            if len(process.sessions) > 1:
                self._crowded.add(name)
        process.at = process.sessions[session] = now
        if metrics:
            process.metrics, process.fresh = (averaged(process.metrics, metrics) if process.fresh else metrics), True

    def _begin(self, name: str, session: str) -> None:
        """Count the start of a process; one that was silent for long and speaks again has not started again."""
        starts, newest = self._begun.get(name, (0, ""))
        self._begun[name] = starts + (session != newest), session

    def prove(self, holder: str) -> None:
        """Record that a result of a session was counted."""
        name, _, session = holder.partition(" ")
        process = self._processes.get(name)
        if process is not None and session in process.sessions:
            process.proven.add(session)

    def is_proven(self, name: str, session: str) -> bool:
        """Return whether a result of this session was counted."""
        return name in self._processes and session in self._processes[name].proven

    def replaced(self, now: float) -> list[str]:
        """Return the holders that stopped reporting and have a successor; forget their sessions."""
        found = []
        for name in list(self._crowded):
            sessions = self._processes[name].sessions
            for session in list(sessions)[:-1]:
                if now - sessions[session] > REPLACED:
                    del sessions[session]
                    self._processes[name].proven.discard(session)
                    self._processes[name].ended.append(session)
                    found.append(holder_of(name, session))
            if len(sessions) == 1:
                self._crowded.discard(name)
        return found

    def forget(self, now: float) -> None:
        """Forget the processes that have not reported for SILENT seconds."""
        for name in [name for name, process in self._processes.items() if now - process.at > SILENT]:
            del self._processes[name]
            self._crowded.discard(name)

    def collectors(self) -> set[str]:
        """Return the names of the collectors."""
        return {name for name, process in self._processes.items() if process.role == Role.COLLECTOR}

    def listed(self, now: float, holdings: Holdings = NOTHING_HELD) -> Iterator[Worker]:
        """Yield every process that reported recently."""
        for name, process in self._processes.items():
            yield Worker(
                name=name,
                role=process.role,
                age=max(0.0, now - process.at),
                metrics=process.metrics,
                host=process.host,
                restarts=self._begun[name][0] - 1,
                held=holdings.counts.get(name, 0),
                plays=tuple(holdings.oldest.get(name, ())),
            )

    def behind(self, now: float, patience: float) -> bool:
        """Return whether a collector that reported in the last `patience` seconds has no new metrics."""
        return any(
            process.role == Role.COLLECTOR and process.metrics and not process.fresh and now - process.at < patience
            for process in self._processes.values()
        )

    def take_metrics(self) -> list[tuple[str, dict[str, float]]]:
        """Return the metrics since the last call, by process: the newest value of each, but the mean of a rate."""
        fresh = [(name, process.metrics) for name, process in self._processes.items() if process.fresh]
        for process in self._processes.values():
            process.fresh = False
        return fresh


def averaged(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return the later metrics, but rates as means over the time of both reports.

    >>> averaged({"wait_share": 0.2, "seconds": 3.0}, {"wait_share": 1.0, "seconds": 1.0, "version": 7.0})
    {'wait_share': 0.4, 'seconds': 4.0, 'version': 7.0}
    """
    spans = [(report, max(0.0, report.get(SECONDS, 0.0))) for report in (before, after)]
    means = {}
    for name in RATES:
        measured = [(report[name], span) for report, span in spans if name in report]
        seconds = sum(span for _, span in measured)
        if seconds > 0:
            means[name] = sum(value * span / seconds for value, span in measured)
    total = sum(span for _, span in spans)
    return {**after, **means, **({SECONDS: total} if total > 0 else {})}
