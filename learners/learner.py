"""The learner: trains players on the segments that come in, and brings about what its roster says.

learner = Learner(name="learner-0", ...)
while learner.step(timeout=0.1):
    pass
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from league.ids import PlayerId
from league.policies.layout import PolicyConfig
from league.spec import EnvSpec
from league.store.snapshots import SnapshotStore
from league.wire.messages import Assignment, Progress, Roster
from league.wire.ports import Client, Server
from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig
from learners.archive import Archive, MakeAlgorithm
from learners.config import LearnerConfig
from learners.feed import Feed
from learners.trainee import Trainee


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
    algo: PPOConfig
    seed: int
    clock: Callable[[], float]
    config: LearnerConfig = field(default_factory=LearnerConfig)
    algorithm: MakeAlgorithm = PPO

    write_failures: int = field(default=0, init=False)
    _trainees: dict[PlayerId, Trainee] = field(default_factory=dict, init=False)
    _archive: Archive = field(init=False)
    _feed: Feed = field(init=False)
    _newest: tuple[int, int] = field(default=(-1, -1), init=False)  # term and request of the newest roster
    _request: int = field(default=0, init=False)
    _told: dict[PlayerId, int] = field(default_factory=dict, init=False)  # request that told of the candidate
    _reported_at: float | None = field(default=None, init=False)
    _news: bool = field(default=True, init=False)  # something that the coordinator should know at once
    _retry_at: float = field(default=float("-inf"), init=False)
    _waited: float = field(default=0.0, init=False)
    _updates: int = field(default=0, init=False)
    _stopped: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Put the parts together."""
        self._feed = Feed(inbox=self.inbox, spec=self.spec, batch=self.algo.batch, clock=self.clock)
        self._archive = Archive(
            store=self.store,
            checkpoints=self.checkpoints,
            spec=self.spec,
            policy=self.policy,
            algo=self.algo,
            seed=self.seed,
            algorithm=self.algorithm,
        )

    def step(self, timeout: float) -> bool:
        """Do what there is to do, waiting up to `timeout` seconds for data; False: told to stop."""
        for message, _ in self.coordinator.receive(0):
            if isinstance(message, Roster):
                self._reconcile(message)
        if self._stopped:
            return False
        self._write_candidates()
        self._heartbeat()
        self._serve(timeout)
        trainee = self._oldest_full()
        if trainee is not None:
            self._train(trainee)
        return True

    def finish(self) -> None:
        """Write down all that was learned, and tell the coordinator."""
        for trainee in self._trainees.values():
            self._write_last(trainee)
        self._report(self.clock())
        self._stopped = True

    # --- the roster ------------------------------------------------------------------------------------------

    def _reconcile(self, roster: Roster) -> None:
        newest = (roster.term, roster.request)
        if newest < self._newest or self._stopped:
            return  # from a coordinator that was replaced, or overtaken on its way
        self._newest = newest
        for gone in self._trainees.keys() - {row.player for row in roster.players}:
            del self._trainees[gone]
            self._feed.forget(gone)
        for row in roster.players:
            self._assign(row)
        if roster.stop:
            self.finish()

    def _assign(self, row: Assignment) -> None:
        trainee = self._trainees.get(row.player)
        if trainee is None or trainee.incarnation != row.incarnation:
            trainee = self._archive.begin(row, trainee.decisions if trainee else 0)
            self._trainees[row.player] = trainee
            self._told.pop(row.player, None)
            self._feed.publish(trainee)
        if trainee.train and not row.train:
            self._write_last(trainee)
        if trainee.train != row.train:
            trainee.train = row.train
            self._feed.grant(trainee)

    # --- training --------------------------------------------------------------------------------------------

    def _oldest_full(self) -> Trainee | None:
        full = [(t.full_since, t.player) for t in self._trainees.values() if t.full_since is not None and t.train]
        return self._trainees[min(full)[1]] if full else None

    def _serve(self, timeout: float) -> None:
        if self._oldest_full() is not None:
            self._feed.serve(self._trainees, 0)
            return
        before = self.clock()
        self._feed.serve(self._trainees, timeout)
        self._waited += self.clock() - before

    def _train(self, trainee: Trainee) -> None:
        learned = trainee.learn(between=self._between)
        trainee.full_since = self._feed.arrivals if trainee.batcher.full else None
        self._updates += 1
        if learned:
            self._feed.publish(trainee)
        else:
            self._feed.grant(trainee)

    def _between(self) -> None:
        """Give way in the middle of an update: collectors and coordinator are answered, rosters wait."""
        self._feed.serve(self._trainees, 0)
        if self._report_due():
            self._report(self.clock())

    # --- candidates ------------------------------------------------------------------------------------------

    def _write_candidates(self) -> None:
        for trainee in self._trainees.values():
            if self._due(trainee):
                self._write(trainee)

    def _due(self, trainee: Trainee) -> bool:
        if trainee.candidate is None:
            return True
        # A candidate that the coordinator never heard of would lie in the store for ever: tell it first.
        told = self._told.get(trainee.player)
        heard = told is not None and self._newest[1] >= told
        return heard and trainee.behind >= self.config.candidate_decisions

    def _write_last(self, trainee: Trainee) -> None:
        if trainee.candidate is None or trainee.candidate.version < trainee.version:
            self._retry_at = float("-inf")
            self._write(trainee)

    def _write(self, trainee: Trainee) -> None:
        if self.clock() < self._retry_at:
            return
        try:
            self._archive.write(trainee)
        except OSError:  # a full disk: train on, and try again later
            self.write_failures += 1
            self._retry_at = self.clock() + self.config.heartbeat
            return
        self._told.pop(trainee.player, None)
        self._news = True

    # --- reports ---------------------------------------------------------------------------------------------

    def _heartbeat(self) -> None:
        if self._report_due():
            self._report(self.clock())
            for trainee in self._trainees.values():
                self._feed.grant(trainee)

    def _report_due(self) -> bool:
        late = self._reported_at is None or self.clock() - self._reported_at >= self.config.heartbeat
        return late or self._news

    def _report(self, now: float) -> None:
        self._request += 1
        candidates = tuple(t.candidate for t in self._trainees.values() if t.candidate is not None)
        sent = self.coordinator.send(
            Progress(
                request=self._request,
                name=self.name,
                session=self.session,
                address=self.inbox.address,
                candidates=candidates,
                metrics=self._metrics(now),
            )
        )
        self._reported_at, self._news = now, False
        self._waited, self._updates = 0.0, 0
        if sent:
            for candidate in candidates:
                self._told.setdefault(candidate.player, self._request)

    def _metrics(self, now: float) -> dict[str, float]:
        metrics = {"malformed": float(self._feed.malformed), "write_failures": float(self.write_failures)}
        if self._reported_at is not None and now > self._reported_at:
            elapsed = now - self._reported_at
            metrics |= {"wait_share": self._waited / elapsed, "updates_per_second": self._updates / elapsed}
        for trainee in self._trainees.values():
            metrics |= trainee.metrics()
        return metrics
