"""Conduct: which collectors finish their tickets, and which only fail. In memory only.

If a collector fails everything while others succeed, the collector is at fault, and is quarantined. If nobody
succeeds, the environment is at fault, and the league ends. So no single collector can end a league in which another
one succeeds.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(slots=True)
class _Streak:
    """The faults of a collector since its last result."""

    faults: int
    results_before: int  # of all collectors, when the streak began
    faults_before: int
    last: float = 0.0  # time of the last fault
    why: str = ""  # reason of the last fault


class Conduct:
    """The results and faults of collectors. After `limit` faults in a row a collector may rest for `rest` seconds."""

    def __init__(self, limit: int, rest: float) -> None:
        self._limit, self._rest = limit, rest
        self._streaks: dict[str, _Streak] = {}
        self._failed: set[str] = set()  # collectors that failed since the last result of any collector
        self._results = self._faults = 0
        self._succeeded = float("-inf")  # time of the last result

    def succeeded(self, name: str, now: float) -> None:
        """Record a result."""
        self._results, self._succeeded = self._results + 1, now
        self._streaks.pop(name, None)
        self._failed.clear()

    def faulted(self, name: str, why: str, now: float) -> None:
        """Record a fault, an impossible result, or a session that ended or hung while it held tickets."""
        streak = self._streaks.get(name)
        if streak is None:
            streak = self._streaks[name] = _Streak(0, self._results, self._faults)
        streak.faults, streak.last, streak.why = streak.faults + 1, now, why
        self._faults += 1
        self._failed.add(name)

    def at_fault(self, name: str) -> str:
        """Return the last reason of a collector that fails everything while others mostly succeed; "" for any other."""
        streak = self._streaks.get(name)
        if streak is None or streak.faults < self._limit:
            return ""
        results = self._results - streak.results_before
        faults = self._faults - streak.faults_before - streak.faults
        return (streak.why or "it gave no reason") if results > faults else ""

    def rests(self, name: str, collectors: Callable[[], Collection[str]], now: float) -> bool:
        """Return whether a failing collector gets no tickets for now: another one may show whether it is at fault."""
        streak = self._streaks.get(name)
        if streak is None or streak.faults < self._limit or now - streak.last >= self._rest:
            return False
        return any(other not in self._failed for other in collectors() if other != name)

    def nobody_succeeds(self, collectors: Collection[str], now: float) -> bool:
        """Return whether every collector has failed since the last result, and that result is old enough.

        One misuse of a working collector's key can make many tickets fail at the same moment, so time must pass.
        """
        return bool(self._failed) and self._failed.issuperset(collectors) and now - self._succeeded >= self._rest
