"""Handles the progress of learners: counts new candidates, freezes players, and answers with the roster to train."""

from coordinator.candidates import Inspect, is_news, problem
from coordinator.directory import Directory
from coordinator.last_candidates import LastCandidates
from coordinator.once_log import OnceLog
from coordinator.promoting import promote, prune
from coordinator.running_league import RunningLeague
from league.events import CandidateWritten
from league.ids import PlayerId
from league.metrics import CPU_SECONDS, player_metric
from league.rulebook import BY_CPU
from league.state import FINAL, OVER, TRAINING
from league.wire.messages import Assignment, Candidate, Progress, Roster


class LearnerReports:
    """Answers the progress of learners. `inspect` checks the file of a candidate."""

    def __init__(self, league: RunningLeague, directory: Directory, log: OnceLog, inspect: Inspect | None) -> None:
        self._league, self._state, self._allow = league, league.state, league.allow
        self._directory, self._log = directory, log
        self.inspect = inspect
        self.last = LastCandidates()
        self._refused: dict[PlayerId, Candidate] = {}  # the last candidate whose file was bad
        self._absent: set[PlayerId] = set()  # players whose candidate has no visible file yet

    def answer(self, progress: Progress, now: float, spent: float, stop: bool) -> Roster:
        """Count new candidates; return this learner's roster. `spent` is the spent share of the budget."""
        state = self._state
        self._directory.note(progress)
        self._note_cpu_seconds(progress)
        if state.phase != OVER:  # the last candidates arrive after the end of training
            for candidate in progress.candidates:
                if self._may_count(candidate, progress.name):
                    self._count(candidate)
        finished = set(progress.finished) if state.phase == FINAL else set()
        self.last.report(progress.name, finished - self._absent, now)
        return Roster(
            term=state.term,
            request=progress.request,
            players=tuple(self._assignment(p) for p in self._directory.assigned(progress.name)),
            spent=spent,
            stop=stop,
        )

    def _note_cpu_seconds(self, progress: Progress) -> None:
        if self._state.config.rate_by != BY_CPU:
            return
        for player in self._directory.assigned(progress.name):
            seconds = progress.metrics.get(player_metric(player, CPU_SECONDS), 0.0)
            self._league.scheduler.note_cpu_seconds(player, seconds)

    def _assignment(self, player: PlayerId) -> Assignment:
        return Assignment(
            player=player,
            incarnation=self._state.incarnations[player],
            start=self._state.start(player),
            train=self._state.phase == TRAINING,
        )

    def _may_count(self, candidate: Candidate, learner: str) -> bool:
        """Return whether a candidate is new and valid. If its file is missing, the learner will report it again."""
        player = candidate.player
        self._absent.discard(player)
        if not is_news(self._state, candidate) or self._refused.get(player) == candidate:
            return False
        wrong = problem(self._state, candidate, self._directory.assigned(learner))
        if not wrong and self.inspect is not None:
            looked = self.inspect(candidate)
            if looked is None:
                self._absent.add(player)
                self._log.warn(player, f"the file of its candidate {candidate.snapshot} is not there yet")
                return False
            if looked:
                self._refused[player] = candidate
            wrong = looked
        if wrong:
            self._log.warn(player, f"the candidate {candidate.snapshot} of {learner} is refused: {wrong}")
        return not wrong

    def _count(self, candidate: Candidate) -> None:
        """Emit a candidate as an event; freeze or reset its player if that is due, and prune older candidates."""
        state, player, emit = self._state, candidate.player, self._league.emit
        emit(
            CandidateWritten(
                player=player,
                incarnation=candidate.incarnation,
                version=candidate.version,
                snapshot=candidate.snapshot,
                decisions=candidate.decisions,
            )
        )
        if state.phase == TRAINING:
            for event in promote(state, state.population[player], self._allow):
                emit(event)
            self._directory.refresh()
        for event in prune(state, player):
            emit(event)
