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
COUNT = "<i8"
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
    _trained: int = 0  # decisions of this rank in this incarnation
    _counted: dict[int, int] = field(default_factory=dict)  # those of other ranks, as far as rank 0 knows

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
        weights = self._exchange.mix(self._before, weights)
        self.algorithm.restore({**self.algorithm.state(), "flat": weights})
        self._trained += decisions
        if not self.leads:
            self.board.write(self._key("trained"), np.array(self._trained, COUNT).tobytes())
            return
        Trainee.accept(self, weights, decisions + self._news_of_others())
        head = PublishedHead(self.version, self.decisions)
        self.board.write(self._key("published"), pack(head, {"flat": weights}))

    def _news_of_others(self) -> int:
        """Return how many decisions other ranks trained on since the last call."""
        before = sum(self._counted.values())
        for rank in range(1, self.board.size):
            note = self.board.newer(self._key("trained"), rank)
            if note is not None:
                self._counted[rank] = int(np.frombuffer(note, COUNT)[0])
        return sum(self._counted.values()) - before

    def follow(self) -> bool:
        """Take over the newest version of rank 0; False: there is none that is newer."""
        note = None if self.leads else self.board.newer(self._key("published"), 0)
        if note is None:
            return False
        head, arrays = unpack(note)
        self.weights, self.decisions = arrays["flat"], head.decisions
        return self.advance(head.version)

    def skip_lost(self, version: int) -> bool:
        """Skip past a version that was lost; other ranks than 0 may only be late, and follow."""
        if self.leads or version <= self.version:
            return Trainee.skip_lost(self, version)
        return self.follow()

    def metrics(self) -> dict[str, float]:
        """Return the metrics, and how many notes of other ranks were mixed in."""
        mixed = self._exchange.mixed if self._exchange is not None else 0
        return Trainee.metrics(self) | {player_metric(self.player, "mixed"): float(mixed)}

    def _key(self, what: str) -> str:
        return f"{what}/{self.player}/{self.incarnation}"
