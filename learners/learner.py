"""The learner: trains the players of its roster on the segments that come in.

learner = Learner(name="learner-0", ...)
while learner.step(timeout=0.1):
    pass
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from league.ids import PlayerId
from league.metrics import CPU_SECONDS, SECONDS, UPDATES_PER_SECOND, WAIT_SHARE, WRITE_FAILURES, player_metric
from league.wire.messages import Assignment, Roster
from league.wire.ports import Client, Server
from learners.agreement import agree, pass_on, share_rosters
from learners.candidate_writer import CandidateWriter, Measure
from learners.intake import Intake
from learners.progress_reporter import UNKNOWN, LearnerAddresses, ProgressReporter, Trained
from learners.remote_replay import AHEAD, BufferClient, RemoteReplay
from learners.segment_server import SegmentServer
from learners.trainee import Trainee
from learners.trainee_store import TraineeStore

log = logging.getLogger("ludus.learner")

STALE = 8  # batches that were dropped as too old before a player's warning says so


@dataclass(slots=True, kw_only=True)
class Learner:
    """One learner, or one rank of it. It opens nothing, and waits for nothing but data."""

    name: str
    session: str
    coordinator: Client
    inbox: Server
    store: TraineeStore
    clock: Callable[[], float]
    buffer: Client | None = None  # the buffer process beside it; None: replays are in this process
    ahead: int = AHEAD  # minibatches to request ahead from the buffer process
    measure: Measure | None = None  # what to measure of each new candidate
    host: str = ""  # the machine that it runs on

    _trainees: dict[PlayerId, Trainee] = field(default_factory=dict, init=False)
    _intake: Intake = field(init=False)
    _reporter: ProgressReporter = field(init=False)
    _writer: CandidateWriter = field(init=False)
    _addresses: LearnerAddresses = field(init=False)  # of all ranks
    _newest: tuple[int, int] = field(default=(-1, -1), init=False)  # term and request of the newest roster
    _updates: int = field(default=0, init=False)  # since the last report
    _warned: set[PlayerId] = field(default_factory=set, init=False)  # players most of whose decisions are too old
    _stop_asked: bool = field(default=False, init=False)  # of this rank
    _stopped: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Put the parts together."""
        buffer = BufferClient(self.session, self.buffer, self.clock) if self.buffer is not None else None
        ranks = self.store.group.gather(self.inbox.address)
        self._addresses = LearnerAddresses(ranks, () if buffer is None else UNKNOWN)
        segments = SegmentServer(inbox=self.inbox, spec=self.store.spec, clock=self.clock)
        self._intake = Intake(segments=segments, buffer=buffer, clock=self.clock)
        self._reporter = ProgressReporter(
            name=self.name,
            session=self.session,
            coordinator=self.coordinator,
            players=self.store.players,
            heartbeat=self.store.config.heartbeat,
            clock=self.clock,
            host=self.host,
        )
        if buffer is not None:
            self.store = replace(self.store, remote_replay=self._remote_replay)
        self._writer = CandidateWriter(
            store=self.store, reporter=self._reporter, clock=self.clock, measure=self.measure
        )

    def step(self, timeout: float) -> bool:
        """Do what there is to do, waiting up to `timeout` seconds for data; False: the learner has stopped."""
        received = [message for message, _ in self.coordinator.receive(0) if isinstance(message, Roster)]
        for roster in share_rosters(self.store.group, received):
            self._reconcile(roster)
        pass_on(self.store.group, received)
        if self._stopped:
            return False
        self._writer.write_due(self._trainees.values())
        self._find_buffer()
        self._report_if_due()
        self._intake.segments.round += 1
        if any(trainee.ready for trainee in self._trainees.values()):
            self._intake.receive(self._trainees)
        else:
            self._intake.wait(self._trainees, timeout)
        trainee = self._next_trainee()
        if trainee is not None:
            self._train(trainee)
        return not self._stopped

    def ask_to_stop(self) -> None:
        """Make the next step the last one: all ranks write their last candidates and report them."""
        self._stop_asked = True

    def _finish(self) -> None:
        for trainee in self._trainees.values():
            self._writer.write_last(trainee)
        if self._leads:
            self._report()
        self._stopped = True

    @property
    def _leads(self) -> bool:
        """Whether this rank talks to the coordinator and writes to the store."""
        return self.store.group.rank == 0

    # --- the roster ------------------------------------------------------------------------------------------

    def _reconcile(self, roster: Roster) -> None:
        newest = (roster.term, roster.request)
        if newest < self._newest or self._stopped:
            return  # from a coordinator that was replaced, or out of order
        self._newest, self._reporter.answered = newest, roster.request
        for gone in self._trainees.keys() - {row.player for row in roster.players}:
            self._intake.forget(self._trainees.pop(gone))
        for row in roster.players:
            self._assign(row, roster.spent)
        if roster.stop:
            self._finish()

    def _assign(self, row: Assignment, spent: float) -> None:
        trainee = self._trainees.get(row.player)
        if trainee is None or trainee.incarnation != row.incarnation:
            trainee = self.store.begin(row, trainee.decisions if trainee else 0, spent)
            self._trainees[row.player] = trainee
            self._reporter.forget(row.player)
            self._intake.publish(trainee)
        trainee.spend(spent)
        if trainee.train and not row.train:
            self._writer.write_last(trainee)
        if trainee.train != row.train:
            trainee.train = row.train
            self._reporter.urgent = True  # the league may wait for the report that a player has finished
            self._intake.segments.grant(trainee)

    # --- training --------------------------------------------------------------------------------------------

    def _next_trainee(self) -> Trainee | None:
        """Agree with the other ranks on whom to train now, on versions, and on whether to stop."""
        trainees, buffer = [self._trainees[player] for player in sorted(self._trainees)], self._intake.buffer
        known = self._addresses.buffers
        moved = buffer is not None and buffer.address != known[self.store.group.rank % len(known)]
        for trainee in trainees:  # before one is chosen: what is too old for the new version makes no batch
            if trainee.follow():
                self._intake.publish(trainee)
        agreed = agree(self.store.group, trainees, self._stop_asked, moved)
        if agreed.buffer_moved and buffer is not None:
            self._addresses = replace(self._addresses, buffers=self.store.group.gather(buffer.address))
        for trainee, version in zip(trainees, agreed.versions, strict=True):
            if trainee.advance(version):
                self._intake.publish(trainee)
        if agreed.stop:
            self._finish()
            return None
        return None if agreed.chosen is None else self._trainees[agreed.chosen]

    def _train(self, trainee: Trainee) -> None:
        learned = trainee.learn(between=self._serve_within_update)
        trainee.full_since = self._intake.segments.round + 1 if trainee.full else None
        self._updates += 1
        if learned:
            self._intake.publish(trainee)
            self._warn_of_stale(trainee)
        else:
            self._after_rollback(trainee)
            self._intake.segments.grant(trainee)

    def _warn_of_stale(self, trainee: Trainee) -> None:
        """Say once if more is dropped as too old than learned from: what collectors send at a time is many batches."""
        batcher, player = trainee.batcher, trainee.player
        if player in self._warned or batcher.dropped_stale <= max(STALE * batcher.batch, trainee.decisions):
            return
        self._warned.add(player)
        log.warning(
            "player %s: more decisions were dropped as too old (%d) than learned from (%d): algo.batch=%d is too small "
            "for what collectors send at a time. Raise algo.batch or algo.max_lag, or lower collector.slots",
            player, batcher.dropped_stale, trainee.decisions, batcher.batch,
        )  # fmt: skip

    def _after_rollback(self, trainee: Trainee) -> None:
        """Stop a player after too many rollbacks in a row: in step on every rank, else on this one."""
        if trainee.in_a_row == 1:
            log.warning(
                "player %s: an update is rolled back, version %d stays: %s",
                trainee.player, trainee.version, trainee.trouble,
            )  # fmt: skip
        if trainee.in_a_row < self.store.config.max_rollbacks:
            return
        trainee.stop()
        self._writer.write_last(trainee)
        log.error("player %s: %s. %s. %s", trainee.player, trainee.stopped, trainee.consequence(), trainee.remedy)

    def _serve_within_update(self) -> None:
        """Answer collectors and the coordinator in the middle of an update; rosters wait."""
        self._intake.segments.serve(self._trainees, 0)
        self._report_if_due()

    # --- the buffer process ----------------------------------------------------------------------------------

    def _remote_replay(self) -> RemoteReplay:
        return RemoteReplay(self._receive_within_update, self.ahead, self._leads)

    def _receive_within_update(self, timeout: float) -> None:
        """Take in minibatches in the middle of an update; wait for one only with a timeout."""
        if not timeout:
            self._intake.receive(self._trainees)
            return
        self._intake.wait(self._trainees, timeout)
        self._serve_within_update()

    def _find_buffer(self) -> None:
        """Find the address of the buffer process, which collectors need; several ranks exchange theirs later."""
        buffer = self._intake.buffer
        if buffer is not None:
            buffer.find_address()
            if self.store.group.size == 1:
                self._addresses = replace(self._addresses, buffers=(buffer.address,))

    # --- reports ---------------------------------------------------------------------------------------------

    def _report_if_due(self) -> None:
        addresses = replace(self._addresses, inference=self._intake.segments.inference)
        if self._leads and self._reporter.due(addresses):
            self._report()

    def _report(self) -> None:
        now = self.clock()
        addresses = replace(self._addresses, inference=self._intake.segments.inference)
        candidates = [t.candidate for t in self._trainees.values() if t.candidate is not None]
        finished = [player for player, trainee in self._trainees.items() if self._writer.finished(trainee)]
        metrics, elapsed = self._metrics(now), self._reporter.elapsed(now)
        self._reporter.send(now, addresses, Trained(candidates, finished), metrics)
        if elapsed != 0:  # else the metrics have no shares of time, as none has passed
            self._intake.waited, self._updates = 0.0, 0

    def _metrics(self, now: float) -> dict[str, float]:
        metrics = self._intake.metrics() | {WRITE_FAILURES: float(self._writer.failures)} | self._writer.measured
        elapsed = self._reporter.elapsed(now)
        if elapsed is not None and elapsed > 0:
            shares = {WAIT_SHARE: self._intake.waited / elapsed, UPDATES_PER_SECOND: self._updates / elapsed}
            metrics |= {SECONDS: elapsed} | shares
        for trainee in self._trainees.values():
            metrics |= trainee.metrics()
        # A report has room for so many metrics, and rates by CPU seconds depend on these.
        costs = {player_metric(player, CPU_SECONDS) for player in self._trainees} & metrics.keys()
        return {name: metrics[name] for name in sorted(costs)} | metrics
