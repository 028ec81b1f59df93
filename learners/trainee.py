"""A trainee: one learning player in training, from its batches to its versions."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from league.ids import Hash
from league.metrics import CPU_SECONDS, LAG_MAX, LAG_MEAN, LAG_P95, REFUSED_WEIGHTS, ROLLBACKS, player_metric
from league.policies.layout import FloatArray
from league.wire.messages import Candidate
from learners.algorithms.algorithm import Algorithm, check_metrics
from learners.distributed import ALONE, Group
from learners.fed_player import FedPlayer
from learners.weight_average import WeightAverage
from learners.weight_check import WeightCheck

LOWER = "Try a lower algo.lr or algo.max_grad_norm with ludus run ... --accept-changes"


@dataclass(slots=True, kw_only=True)
class Trainee(FedPlayer):
    """A learning player in one incarnation."""

    algorithm: Algorithm
    rng: np.random.Generator
    decisions: int = 0  # trained on in all incarnations
    began: float = 0.0  # the share of the league's budget that was spent when this incarnation began,
    spent: float = 0.0  # and that is spent now
    parent: Hash | None = None  # the snapshot that the next candidate descends from
    candidate: Candidate | None = None  # the newest that was written
    rollbacks: int = 0
    in_a_row: int = 0  # rollbacks since the last good update
    refused: int = 0  # of these, the ones in which all was finite, but the weight check refused the weights
    trouble: str = ""  # why the last update was rolled back
    remedy: str = LOWER  # what may help against that
    weight_check: WeightCheck | None = None  # None: whatever is finite is published
    average: WeightAverage | None = None  # what candidates are made of; None: of the newest weights
    group: Group = ALONE
    cpu_seconds: float = 0.0  # of updates in all incarnations: of this process, times its ranks
    _network_fault: str = ""  # of the last rollback: that the network itself fails on this game's observations
    _losses: dict[str, float] = field(default_factory=dict)
    _lags: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def learn(self, between: Callable[[], None]) -> bool:
        """Train on the oldest batch; True: there is a new version, False: the update was rolled back."""
        good = self.algorithm.state() if self.weight_check is not None else {}
        metrics, lag = self._timed_update(between)
        self._losses.update(metrics)
        self._lags.append(lag)
        if metrics[ROLLBACKS]:
            fault = self._network_fault
            self.remedy = "Correct the network" if fault else LOWER
            self._roll_back(fault or getattr(self.algorithm, "trouble", "") or "something is not finite")
            return False
        weights = self.algorithm.flat()
        if self.weight_check is not None and (why := self._fault(self.weight_check, weights)):
            self.algorithm.restore(good)
            self.refused += 1
            self.remedy = LOWER
            self._roll_back(why)
            return False
        self.in_a_row = 0
        self.accept(weights, self.group.total(len(lag)))
        return True

    def accept(self, weights: FloatArray, decisions: int) -> None:
        """Make a version of weights that were trained on so many decisions."""
        self.version += 1
        self.weights = weights
        if self.average is not None:
            self.average.add(weights)
        self.decisions += decisions
        self.batcher.expire(self.version)

    def follow(self) -> bool:
        """Take over a newer version of another rank; False: there is none. In step, ranks make versions together."""
        return False

    def _roll_back(self, why: str) -> None:
        """Count a rollback; the last good version stays."""
        self.rollbacks += 1
        self.in_a_row += 1
        self.trouble = why

    def _fault(self, check: WeightCheck, weights: FloatArray) -> str:
        """Return why weights must not be published: on every rank, if any of them finds a fault."""
        why = check.fault(weights, self.weights)
        anywhere = self.group.total(bool(why))  # every rank takes part: each sees other observations
        return why or ("another rank refused the weights" if anywhere else "")

    def _timed_update(self, between: Callable[[], None]) -> tuple[dict[str, float], npt.NDArray[np.int64]]:
        """Update the weights, and count the processor time of it, without that of `between`."""
        began, elsewhere = time.process_time(), 0.0

        def serve() -> None:
            nonlocal elsewhere
            paused = time.process_time()
            between()
            elsewhere += time.process_time() - paused

        found = self._update(serve)
        self.cpu_seconds += (time.process_time() - began - elsewhere) * self.group.size
        return found

    def _update(self, between: Callable[[], None]) -> tuple[dict[str, float], npt.NDArray[np.int64]]:
        """Update the weights once; return metrics, and the lag of each decision that is new."""
        batch = self.batcher.take(self.version)
        if self.weight_check is not None:
            self.weight_check.sample_observations(batch)
        self.training = batch.sessions
        metrics = check_metrics(self.algorithm, self.algorithm.update(batch, self.rng, between))
        self.training = {}
        if metrics[ROLLBACKS] and self.weight_check is not None:
            self._network_fault = self.weight_check.network_fault(self.weights, batch)
        return metrics, batch.lag

    def spend(self, spent: float) -> None:
        """Set how much of its training is over, given the share of the league's budget that is spent."""
        if spent < self.spent:  # the budget was raised, so the share at the beginning shrinks with it
            self.began *= spent / self.spent
        self.spent, left = spent, 1 - self.began
        self.algorithm.spent = min(1.0, max(0.0, (spent - self.began) / left)) if left > 0 else 1.0

    def stop(self) -> None:
        """Stop training: the last good version stays, and incoming segments are dropped."""
        self.stopped = f"{self.in_a_row} updates in a row were rolled back ({self.trouble})"
        self.full_since = None

    def consequence(self) -> str:
        """Return what follows for the player from a stop."""
        return f"Its training stops; version {self.version} stays, and so does its checkpoint"

    @property
    def ready(self) -> bool:
        """Whether there is a batch to train on now."""
        return self.full_since is not None and self.train and not self.stopped

    @property
    def behind(self) -> int:
        """How many decisions were trained on since the newest candidate."""
        return self.decisions - (self.candidate.decisions if self.candidate else 0)

    def metrics(self) -> dict[str, float]:
        """Return the metrics; lags are those since the last call."""
        batcher = self.batcher
        found = {
            **self._losses,
            ROLLBACKS: float(self.rollbacks),
            REFUSED_WEIGHTS: float(self.refused),
            "version": float(self.version),
            "decisions": float(self.decisions),
            "dropped_stale": float(batcher.dropped_stale),
            "dropped_incarnation": float(batcher.dropped_incarnation),
            "dropped_full": float(batcher.dropped_full),
            "stopped": float(bool(self.stopped)),
            CPU_SECONDS: self.cpu_seconds,
        }
        lag = np.concatenate([*self._lags, np.zeros(0, np.int64)])
        if len(lag):
            found |= {
                LAG_MEAN: float(lag.mean()),
                LAG_P95: float(np.percentile(lag, 95)),
                LAG_MAX: float(lag.max()),
                **lag_shares(lag),
            }
            self._lags.clear()
        return {player_metric(self.player, name): value for name, value in found.items() if math.isfinite(value)}


LAGS = {"0": 0, "1": 1, "2": 2, "3_4": 3, "5_8": 5, "9_up": 9}  # bins of the histogram, and where they begin


def lag_shares(lag: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the histogram of lags: the share of decisions in each bin.

    >>> list(lag_shares(np.array([0, 0, 1, 7])).values())
    [0.5, 0.25, 0.0, 0.0, 0.25, 0.0]
    """
    counts, _ = np.histogram(lag, [*LAGS.values(), np.inf])
    return {f"lag_share/{name}": float(count) / len(lag) for name, count in zip(LAGS, counts, strict=True)}
