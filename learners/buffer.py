"""The buffer process: it holds the replays of a learner's players, beside the learner or beside each of its ranks.

    buffer = Buffer(session=..., server=..., spec=..., players=..., seed=..., clock=...)
    while not stop:
        buffer.step(timeout=0.02)

Collectors send it segments as they would to the learner. It cuts them into steps, stores those, and samples minibatches
at the learner's request; it needs no torch. The rate limit holds on both sides: while no minibatch is due, the learner
waits; while one is due, the next batch is not taken in, so collectors get no credit and wait.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId, derive_seed
from league.metrics import DROPPED, MALFORMED, MINIBATCHES_PER_SECOND, WAIT_SHARE
from league.per_player import PerPlayer
from league.policies.layout import FloatArray
from league.spec import EnvSpec
from league.wire.codec import WireError
from league.wire.messages import (
    BufferStatus,
    FindBuffer,
    Refused,
    ReleasePlayer,
    Role,
    SampleReply,
    SampleRequest,
    Weights,
)
from league.wire.ports import Arrays, Incoming, Server
from learners.algorithms.replay_config import ReplayConfig
from learners.fed_player import FedPlayer
from learners.player_settings import PlayerSettings
from learners.replay import LocalReplay
from learners.replay_files import KeptReplay, ReplayFiles, told_size
from learners.segment_check import NEWEST
from learners.segment_server import SegmentServer

log = logging.getLogger("ludus.buffer")

STATUS_INTERVAL = 1.0  # seconds between two messages to the learner
RELEASED = "its replay is released"
NONE = np.zeros(0, np.int64)

OF_LEARNERS = (FindBuffer, SampleRequest, ReleasePlayer, Weights)


class SampleRequestError(ValueError):
    """A request that contradicts the config or itself: the learner's fault."""


@dataclass(slots=True, kw_only=True)
class BufferedPlayer(FedPlayer):
    """A player whose replay is in this process."""

    algo: ReplayConfig
    replay: LocalReplay
    rng: np.random.Generator
    ring: str
    learner: str = ""  # the session that samples
    open: dict[int, bytes] = field(default_factory=dict)  # its open requests, and the peer of each
    lag: npt.NDArray[np.int64] = field(default_factory=NONE.copy)  # of new decisions that were not reported to it yet
    unkept: int = 0  # decisions since its replay was last written

    def insert(self) -> bool:
        """Insert the oldest batch, if one is complete."""
        if not self.batcher.full:
            return False
        batch = self.batcher.take(self.version)
        self.training = batch.sessions
        self.replay.insert(self.algo.steps_of(batch.segments), batch.decisions)
        self.lag = np.concatenate([self.lag, batch.lag])
        self.unkept += batch.decisions
        return True

    def next_sample(self) -> Arrays:
        """Return a minibatch if one is due, and the lags of new decisions, once."""
        lag, self.lag = self.lag, NONE
        new = {"lag": lag} if len(lag) else {}
        return {**new, **(self.replay.sample(self.rng).arrays() if self.replay.due() else {})}

    def take_errors(self, arrays: Arrays) -> None:
        """Update priorities with the learner's errors; raise SampleRequestError if they are malformed."""
        index, error = arrays.get("index", NONE), arrays.get("error", NONE.astype(np.float64))
        poison = arrays.get("poison", NONE)
        if not (index.shape == error.shape == (len(error),) and poison.ndim == 1 and error.dtype.kind == "f"):
            raise SampleRequestError(
                f"index, error and poison have shapes {index.shape}, {error.shape} and {poison.shape}"
            )
        if not index.dtype == poison.dtype == np.int64 or any((each < 0).any() for each in (index, error, poison)):
            raise SampleRequestError("index and poison are numbers of decisions, an error is never negative")
        self.replay.prioritise(index, error)
        self.replay.drop(poison)


