"""A trainee of ranks that do not wait for one another. Rank 0 alone makes versions; the others follow them.

What collectors play, candidates and checkpoints are the weights of rank 0, so a version is the same weights on every
rank. The other ranks train copies of their own on the same player's decisions, and share them by an exchange.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors.numpy

from league.metrics import player_metric
from league.policies.layout import FloatArray
from learners.notice_board import Board
from learners.trainee import Trainee
from learners.weight_exchange import WeightExchange

Arrays = dict[str, npt.NDArray[Any]]
TRAINED = "<f8"  # decisions, and CPU seconds
KINDS = ("start", "published", "trained", "steps", "weights")  # of notes about one incarnation


class PublishedHead(msgspec.Struct, frozen=True):
    """What rank 0 says of a version that it published; its weights follow."""

    version: int
    decisions: int


def pack(head: PublishedHead, arrays: Arrays) -> bytes:
    """Return a note."""
    return safetensors.numpy.save(arrays, metadata={"head": msgspec.json.encode(head).decode()})


def unpack(note: bytes) -> tuple[PublishedHead, Arrays]:
    """Return the head and the arrays of a note."""
    size = int.from_bytes(note[:8], "little")
    metadata = msgspec.json.decode(note[8 : 8 + size])["__metadata__"]
    return msgspec.json.decode(metadata["head"], type=PublishedHead), safetensors.numpy.load(note)


@dataclass(slots=True, kw_only=True)
class ApartTrainee(Trainee):
    """A learning player on one of several ranks that do not wait."""

    board: Board
    exchange: Callable[[FloatArray], WeightExchange]  # made of the weights at which all ranks begin
    _exchange: WeightExchange | None = None
    _before: FloatArray = field(default_factory=lambda: np.zeros(0, np.float32))
    _trained: int = 0  # decisions of this rank since it began
    _cpu_before: float = 0.0  # CPU seconds before it began
    _counted: dict[int, FloatArray] = field(default_factory=dict)  # what other ranks trained, as far as rank 0 knows
    _mixes_refused: int = 0  # that weights out of bounds came of; the rank went on with its own

    @property
    def leads(self) -> bool:
        """Whether this rank makes the versions."""
        return self.board.rank == 0

    def begin(self) -> None:
        """Begin where rank 0 does: it has read the checkpoint, which may be newer when another rank gets there."""
        if self.leads:
            head = PublishedHead(self.version, self.decisions)
            self.board.write(self._key("start"), pack(head, self.algorithm.state()))
        else:
            head, arrays = unpack(self.board.wait(self._key("start"), 0))
            self.algorithm.restore(arrays)
            self.version, self.decisions, self.weights = head.version, head.decisions, self.algorithm.flat()
        self._cpu_before = self.cpu_seconds
        self._exchange = self.exchange(self.algorithm.flat())
        for kind in KINDS:  # a rank that is late may still read what the last incarnation wrote
            self.board.erase(f"{kind}/{self.player}/{self.incarnation - 2}")

    def learn(self, between: Callable[[], None]) -> bool:
        """Train on the oldest batch, and share; True: there is a new version, which only rank 0 makes."""
        self._before = self.algorithm.flat()
        learned = Trainee.learn(self, between)  # super() does not work in a dataclass with slots
        return learned and self.leads

    def accept(self, weights: FloatArray, decisions: int) -> None:
        """Share an update; on rank 0 its result is the next version."""
        assert self._exchange is not None
        weights = self._mixed(self._exchange.mix(self._before, weights), weights)
        self.algorithm.restore({**self.algorithm.state(), "flat": weights})
        self._trained += decisions
        if not self.leads:
            trained = np.array([self._trained, self.cpu_seconds - self._cpu_before], TRAINED)
            self.board.write(self._key("trained"), trained.tobytes())
            return
        more, cpu_seconds = self._news_of_others()
        self.cpu_seconds += cpu_seconds
        Trainee.accept(self, weights, decisions + int(more))
        self._publish()

    def _mixed(self, mixed: FloatArray, own: FloatArray) -> FloatArray:
        """Return mixed weights, unless they are out of bounds: then those of this rank, which have been checked."""
        if self.weight_check is None or not self._fault(self.weight_check, mixed):
            return mixed
        self._mixes_refused += 1
        return own

    def _publish(self) -> None:
        head = PublishedHead(self.version, self.decisions)
        self.board.write(self._key("published"), pack(head, {"flat": self.weights}))

    def _news_of_others(self) -> tuple[float, float]:
        """Return how many decisions other ranks trained on since the last call, and in how many CPU seconds."""
        news = np.zeros(2)
        for rank in range(1, self.board.size):
            note = self.board.newer(self._key("trained"), rank)
            if note is not None:
                trained = np.frombuffer(note, TRAINED)
                news += trained - self._counted.get(rank, 0.0)
                self._counted[rank] = trained
        return float(news[0]), float(news[1])

    @property
    def takes(self) -> bool:
        """Whether collectors are to send it segments: not if it stopped, as another rank learns from them."""
        return self.train and (self.leads or not self.stopped)

    def consequence(self) -> str:
        """Return what follows for the player from a stop of this rank."""
        if self.leads:
            return f"{Trainee.consequence(self)}. All ranks of this learner stop training it"
        return f"Rank {self.board.rank} stops training it, the others go on"

    def stop(self) -> None:
        """Stop training it on this rank; without rank 0, which makes the versions, on all."""
        Trainee.stop(self)
        if self.leads:
            self.board.raise_flag(self._key("stopped"))

    def follow(self) -> bool:
        """Take over the newest version of rank 0; False: there is none that is newer."""
        if not self.leads and not self.stopped and self.board.flag(self._key("stopped")):
            self.stopped, self.full_since = "rank 0 stopped training it", None
        note = None if self.leads else self.board.newer(self._key("published"), 0)
        if note is None:
            return False
        head, arrays = unpack(note)
        self.weights, self.decisions = arrays["flat"], head.decisions
        return self.advance(head.version)

    def skip_lost(self, version: int) -> bool:
        """Skip past a version that was lost; other ranks than 0 may only be late, and follow."""
        if not self.leads:
            return version > self.version and self.follow()
        if not Trainee.skip_lost(self, version):
            return False
        self._publish()  # what collectors get now, also from other ranks
        return True

    def metrics(self) -> dict[str, float]:
        """Return the metrics, how many notes of other ranks were mixed in, and how often that was refused."""
        mixed = self._exchange.mixed if self._exchange is not None else 0
        more = {"mixed": float(mixed), "mixes_refused": float(self._mixes_refused)}
        return Trainee.metrics(self) | {player_metric(self.player, name): value for name, value in more.items()}

    def _key(self, what: str) -> str:
        return f"{what}/{self.player}/{self.incarnation}"
