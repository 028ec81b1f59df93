"""Conduct: which collectors finish their tickets, and which only fail. In memory only.

One collector that fails everything is at fault itself if others succeed meanwhile, and then it is quarantined. If
nobody succeeds, the environment is at fault, and the league ends. So a single collector can never end a league in
which another one works.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(slots=True)
class _Streak:
    """The faults of a collector since its last result."""

    faults: int
    results_before: int  # of all collectors, when the streak began
    faults_before: int
    last: float = 0.0  # when, and
    why: str = ""  # why, the last one came


class Conduct:
    """The collectors by name; `limit` is the number of faults in a row that are one too many."""

    def __init__(self, limit: int, rest: float) -> None:
        self._limit, self._rest = limit, rest
        self._streaks: dict[str, _Streak] = {}
        self._failed: set[str] = set()  # who failed since the last result of anybody
        self._results = self._faults = 0
        self._succeeded = float("-inf")  # when the last result came

    def succeeded(self, name: str, now: float) -> None:
        """Note a result."""
        self._results, self._succeeded = self._results + 1, now
        self._streaks.pop(name, None)
        self._failed.clear()

    def faulted(self, name: str, why: str, now: float) -> None:
        """Note a fault, a result that is none, or a session that ended or hung with tickets in its hands."""
        streak = self._streaks.get(name)
        if streak is None:
            streak = self._streaks[name] = _Streak(0, self._results, self._faults)
        streak.faults, streak.last, streak.why = streak.faults + 1, now, why
        self._faults += 1
        self._failed.add(name)

    def at_fault(self, name: str) -> str:
        """Return why a collector failed last that fails everything while others mostly succeed; "" if it does not."""
        streak = self._streaks.get(name)
        if streak is None or streak.faults < self._limit:
            return ""
        results = self._results - streak.results_before
        faults = self._faults - streak.faults_before - streak.faults
        return (streak.why or "it gave no reason") if results > faults else ""

    def rests(self, name: str, collectors: Callable[[], Collection[str]], now: float) -> bool:
        """Whether a collector that fails everything waits for a while: another one may show whose fault it is."""
        streak = self._streaks.get(name)
        if streak is None or streak.faults < self._limit or now - streak.last >= self._rest:
            return False
        return any(other not in self._failed for other in collectors() if other != name)

    def nobody_succeeds(self, collectors: Collection[str], now: float) -> bool:
        """Whether every collector failed since the last result, and that came some time ago.

        Many tickets may fail in one moment, all of them in the hands of one who uses the key of a collector that works.
        """
        return bool(self._failed) and self._failed.issuperset(collectors) and now - self._succeeded >= self._rest