@dataclass(slots=True, kw_only=True)
class Buffer:
    """Holds the replays of all players of one learner that have one."""

    session: str
    server: Server
    spec: EnvSpec
    players: PerPlayer[PlayerSettings]
    seed: int
    clock: Callable[[], float]
    rank: int = 0  # of the learner's rank that samples from it
    ranks: int = 1
    replay_files: ReplayFiles | None = None  # where replays are kept; None: they are not
    keep_every: int = 65536  # decisions after which a replay is written

    waited: float = field(default=0.0, init=False)
    sampled: int = field(default=0, init=False)  # minibatches
    _segments: SegmentServer = field(init=False)
    _stored: dict[PlayerId, BufferedPlayer] = field(default_factory=dict, init=False)
    _learner: bytes = field(default=b"", init=False)  # the peer that samples
    _reported: tuple[float, float, int] = field(default=(float("-inf"), 0.0, 0), init=False)
    _status_wanted: bool = field(default=False, init=False)  # by the learner, or to get weights from it

    def __post_init__(self) -> None:
        """Put the parts together."""
        self._segments = SegmentServer(inbox=self.server, spec=self.spec, clock=self.clock)

    def step(self, timeout: float) -> None:
        """Do what there is to do, waiting up to `timeout` seconds for a message."""
        self._segments.round += 1
        before = self.clock()
        arrived = self.server.receive(timeout)
        self.waited += self.clock() - before
        for incoming in arrived:
            if isinstance(incoming.message, OF_LEARNERS) and incoming.role in (None, Role.LEARNER):
                self._learner = incoming.peer
                self._handle(incoming)
            else:
                self._segments.answer(incoming, self._stored)
        for stored in sorted(self._stored.values(), key=_filled):  # in the order in which a learner would train them
            self._answer(stored)
            if stored.unkept >= self.keep_every:
                self._keep(stored)
        self._segments.remind(self._stored)
        self._send_status()

    def finish(self) -> None:
        """Write the replays a last time, if they are kept."""
        for stored in self._stored.values():
            self._keep(stored)

    def _keep(self, stored: BufferedPlayer) -> None:
        stored.unkept = 0
        if self.replay_files is None or stored.stopped or not stored.replay.size:
            return
        kept = self._kept(stored, stored.version)
        try:
            size = self.replay_files.save(kept, stored.replay, stored.rng)
        except OSError as error:  # a full disk: the older file stays, and the next one is tried later
            log.error("the replay of %s is not kept: %s", stored.player, error)
            return
        self.replay_files.forget_all_but(kept)
        log.info("player %s: %s", stored.player, told_size(size, stored.replay))

    def _restore(self, stored: BufferedPlayer) -> None:
        """Fill the replay of a player from the newest file of this incarnation."""
        if self.replay_files is None:
            return
        version = self.replay_files.load(self._kept(stored, NEWEST), stored.replay, stored.rng)
        if version is not None:
            log.info("player %s goes on with %d decisions of version %d", stored.player, stored.replay.size, version)

    def _kept(self, stored: BufferedPlayer, version: int) -> KeptReplay:
        settings = stored.algo.kept_under(self.spec.signature, stored.memory)
        return KeptReplay(player=stored.player, incarnation=stored.incarnation, version=version, settings=settings)

    # --- the learner -----------------------------------------------------------------------------------------

    def _handle(self, incoming: Incoming) -> None:
        message = incoming.message
        if isinstance(message, FindBuffer):
            self._status_wanted = True
            return
        assert isinstance(message, SampleRequest | ReleasePlayer | Weights)
        try:
            if isinstance(message, SampleRequest):
                self._sample(incoming.peer, message, incoming.arrays)
            elif isinstance(message, ReleasePlayer):
                self._release(message)
            elif "flat" in incoming.arrays:
                self._load(message, incoming.arrays["flat"])
        except SampleRequestError as error:
            self._segments.malformed += 1
            self.server.send(incoming.peer, Refused(reason=f"player {message.player[:100]!r}: {error}"))

    def _load(self, message: Weights, flat: FloatArray) -> None:
        stored = self._stored.get(message.player)
        if stored is None or stored.incarnation < message.incarnation:
            stored = self._stored[message.player] = self._begin(message, flat)
            self._restore(stored)
        elif stored.incarnation > message.incarnation or not stored.advance(message.version):
            return
        self._end_update(stored)
        stored.weights = flat
        self._segments.publish(stored)

    def _begin(self, message: Weights, flat: FloatArray) -> BufferedPlayer:
        player, incarnation = message.player, message.incarnation
        algo, policy = self.players[player].algo, self.players[player].policy
        if not isinstance(algo, ReplayConfig):
            why = "does not learn from a replay, so its segments do not belong here"
            raise SampleRequestError(f"algo={algo.name} {why}")
        parts = (self.seed, "train", player, incarnation, *((self.rank,) if self.rank else ()))
        return BufferedPlayer(
            player=player,
            incarnation=incarnation,
            version=message.version,
            weights=flat,
            memory=policy.state_size,
            state=policy.sees_state,
            batcher=algo.new_batcher(incarnation, self.ranks),
            algo=algo,
            replay=algo.new_replay(self.ranks),
            rng=np.random.default_rng(derive_seed(*parts)),
            ring=f"{self.session}/{incarnation}",
        )

    def _sampled_by(self, message: SampleRequest | ReleasePlayer) -> BufferedPlayer | None:
        """Return the player of a message, assigned to the session that sent it; None if its weights are not here."""
        stored = self._stored.get(message.player)
        if stored is None or stored.incarnation != message.incarnation:
            return None
        if message.session != stored.learner:
            stored.learner, stored.open = message.session, {}
        return stored

    def _sample(self, peer: bytes, request: SampleRequest, arrays: Arrays) -> None:
        stored = self._sampled_by(request)
        if stored is None:
            self._status_wanted = True
            return
        stored.stopped = ""
        if self._end_update(stored):  # without a new version: it was rolled back
            self._segments.grant(stored)
        stored.open[request.request] = peer
        if request.ring == stored.ring:
            stored.take_errors(arrays)

    def _release(self, message: ReleasePlayer) -> None:
        stored = self._sampled_by(message)
        if stored is not None and not stored.stopped:
            stored.stopped, stored.replay, stored.open = RELEASED, stored.algo.new_replay(self.ranks), {}
            self._segments.grant(stored)

    def _answer(self, stored: BufferedPlayer) -> None:
        """Answer open requests, as far as minibatches are due."""
        while stored.open and (stored.replay.due() or stored.insert()):
            request, peer = next(iter(stored.open.items()))
            del stored.open[request]
            arrays = stored.next_sample()
            self.sampled += "index" in arrays
            if stored.open and self._end_update(stored):  # a learner that requests ahead need not have learned from it
                self._segments.grant(stored)
            message = SampleReply(
                session=stored.learner,
                player=stored.player,
                incarnation=stored.incarnation,
                request=request,
                ring=stored.ring,
                left=stored.replay.left,
                size=stored.replay.size,
                reuse=stored.replay.reuse,
            )
            try:
                self.server.send(peer, message, arrays)
            except WireError as error:
                log.error("a minibatch of %s cannot be sent: %s", stored.player, error)

    def _end_update(self, stored: BufferedPlayer) -> bool:
        """Let the next batch come if nothing more of this one is due; return whether that is new."""
        if not stored.training or stored.replay.due():
            return False
        stored.training = {}
        stored.full_since = self._segments.round + 1 if stored.batcher.full else None
        return True

    def _send_status(self) -> None:
        now = self.clock()
        due = now - self._reported[0] >= STATUS_INTERVAL
        if not self._learner or not (due or self._status_wanted):
            return
        known = {player: (stored.incarnation, stored.version) for player, stored in self._stored.items()}
        metrics, address = self._metrics(now), self.server.address
        status = BufferStatus(session=self.session, address=address, known=known, metrics=metrics)
        self.server.send(self._learner, status)
        self._status_wanted = False
        if due:
            self._reported = (now, self.waited, self.sampled)

    def _metrics(self, now: float) -> dict[str, float]:
        before, waited, sampled = self._reported
        elapsed = now - before
        batchers = [stored.batcher for stored in self._stored.values()]
        metrics = {
            MALFORMED: float(self._segments.malformed),
            DROPPED: float(sum(b.dropped_stale + b.dropped_incarnation + b.dropped_full for b in batchers)),
        }
        if not 0 < elapsed < float("inf"):
            return metrics
        return metrics | {
            WAIT_SHARE: (self.waited - waited) / elapsed,
            MINIBATCHES_PER_SECOND: (self.sampled - sampled) / elapsed,
        }


def _filled(stored: BufferedPlayer) -> float:
    """Return when the batch of a player became full, to sort by."""
    return float("inf") if stored.full_since is None else stored.full_since
