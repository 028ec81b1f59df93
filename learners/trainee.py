"""A trainee: one learning player in training, from its batches to its versions."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from league.ids import Hash, PlayerId
from league.policies.layout import FloatArray
from league.segment import Segments
from league.wire.messages import Candidate
from learners.algorithms.algorithm import Algorithm
from learners.batcher import Batcher
from learners.distributed import ALONE, Group


@dataclass(slots=True, kw_only=True)
class Trainee:
    """A learning player in one incarnation."""

    player: PlayerId
    incarnation: int
    algorithm: Algorithm
    batcher: Batcher
    rng: np.random.Generator
    memory: int = 0  # numbers that its network remembers for each agent
    state: bool = False  # whether its critic sees the state of the whole game
    weights: FloatArray  # of this version: what collectors get, also in the middle of an update
    version: int = 0
    decisions: int = 0  # trained on in all incarnations
    parent: Hash | None = None  # the snapshot that the next candidate descends from
    candidate: Candidate | None = None  # the newest that was written
    train: bool = True
    full_since: int | None = None  # place of its full batch in the queue, None if there is none
    training: dict[str, int] = field(default_factory=dict)  # decisions of each session in the present update
    rollbacks: int = 0
    in_a_row: int = 0  # rollbacks since the last good update
    stopped: str = ""  # why it trains no more, though the league wants it to
    dropped_stopped: int = 0  # decisions that came nevertheless
    group: Group = ALONE
    _losses: dict[str, float] = field(default_factory=dict)
    _lags: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def held(self, session: str) -> int:
        """Return how many decisions of a session lie here: waiting, or being trained on."""
        return self.batcher.waiting(session) + self.training.get(session, 0)

    def learn(self, between: Callable[[], None]) -> bool:
        """Train on the oldest batch; True if that made a new version, False if it was rolled back."""
        batch = self.batcher.take(self.version)
        self.training = batch.sessions
        metrics = self.algorithm.update(batch, self.rng, between)
        self.training = {}
        self._losses.update(metrics)
        self._lags.append(batch.lag)
        if metrics["losses/rollbacks"]:
            self.rollbacks += 1
            self.in_a_row += 1
            return False
        self.in_a_row = 0
        self.version += 1
        self.weights = self.algorithm.flat()
        self.decisions += self.group.total(batch.decisions)
        self.batcher.expire(self.version)
        return True

    def stop(self) -> None:
        """Train no more: its last good version stays, and what comes for it is dropped."""
        what = getattr(self.algorithm, "trouble", "") or "something"
        self.stopped = f"{self.in_a_row} updates in a row were not finite ({what})"
        self.full_since = None

    def offer(self, segments: Segments, session: str) -> bool:
        """Keep segments for the next batch; False if they are of no use (counted, in decisions)."""
        if self.stopped:
            self.dropped_stopped += segments.decisions
            return False
        return self.train and self.batcher.add(segments, session, self.version)

    def overtake(self, version: int) -> bool:
        """Jump past a version that a learner published and lost by dying before its checkpoint."""
        return version > self.version and self.advance(version + 1)

    def advance(self, version: int) -> bool:
        """Go on from a later version, which another rank has already."""
        if version <= self.version:
            return False
        self.version = version
        self.batcher.expire(self.version)
        return True

    @property
    def ready(self) -> bool:
        """Whether there is a batch to train on now."""
        return self.full_since is not None and self.train and not self.stopped

    @property
    def behind(self) -> int:
        """How many decisions were trained on since the newest candidate."""
        return self.decisions - (self.candidate.decisions if self.candidate else 0)

    def metrics(self) -> dict[str, float]:
        """Return what is worth a curve; lags are those since the last call."""
        batcher = self.batcher
        found = {
            **self._losses,
            "losses/rollbacks": float(self.rollbacks),
            "version": float(self.version),
            "decisions": float(self.decisions),
            "dropped_stale": float(batcher.dropped_stale),
            "dropped_incarnation": float(batcher.dropped_incarnation),
            "dropped_full": float(batcher.dropped_full),
            "stopped": float(bool(self.stopped)),
        }
        if self._lags:
            lag = np.concatenate(self._lags)
            found |= {
                "lag_mean": float(lag.mean()),
                "lag_p95": float(np.percentile(lag, 95)),
                "lag_max": float(lag.max()),
                **lag_shares(lag),
            }
            self._lags.clear()
        return {f"player/{self.player}/{name}": value for name, value in found.items() if math.isfinite(value)}


LAGS = {"0": 0, "1": 1, "2": 2, "3_4": 3, "5_8": 5, "9_up": 9}  # the bins of the histogram, and where they begin


def lag_shares(lag: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the histogram of lags: which share of the decisions lies in each bin.

    >>> list(lag_shares(np.array([0, 0, 1, 7])).values())
    [0.5, 0.25, 0.0, 0.0, 0.25, 0.0]
    """
    counts, _ = np.histogram(lag, [*LAGS.values(), np.inf])
    return {f"lag_share/{name}": float(count) / len(lag) for name, count in zip(LAGS, counts, strict=True)}
