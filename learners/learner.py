"""The learner: trains players on the segments that come in, and brings about what its roster says.

learner = Learner(name="learner-0", ...)
while learner.step(timeout=0.1):
    pass
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from league.ids import PlayerId
from league.limits import within
from league.metrics import BUFFER, INFERENCE, MALFORMED, SECONDS, UPDATES_PER_SECOND, WAIT_SHARE, WRITE_FAILURES
from league.policies.layout import PolicyConfig
from league.spec import EnvSpec
from league.store.snapshots import SnapshotStore
from league.wire.messages import Assignment, Progress, Roster
from league.wire.ports import Client, Server
from learners.algorithms.algorithm import make_algorithm
from learners.algorithms.config import AlgoConfig
from learners.algorithms.replay_config import ReplayConfig
from learners.config import WRITTEN, LearnerConfig
from learners.distributed import ALONE, Group
from learners.remote_replay import AHEAD, BufferClient, RemoteReplay
from learners.segment_server import SegmentServer
from learners.trainee import Trainee
from learners.trainee_store import MakeAlgorithm, TraineeStore

log = logging.getLogger("ludus.learner")


@dataclass(slots=True, kw_only=True)
class Learner:
    """One learner. It opens nothing, and never waits for anything but segments."""

    name: str
    session: str
    coordinator: Client
    inbox: Server
    store: SnapshotStore
    checkpoints: Path
    spec: EnvSpec
    policy: PolicyConfig
    algo: AlgoConfig
    seed: int
    clock: Callable[[], float]
    config: LearnerConfig = field(default_factory=LearnerConfig)
    policies: Mapping[str, PolicyConfig] = field(default_factory=dict)  # of players that have their own
    algos: Mapping[str, AlgoConfig] = field(default_factory=dict)
    algorithm: MakeAlgorithm = make_algorithm
    group: Group = ALONE
    buffer: Client | None = None  # the buffer process beside it; None: replays are in this process
    ahead: int = AHEAD  # minibatches of that process that wait for us

    write_failures: int = field(default=0, init=False)
    _trainees: dict[PlayerId, Trainee] = field(default_factory=dict, init=False)
    _archive: TraineeStore = field(init=False)
    _feed: SegmentServer = field(init=False)
    _line: BufferClient | None = field(default=None, init=False)
    _newest: tuple[int, int] = field(default=(-1, -1), init=False)  # term and request of the newest roster
    _request: int = field(default=0, init=False)
    _told: dict[PlayerId, int] = field(default_factory=dict, init=False)  # request that told of the candidate
    _reported_at: float | None = field(default=None, init=False)
    _news: bool = field(default=True, init=False)  # something that the coordinator should know at once
    _retry_at: float = field(default=float("-inf"), init=False)
    _unwritten: set[PlayerId] = field(default_factory=set, init=False)  # whose newest candidate could not be written
    _waited: float = field(default=0.0, init=False)
    _updates: int = field(default=0, init=False)
    _asked: bool = field(default=False, init=False)  # to stop, by a signal to this rank
    _stopped: bool = field(default=False, init=False)
    _addresses: tuple[str, ...] = field(default=(), init=False)  # of all ranks
    _buffers: tuple[str, ...] = field(default=("",), init=False)  # addresses of the buffer processes of all ranks
    _beside: tuple[str, ...] = field(default=(), init=False)  # addresses beside it that were reported

    def __post_init__(self) -> None:
        """Put the parts together."""
        self._addresses = self.group.gather(self.inbox.address)
        self._feed = SegmentServer(inbox=self.inbox, spec=self.spec, clock=self.clock)
        self._archive = TraineeStore(
            store=self.store,
            checkpoints=self.checkpoints,
            spec=self.spec,
            policy=self.policy,
            algo=self.algo,
            seed=self.seed,
            policies=self.policies,
            algos=self.algos,
            algorithm=self.algorithm,
            group=self.group,
            config=self.config,
        )
        if self.buffer is not None:
            self._line = BufferClient(self.session, self.buffer, self.clock)
            self._archive.served = lambda: RemoteReplay(self._receive_within, self.ahead, self._leads)

    def step(self, timeout: float) -> bool:
        """Do what there is to do, waiting up to `timeout` seconds for data; False: told to stop."""
        for roster in self._rosters():
            self._reconcile(roster)
        if self._stopped:
            return False
        self._write_candidates()
        self._meet()
        self._heartbeat()
        self._serve(timeout)
        trainee = self._agree()
        if trainee is not None:
            self._train(trainee)
        return not self._stopped

    def ask_to_stop(self) -> None:
        """Let the next step be the last: all ranks write down what was learned, and tell the coordinator."""
        self._asked = True

    def _finish(self) -> None:
        for trainee in self._trainees.values():
            self._write_last(trainee)
        if self._leads:
            self._report(self.clock())
        self._stopped = True

    # --- ranks -----------------------------------------------------------------------------------------------

    @property
    def _leads(self) -> bool:
        """Whether this is the rank that talks to the coordinator and writes to the store."""
        return self.group.rank == 0

    def _rosters(self) -> list[Roster]:
        """Return what the coordinator said to rank 0; all ranks hear the same."""
        heard = [message for message, _ in self.coordinator.receive(0) if isinstance(message, Roster)]
        if self.group.size == 1:
            return heard
        return msgspec.msgpack.decode(self.group.tell(msgspec.msgpack.encode(heard)), type=list[Roster])

    def _agree(self) -> Trainee | None:
        """Return whom to train now: of those with a full batch on every rank, the one that became full first.

        The ranks also agree on versions, which one of them may have had to jump past, on whether to stop, and on where
        their buffer processes are.
        """
        trainees = [self._trainees[player] for player in sorted(self._trainees)]
        mine = [(t.version, not t.ready, t.full_since or 0) for t in trainees]
        moved = self._line is not None and self._line.address != self._buffers[self.group.rank % len(self._buffers)]
        stop, move, *most = self.group.most(np.array([self._asked, moved, *chain(*mine)], np.int64)).tolist()
        if move and self._line is not None:
            self._buffers = self.group.gather(self._line.address)
        for trainee, version in zip(trainees, most[::3], strict=True):
            if trainee.advance(version):
                self._publish(trainee)
        if stop:
            self._finish()
            return None
        found = zip(trainees, most[1::3], most[2::3], strict=True)
        full = [(since, trainee.player) for trainee, lacking, since in found if not lacking]
        return self._trainees[min(full)[1]] if full else None

    # --- the roster ------------------------------------------------------------------------------------------

    def _reconcile(self, roster: Roster) -> None:
        newest = (roster.term, roster.request)
        if newest < self._newest or self._stopped:
            return  # from a coordinator that was replaced, or overtaken on its way
        self._newest = newest
        for gone in self._trainees.keys() - {row.player for row in roster.players}:
            trainee = self._trainees.pop(gone)
            self._feed.forget(gone)
            if self._line is not None:
                self._line.give_up(trainee)
        for row in roster.players:
            self._assign(row, roster.spent)
        if roster.stop:
            self._finish()

    def _assign(self, row: Assignment, spent: float) -> None:
        trainee = self._trainees.get(row.player)
        if trainee is None or trainee.incarnation != row.incarnation:
            trainee = self._archive.begin(row, trainee.decisions if trainee else 0, spent)
            self._trainees[row.player] = trainee
            self._told.pop(row.player, None)
            self._publish(trainee)
        trainee.spend(spent)
        if trainee.train and not row.train:
            self._write_last(trainee)
        if trainee.train != row.train:
            trainee.train = row.train
            self._news = True  # the league may wait to hear that a player has finished
            self._feed.grant(trainee)

    # --- training --------------------------------------------------------------------------------------------

    def _serve(self, timeout: float) -> None:
        if any(t.ready for t in self._trainees.values()):
            self._receive(0)
            return
        before = self.clock()
        self._receive(timeout)
        self._waited += self.clock() - before

    def _receive(self, timeout: float) -> None:
        if self._line is None:
            self._feed.serve(self._trainees, timeout)
            return
        self._feed.serve(self._trainees, 0)
        for trainee in self._line.serve(self._trainees, timeout):
            self._feed.arrivals += 1
            if trainee.full_since is None:
                trainee.full_since = self._feed.arrivals

    def _meet(self) -> None:
        """Find out where the buffer process is; others are told, as soon as all ranks know theirs."""
        if self._line is not None:
            self._line.meet()
            if self.group.size == 1:
                self._buffers = (self._line.address,)

    def _receive_within(self, timeout: float) -> None:
        """Take in what the buffer process drew, in the middle of an update, and wait for it if need be."""
        before = self.clock()
        self._receive(timeout)
        if timeout:
            self._waited += self.clock() - before
            self._between()

    def _publish(self, trainee: Trainee) -> None:
        self._feed.publish(trainee)
        if self._line is not None:
            self._line.publish(trainee)

    def _train(self, trainee: Trainee) -> None:
        learned = trainee.learn(between=self._between)
        trainee.full_since = self._feed.arrivals if trainee.full else None
        self._updates += 1
        if learned:
            self._publish(trainee)
        else:
            self._rolled_back(trainee)
            self._feed.grant(trainee)

    def _rolled_back(self, trainee: Trainee) -> None:
        """Stop a player whose updates explode: the same on every rank, as rollbacks are."""
        if trainee.in_a_row == 1:
            log.warning(
                "player %s: an update is rolled back, version %d stays: %s",
                trainee.player, trainee.version, trainee.trouble,
            )  # fmt: skip
        if trainee.in_a_row < self.config.max_rollbacks:
            return
        trainee.stop()
        self._write_last(trainee)
        log.error(
            "player %s: %s. Its training stops; version %d stays, and so does its checkpoint. "
            "Try a lower algo.lr or algo.max_grad_norm with ludus run ... --accept-changes",
            trainee.player, trainee.stopped, trainee.version,
        )  # fmt: skip

    def _between(self) -> None:
        """Give way in the middle of an update: collectors and coordinator are answered, rosters wait."""
        self._feed.serve(self._trainees, 0)
        if self._report_due():
            self._report(self.clock())

    # --- candidates ------------------------------------------------------------------------------------------

    def _write_candidates(self) -> None:
        for trainee in self._trainees.values():
            if self._leads and self._due(trainee):
                self._write(trainee)

    def _due(self, trainee: Trainee) -> bool:
        if trainee.candidate is None:
            return True
        if not trainee.train:  # the last one was written when training ended, if it could be
            return trainee.player in self._unwritten
        # A candidate that the coordinator never heard of would lie in the store for ever: tell it first.
        told = self._told.get(trainee.player)
        heard = told is not None and self._newest[1] >= told
        return heard and trainee.behind >= self.config.candidate_decisions

    def _finished(self, trainee: Trainee) -> bool:
        """Whether a player trains no more, and its last candidate is written."""
        return not trainee.train and trainee.candidate is not None and trainee.player not in self._unwritten

    def _write_last(self, trainee: Trainee) -> None:
        if self._leads and (trainee.candidate is None or trainee.candidate.version < trainee.version):
            self._retry_at = float("-inf")
            self._unwritten.discard(trainee.player)  # what was said of an earlier version holds for the last one anew
            self._write(trainee)

    def _write(self, trainee: Trainee) -> None:
        if self.clock() < self._retry_at:
            return
        try:
            self._archive.write(trainee)
        except OSError as error:  # a full disk: train on, and try again later
            self._not_written(trainee, error)
            return
        failed_before = trainee.player in self._unwritten
        self._unwritten.discard(trainee.player)
        level, what = (logging.WARNING, f"{WRITTEN}, which failed before") if failed_before else (logging.INFO, WRITTEN)
        log.log(level, "player %s: version %d %s", trainee.player, trainee.version, what)
        self._told.pop(trainee.player, None)
        self._news = True

    def _not_written(self, trainee: Trainee, error: OSError) -> None:
        """Try again later; say so once, until it has worked in between."""
        self.write_failures += 1
        self._retry_at = self.clock() + self.config.heartbeat
        if trainee.player not in self._unwritten:
            self._unwritten.add(trainee.player)
            log.error(
                "player %s: version %d cannot be written: %s; until it can, a restart would go on from version %d",
                trainee.player, trainee.version, error, trainee.candidate.version if trainee.candidate else 0,
            )  # fmt: skip

    # --- reports ---------------------------------------------------------------------------------------------

    def _heartbeat(self) -> None:
        if self._report_due():
            self._report(self.clock())

    def _report_due(self) -> bool:
        if not self._leads:
            return False
        late = self._reported_at is None or self.clock() - self._reported_at >= self.config.heartbeat
        return late or self._news or (self._feed.inference, *self._buffers) != self._beside

    def _doors(self) -> tuple[tuple[str, ...], dict[PlayerId, tuple[str, ...]]]:
        """Return where segments go: those of most players, and those of players that learn in another way."""
        if self._line is None:
            return self._addresses, {}
        most = isinstance(self.algo, ReplayConfig)
        others = [PlayerId(player) for player, algo in self.algos.items() if isinstance(algo, ReplayConfig) != most]
        buffers = self._buffers if all(self._buffers) else ("",)
        here, there = (buffers, self._addresses) if most else (self._addresses, buffers)
        return here, dict.fromkeys(others, there)

    def _report(self, now: float) -> None:
        self._request += 1
        addresses, doors = self._doors()
        candidates = tuple(t.candidate for t in self._trainees.values() if t.candidate is not None)
        sent = self.coordinator.send(
            Progress(
                request=self._request,
                name=self.name,
                session=self.session,
                address=addresses[0],
                more=addresses[1:],
                inference=self._feed.inference,
                doors=doors,
                candidates=candidates,
                finished=tuple(player for player, t in self._trainees.items() if self._finished(t)),
                metrics=within(self._metrics(now)),
            )
        )
        if now != self._reported_at:  # else nothing was told of them: no time has passed
            self._waited, self._updates = 0.0, 0
        self._reported_at, self._news, self._beside = now, False, (self._feed.inference, *self._buffers)
        if sent:
            for candidate in candidates:
                self._told.setdefault(candidate.player, self._request)

    def _metrics(self, now: float) -> dict[str, float]:
        metrics = {MALFORMED: float(self._feed.malformed), WRITE_FAILURES: float(self.write_failures)}
        metrics |= {INFERENCE + name: value for name, value in self._feed.inference_metrics.items()}
        if self._line is not None:
            metrics |= {BUFFER + name: value for name, value in self._line.metrics.items()}
        if self._reported_at is not None and now > self._reported_at:
            elapsed = now - self._reported_at
            shares = {WAIT_SHARE: self._waited / elapsed, UPDATES_PER_SECOND: self._updates / elapsed}
            metrics |= {SECONDS: elapsed} | shares
        for trainee in self._trainees.values():
            metrics |= trainee.metrics()
        return metrics
