"""The buffer process: the replays of a learner's players, in a process of their own beside it, or beside each rank.

    buffer = Buffer(session=..., server=..., spec=..., policy=..., algo=..., seed=..., clock=...)
    while not stop:
        buffer.step(timeout=0.02)

Collectors feed it as they would feed the learner. It cuts their segments into steps, keeps them, and draws minibatches
when the learner asks for some; it needs no torch. The rate limit holds on both sides: what is not due is not drawn, so
the learner waits; and while what is due is not drawn, the next batch is not taken in, so collectors get no credit, and
wait.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId, derive_seed
from league.metrics import DROPPED, MALFORMED, MINIBATCHES_PER_SECOND, WAIT_SHARE
from league.policies.layout import FloatArray, PolicyConfig
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
from learners.algorithms.config import AlgoConfig
from learners.algorithms.replay_config import ReplayConfig
from learners.batcher import Batcher
from learners.fed_player import FedPlayer
from learners.replay import LocalReplay
from learners.segment_server import SegmentServer

log = logging.getLogger("ludus.buffer")

WATCH = 1.0  # seconds between two words to the learner
NOBODY = "nobody draws its decisions"
NONE = np.zeros(0, np.int64)

OF_LEARNERS = (FindBuffer, SampleRequest, ReleasePlayer, Weights)


class DrawError(ValueError):
    """A wish that cannot be: the learner's fault."""


@dataclass(slots=True, kw_only=True)
class BufferedPlayer(FedPlayer):
    """A player whose decisions are kept here."""

    algo: ReplayConfig
    stock: LocalReplay
    rng: np.random.Generator
    ring: str
    learner: str = ""  # the session that draws
    open: dict[int, bytes] = field(default_factory=dict)  # its requests, and who made them
    lag: npt.NDArray[np.int64] = field(default_factory=NONE.copy)  # of decisions that it was not told of yet

    def insert(self) -> bool:
        """Take in the oldest batch, if there is one."""
        if not self.batcher.full:
            return False
        batch = self.batcher.take(self.version)
        self.training = batch.sessions
        self.stock.insert(self.algo.steps_of(batch.segments), batch.decisions)
        self.lag = np.concatenate([self.lag, batch.lag])
        return True

    def draw(self) -> Arrays:
        """Return a minibatch if one is due, and tell, once, of the decisions that came in."""
        lag, self.lag = self.lag, NONE
        told = {"lag": lag} if len(lag) else {}
        return {**told, **(self.stock.sample(self.rng).arrays() if self.stock.due() else {})}

    def note(self, arrays: Arrays) -> None:
        """Take in what the learner found out about decisions; raise DrawError if that cannot be."""
        index, error = arrays.get("index", NONE), arrays.get("error", NONE.astype(np.float64))
        poison = arrays.get("poison", NONE)
        if not (index.shape == error.shape == (len(error),) and poison.ndim == 1 and error.dtype.kind == "f"):
            raise DrawError(f"index, error and poison have shapes {index.shape}, {error.shape} and {poison.shape}")
        if not index.dtype == poison.dtype == np.int64 or any((each < 0).any() for each in (index, error, poison)):
            raise DrawError("index and poison are numbers of decisions, an error is never negative")
        self.stock.prioritise(index, error)
        self.stock.drop(poison)


