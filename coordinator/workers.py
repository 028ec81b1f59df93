"""Workers: the processes that reported lately, and their sessions. In memory only; time is an argument.

A session is one start of a process. Two sessions of one name may report at the same time: a process that was started
again while the old one is not gone yet, or somebody with a stolen key. So a later session takes nothing from an
earlier one that still reports.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from league.metrics import RATES, SECONDS
from league.wire.messages import Role, Worker

SILENT = 60.0  # seconds after which a process that does not report is forgotten
REPLACED = 2.0  # seconds of silence after which a session that has a successor is over
SESSIONS = 8  # of one name that may report at the same time
HUMAN = "human"  # the key of `ludus play`, and what the names of its processes begin with


def holder_of(name: str, session: str) -> str:
    """Return what leases call a session: nobody can take it over under another name."""
    return f"{name} {session}"


def name_of(holder: str) -> str:
    """Return the name of the process behind a lease."""
    return holder.partition(" ")[0]


def is_guest(name: str) -> bool:
    """Whether this is a human at a terminal, and no process of the launcher's."""
    return name.startswith(f"{HUMAN}-")


@dataclass(slots=True)
class _Process:
    role: Role
    at: float
    sessions: dict[str, float] = field(default_factory=dict)  # when each reported last, the latest to start at the end
    proven: set[str] = field(default_factory=set)  # sessions that had a result
    ended: deque[str] = field(default_factory=lambda: deque(maxlen=SESSIONS))  # that had a successor
    metrics: dict[str, float] = field(default_factory=dict)
    fresh: bool = False  # metrics not yet written to the ledger


class Workers:
    """Everybody who works on the league.

    `roster` has the names that the launcher gave out; None admits all of them. Where a key proves a name, that counts
    instead.
    """

    def __init__(self, roster: Collection[str] | None = None) -> None:
        self.roster = roster
        self._seen: dict[str, _Process] = {}
        self._crowded: set[str] = set()  # names of more than one session

    def report(
        self, role: Role, session: str, name: str, proven: str | None, metrics: dict[str, float], now: float
    ) -> str:
        """Note that a process reported; return why it is refused, or nothing."""
        seen = self._seen.get(name)
        admitted = seen is not None and session in seen.sessions and proven in (None, name)
        if not admitted and (why := self.refusal(name, session, proven)):
            return why
        self.note(name, role, session, metrics, now)
        return ""

    def refusal(self, name: str, session: str, proven: str | None) -> str:
        """Return why a process of this name is refused, or nothing."""
        if proven is not None:
            if name != proven and not (proven == HUMAN and is_guest(name)):
                return f"the key of {proven!r} does not speak for {name!r}"
        elif self.roster is not None and name not in self.roster and not is_guest(name):
            return f"no process of this league is called {name!r}"
        seen = self._seen.get(name)
        if seen is not None and session not in seen.sessions and len(seen.sessions) >= SESSIONS:
            return f"{len(seen.sessions)} processes call themselves {name!r} already"
        return ""

    def note(self, name: str, role: Role, session: str, metrics: dict[str, float], now: float) -> None:
        """Remember that a process reported. Humans are not remembered: there may be any number of them."""
        seen = self._seen.get(name)
        if seen is None:
            if is_guest(name):
                return
            seen = self._seen[name] = _Process(role, now)
        if session not in seen.sessions:
            if session in seen.ended:  # it is back, or its message is late: it is no successor
                seen.sessions = {session: now, **seen.sessions}
            else:
                seen.sessions[session] = now
            if len(seen.sessions) > 1:
                self._crowded.add(name)
        seen.at = seen.sessions[session] = now
        if metrics:
            seen.metrics, seen.fresh = (averaged(seen.metrics, metrics) if seen.fresh else metrics), True

    def prove(self, holder: str) -> None:
        """Note that a session had a result."""
        name, _, session = holder.partition(" ")
        seen = self._seen.get(name)
        if seen is not None and session in seen.sessions:
            seen.proven.add(session)

    def is_proven(self, name: str, session: str) -> bool:
        """Whether a session had a result."""
        return name in self._seen and session in self._seen[name].proven

    def replaced(self, now: float) -> list[str]:
        """Return the holders that have fallen silent and have a successor, and forget them."""
        found = []
        for name in list(self._crowded):
            sessions = self._seen[name].sessions
            for session in list(sessions)[:-1]:
                if now - sessions[session] > REPLACED:
                    del sessions[session]
                    self._seen[name].proven.discard(session)
                    self._seen[name].ended.append(session)
                    found.append(holder_of(name, session))
            if len(sessions) == 1:
                self._crowded.discard(name)
        return found

    def forget(self, now: float) -> None:
        """Forget who has been silent for long."""
        for name in [name for name, seen in self._seen.items() if now - seen.at > SILENT]:
            del self._seen[name]
            self._crowded.discard(name)

    def collectors(self) -> set[str]:
        """Return the names of the collectors."""
        return {name for name, seen in self._seen.items() if seen.role == Role.COLLECTOR}

    def listed(self, now: float) -> Iterator[Worker]:
        """Yield every process that reported lately."""
        for name, seen in self._seen.items():
            yield Worker(name=name, role=seen.role, age=max(0.0, now - seen.at), metrics=seen.metrics)

    def behind(self, now: float, patience: float) -> bool:
        """Whether a collector that reported in the last `patience` seconds has no metrics that were not taken yet."""
        return any(
            seen.role == Role.COLLECTOR and seen.metrics and not seen.fresh and now - seen.at < patience
            for seen in self._seen.values()
        )

    def take_metrics(self) -> list[tuple[str, dict[str, float]]]:
        """Return what was measured since the last call, by process: the newest of each metric, the mean of a rate."""
        fresh = [(name, seen.metrics) for name, seen in self._seen.items() if seen.fresh]
        for seen in self._seen.values():
            seen.fresh = False
        return fresh


def averaged(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return the later metrics, with the rates of both reports as means over the seconds of both.

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
