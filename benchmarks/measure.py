"""Slices, pairs and verdicts: how every benchmark measures.

The speed of a machine drifts by tens of percent within seconds. So a reference and a subject take turns
(reference, subject, reference, ...), each subject slice is compared with the two reference slices around it,
and what counts is the median of these ratios.
"""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Slice:
    """What was done in a stretch of time, and what it cost."""

    steps: float
    wall: float
    cpu: float
    more: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Steps in a second of wall time."""
        return self.steps / self.wall

    @property
    def cost(self) -> float:
        """CPU seconds for 1000 steps."""
        return 1000 * self.cpu / max(self.steps, 1e-9)


Measure = Callable[[float], Slice]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One target: `ratio` must reach `target`."""

    name: str
    ratio: float
    target: float
    runs: Sequence[float] = ()

    @classmethod
    def of(cls, name: str, runs: Sequence[float], target: float) -> Self:
        """Return the verdict on the median of some runs."""
        return cls(name, statistics.median(runs), target, runs)

    def tell(self) -> None:
        """Print it as one line of JSON."""
        met = self.ratio >= self.target
        emit(self.name, ratio=self.ratio, target=self.target, met=met, runs=[round(one, 3) for one in self.runs])


def emit(name: str, **values: Any) -> None:
    """Print one line of JSON."""
    rounded = {key: _rounded(value) for key, value in values.items()}
    print(json.dumps({"name": name, **rounded}), flush=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 1) if abs(value) >= 1000 else float(f"{value:.4g}")
    return value


def alternate(reference: Measure, subject: Measure, seconds: float, rounds: int) -> tuple[list[Slice], list[Slice]]:
    """Return the slices of both, taken in turns; the reference comes first and last."""
    before, found = [reference(seconds)], []
    for _ in range(rounds):
        found.append(subject(seconds))
        before.append(reference(seconds))
    return before, found


def paired(before: Sequence[Slice], found: Sequence[Slice], speed: Callable[[Slice], float]) -> list[float]:
    """Return how much faster each subject slice was than the two reference slices around it."""
    return [
        speed(one) / statistics.mean((speed(earlier), speed(later)))
        for one, earlier, later in zip(found, before, before[1:], strict=False)
    ]


def by_cpu(one: Slice) -> float:
    """Speed in steps for each CPU second: what a busy machine disturbs least."""
    return one.steps / one.cpu


def by_wall(one: Slice) -> float:
    """Speed in steps for each second."""
    return one.rate


def summarise(name: str, slices: Sequence[Slice], **more: Any) -> None:
    """Print the medians of some slices; `more` and what the slices have more are added."""
    keys = slices[0].more
    medians = {key: statistics.median(one.more[key] for one in slices) for key in keys}
    emit(
        name,
        steps_per_second=statistics.median(one.rate for one in slices),
        cpu_seconds_per_1000=statistics.median(one.cost for one in slices),
        slowest=min(one.rate for one in slices),
        fastest=max(one.rate for one in slices),
        **medians,
        **more,
    )


def timed(work: Callable[[float], int], seconds: float) -> Slice:
    """Return the slice of work in this process; `work` stops at the time it is given and says what it did."""
    wall, cpu = time.perf_counter(), time.process_time()
    steps = work(wall + seconds)
    return Slice(steps, time.perf_counter() - wall, time.process_time() - cpu)