@dataclass(slots=True, kw_only=True)
class Buffer:
    """Keeps the decisions of all players of one learner that learn from a replay."""

    session: str
    server: Server
    spec: EnvSpec
    policy: PolicyConfig
    algo: AlgoConfig
    seed: int
    clock: Callable[[], float]
    policies: Mapping[str, PolicyConfig] = field(default_factory=dict)  # of players that have their own
    algos: Mapping[str, AlgoConfig] = field(default_factory=dict)
    rank: int = 0  # of the learner's rank that draws from it
    ranks: int = 1

    waited: float = field(default=0.0, init=False)
    drawn: int = field(default=0, init=False)  # minibatches
    _feed: SegmentServer = field(init=False)
    _stored: dict[PlayerId, BufferedPlayer] = field(default_factory=dict, init=False)
    _learner: bytes = field(default=b"", init=False)  # the peer that draws
    _watched: tuple[float, float, int] = field(default=(float("-inf"), 0.0, 0), init=False)
    _wants: bool = field(default=False, init=False)  # weights that it does not have

    def __post_init__(self) -> None:
        """Put the parts together."""
        self._feed = SegmentServer(inbox=self.server, spec=self.spec, clock=self.clock)

    def step(self, timeout: float) -> None:
        """Do what there is to do, waiting up to `timeout` seconds for a message."""
        before = self.clock()
        arrived = self.server.receive(timeout)
        self.waited += self.clock() - before
        for incoming in arrived:
            if isinstance(incoming.message, OF_LEARNERS) and incoming.role in (None, Role.LEARNER):
                self._learner = incoming.peer
                self._take_order(incoming)
            else:
                self._feed.answer(incoming, self._stored)
        for stored in self._stored.values():
            self._answer(stored)
        self._feed.remind(self._stored)
        self._watch()

    # --- the learner -----------------------------------------------------------------------------------------

    def _take_order(self, incoming: Incoming) -> None:
        message = incoming.message
        if isinstance(message, FindBuffer):
            self._wants = True
            return
        assert isinstance(message, SampleRequest | ReleasePlayer | Weights)
        try:
            if isinstance(message, SampleRequest):
                self._sample(incoming.peer, message, incoming.arrays)
            elif isinstance(message, ReleasePlayer):
                self._release(message)
            elif "flat" in incoming.arrays:
                self._load(message, incoming.arrays["flat"])
        except DrawError as error:
            self._feed.malformed += 1
            self.server.send(incoming.peer, Refused(reason=f"player {message.player[:100]!r}: {error}"))

    def _load(self, message: Weights, flat: FloatArray) -> None:
        stored = self._stored.get(message.player)
        if stored is None or stored.incarnation < message.incarnation:
            stored = self._stored[message.player] = self._begin(message, flat)
        elif stored.incarnation > message.incarnation or not stored.advance(message.version):
            return
        stored.weights = flat
        self._feed.publish(stored)

    def _begin(self, message: Weights, flat: FloatArray) -> BufferedPlayer:
        player, incarnation = message.player, message.incarnation
        algo, policy = self.algos.get(player, self.algo), self.policies.get(player, self.policy)
        if not isinstance(algo, ReplayConfig):
            raise DrawError(f"algo={algo.name} learns from no replay, so its segments do not belong here")
        parts = (self.seed, "train", player, incarnation, *((self.rank,) if self.rank else ()))
        return BufferedPlayer(
            player=player,
            incarnation=incarnation,
            version=message.version,
            weights=flat,
            memory=policy.state_size,
            state=policy.sees_state,
            batcher=Batcher(incarnation=incarnation, batch=-(-algo.batch // self.ranks), max_lag=algo.max_lag),
            algo=algo,
            stock=algo.stock(self.ranks),
            rng=np.random.default_rng(derive_seed(*parts)),
            ring=f"{self.session}/{incarnation}",
        )

    def _sampled_by(self, message: SampleRequest | ReleasePlayer) -> BufferedPlayer | None:
        """Return the player that a learner means, now that of its session; None if its weights are not here."""
        stored = self._stored.get(message.player)
        if stored is None or stored.incarnation != message.incarnation:
            return None
        if message.session != stored.learner:
            stored.learner, stored.open = message.session, {}
        return stored

    def _sample(self, peer: bytes, request: SampleRequest, arrays: Arrays) -> None:
        stored = self._sampled_by(request)
        if stored is None:
            self._wants = True
            return
        stored.stopped = ""
        stored.open[request.request] = peer
        if request.ring == stored.ring:
            stored.note(arrays)

    def _release(self, message: ReleasePlayer) -> None:
        stored = self._sampled_by(message)
        if stored is not None and not stored.stopped:
            stored.stopped, stored.stock, stored.open = NOBODY, stored.algo.stock(self.ranks), {}
            self._feed.grant(stored)

    def _answer(self, stored: BufferedPlayer) -> None:
        """Draw what was asked for, as far as it is due."""
        while stored.open and (stored.stock.due() or stored.insert()):
            request, peer = next(iter(stored.open.items()))
            del stored.open[request]
            arrays = stored.draw()
            self.drawn += "index" in arrays
            if not stored.stock.due():  # the next batch may come
                stored.training = {}
                self._feed.grant(stored)
            message = SampleReply(
                session=stored.learner,
                player=stored.player,
                incarnation=stored.incarnation,
                request=request,
                ring=stored.ring,
                left=stored.stock.left,
                size=stored.stock.size,
                reuse=stored.stock.reuse,
            )
            try:
                self.server.send(peer, message, arrays)
            except WireError as error:
                log.error("a minibatch of %s cannot be sent: %s", stored.player, error)

    def _watch(self) -> None:
        now = self.clock()
        due = now - self._watched[0] >= WATCH
        if not self._learner or not (due or self._wants):
            return
        known = {player: (stored.incarnation, stored.version) for player, stored in self._stored.items()}
        metrics, address = self._metrics(now), self.server.address
        status = BufferStatus(session=self.session, address=address, known=known, metrics=metrics)
        self.server.send(self._learner, status)
        self._wants = False
        if due:
            self._watched = (now, self.waited, self.drawn)

    def _metrics(self, now: float) -> dict[str, float]:
        before, waited, drawn = self._watched
        elapsed = now - before
        batchers = [stored.batcher for stored in self._stored.values()]
        metrics = {
            MALFORMED: float(self._feed.malformed),
            DROPPED: float(sum(b.dropped_stale + b.dropped_incarnation + b.dropped_full for b in batchers)),
        }
        if not 0 < elapsed < float("inf"):
            return metrics
        return metrics | {
            WAIT_SHARE: (self.waited - waited) / elapsed,
            MINIBATCHES_PER_SECOND: (self.drawn - drawn) / elapsed,
        }
