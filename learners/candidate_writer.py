"""When candidates are written. A full disk delays them; training goes on."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from league.ids import PlayerId
from league.wire.messages import Candidate
from learners.config import WRITTEN
from learners.progress_reporter import ProgressReporter
from learners.trainee import Trainee
from learners.trainee_store import TraineeStore

log = logging.getLogger("ludus.learner")

NEVER = float("-inf")
Measure = Callable[[Candidate, bool], dict[str, float]]
"""From a written candidate, and whether it is the last one of its player, to metrics of it; it may be called twice."""


@dataclass(slots=True, kw_only=True)
class CandidateWriter:
    """Writes candidates on rank 0; the other ranks write nothing, but for their replays if these are kept.

    writer.write_due(trainees)          # every `learner.candidate_decisions`
    writer.write_last(trainee)          # when its training ends
    """

    store: TraineeStore
    reporter: ProgressReporter
    clock: Callable[[], float]
    measure: Measure | None = None
    measured: dict[str, float] = field(default_factory=dict)  # what it found of the newest candidates
    failures: int = 0
    _retry_at: float = NEVER
    _failing: set[PlayerId] = field(default_factory=set)  # players whose newest candidate could not be written

    def write_due(self, trainees: Iterable[Trainee]) -> None:
        """Write the candidates that are due."""
        for trainee in trainees:
            if self._agreed(partial(self._due, trainee)):
                self._write_on_all(trainee)

    def write_last(self, trainee: Trainee) -> None:
        """Write the newest version, unless its candidate is there; log a failure even if an earlier one was."""
        candidate = trainee.candidate
        if self._agreed(lambda: candidate is None or candidate.version < trainee.version):
            self._retry_at = NEVER
            self._failing.discard(trainee.player)
            self._write_on_all(trainee, last=True)
        elif self.store.group.rank == 0 and candidate is not None:
            self._measure(candidate, last=True)

    def finished(self, trainee: Trainee) -> bool:
        """Whether a player no longer trains, and its last candidate is written."""
        return not trainee.train and trainee.candidate is not None and trainee.player not in self._failing

    def _due(self, trainee: Trainee) -> bool:
        if self.clock() < self._retry_at:
            return False
        if trainee.candidate is None:
            return True
        if not trainee.train:  # the last one was written when training ended, unless that failed
            return trainee.player in self._failing
        # A candidate that the coordinator never heard of would stay in the store for ever: report it first.
        enough = trainee.behind >= self.store.config.candidate_decisions
        return enough and self.reporter.is_known(trainee.player)

    def _agreed(self, asked: Callable[[], bool]) -> bool:
        """Return what rank 0 finds; on the other ranks False, unless they keep replays and so have to write, too."""
        group = self.store.group
        mine = group.rank == 0 and asked()
        if group.size == 1 or self.store.replay_files is None:
            return mine
        return bool(group.maximum(np.array([mine], np.int64))[0])

    def _write_on_all(self, trainee: Trainee, last: bool = False) -> None:
        """Write the candidate, and on every rank its replay if these are kept; then the older replays may go."""
        if self.store.group.rank != 0:
            self.store.keep_replay(trainee)
        if self._agreed(lambda: self._write(trainee, last)):
            self.store.drop_older_replays(trainee)

    def _write(self, trainee: Trainee, last: bool) -> bool:
        try:
            candidate = self.store.write(trainee)
        except OSError as error:  # a full disk: train on, and try again later
            self._failed(trainee, error)
            return False
        failed_before = trainee.player in self._failing
        self._failing.discard(trainee.player)
        level, what = (logging.WARNING, f"{WRITTEN}, which failed before") if failed_before else (logging.INFO, WRITTEN)
        log.log(level, "player %s: version %d %s", trainee.player, trainee.version, what)
        self._measure(candidate, last or not trainee.train)
        self.reporter.new_candidate(trainee.player)
        return True

    def _measure(self, candidate: Candidate, last: bool) -> None:
        if self.measure is not None:
            self.measured |= self.measure(candidate, last)

    def _failed(self, trainee: Trainee, error: OSError) -> None:
        """Try again after a heartbeat; log only the first failure in a row."""
        self.failures += 1
        self._retry_at = self.clock() + self.store.config.heartbeat
        if trainee.player not in self._failing:
            self._failing.add(trainee.player)
            log.error(
                "player %s: version %d cannot be written: %s; until it can, a restart would go on from version %d",
                trainee.player, trainee.version, error, trainee.candidate.version if trainee.candidate else 0,
            )  # fmt: skip
