"""Replays in a buffer process, as its learner sees them: minibatches are asked for ahead, errors go back.

line = BufferClient(session="l1", buffer=client, clock=time.monotonic)
trainee = RemoteTrainee(..., served=RemoteReplay(serve))
line.serve(trainees, timeout=0.02)          # asks, and takes in what was drawn
if trainee.full:
    trainee.learn(between)                  # learns from one minibatch after the other, until the buffer says when
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId
from league.wire.messages import (
    BufferStatus,
    FindBuffer,
    Refused,
    ReleasePlayer,
    SampleReply,
    SampleRequest,
    Weights,
)
from league.wire.ports import Arrays, Client
from learners.algorithms.values import ValueLearning
from learners.replay import Sample
from learners.segment_check import NEWEST
from learners.steps import Index
from learners.trainee import Trainee

log = logging.getLogger("ludus.learner")

AHEAD = 4  # minibatches that are here, or under way, while one is learned from
PATIENCE = 1.0  # seconds before a minibatch is asked for again: whoever should draw it may have died
REST = 0.01  # seconds that a learner waits at a time in the middle of an update ...
RESTS = 100  # ... and how often it does, before it ends the update


class RemoteReplay:
    """The minibatches of one player: a learners.replay.Source.

    `serve` asks for minibatches and waits so long for one; it is called in the middle of an update. Of several ranks
    one leads: an update ends where its buffer says, or when another one has nothing left.
    """

    def __init__(self, serve: Callable[[float], None], ahead: int = AHEAD, leads: bool = True) -> None:
        self._serve, self._ahead, self._leads = serve, ahead, leads
        self._here: deque[tuple[SampleReply, Sample | None]] = deque()
        self._requests = count()
        self._last = False  # of this update
        self._noted: list[tuple[Index, npt.NDArray[np.float64]]] = []
        self._poison: list[Index] = []
        self._fresh = 0
        self.open: dict[int, float] = {}  # requests under way, and when they were made
        self.ring = ""  # that the newest minibatch is of
        self.size, self.reuse = 0, 0.0
        self.lags: list[npt.NDArray[np.int64]] = []  # of decisions that came in, since somebody took them

    @property
    def full(self) -> bool:
        """Whether there is a minibatch to begin an update with."""
        return bool(self._here)

    def ask(self) -> None:
        """Want as many minibatches as may be under way."""
        for _ in range(1 + self._ahead - len(self.open) - len(self._here)):
            self.open[next(self._requests)] = float("-inf")

    def arrived(self, drawn: SampleReply, arrays: Arrays) -> None:
        """Take in what was asked for; raise ValueError if it is something else."""
        rest = {name: array for name, array in arrays.items() if name != "lag"}
        sample = Sample.of(rest) if rest else None
        if self.open.pop(drawn.request, None) is None:
            return  # it was asked for twice, and answered twice
        if drawn.ring != self.ring:  # the buffer began anew: what was noted is of decisions that it does not have
            self._noted.clear()
            self._poison.clear()
        self.ring, self.size, self.reuse = drawn.ring, drawn.size, drawn.reuse
        if "lag" in arrays:
            self.lags.append(arrays["lag"].astype(np.int64))
            self._fresh += arrays["lag"].size
        self._here.append((drawn, sample))

    def notes(self) -> Arrays:
        """Return, once, what was found out about decisions."""
        found = {}
        if self._noted:
            found["index"], found["error"] = map(np.concatenate, zip(*self._noted, strict=True))
        if self._poison:
            found["poison"] = np.concatenate(self._poison)
        self._noted, self._poison = [], []
        return found

    # --- learners.replay.Source ------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin an update."""
        self._last = False

    def due(self) -> bool:
        """Whether there is one more minibatch in this update; waits for it, but not for ever."""
        if self._last and self._leads:
            return False
        self._serve(0)  # also if there is one: so that the next ones are under way
        for _ in range(RESTS):
            if self._here or self._last:
                break
            self._serve(REST)
        if self._here and self._here[0][1] is None:
            self._here.popleft()  # decisions came in, but nothing is due yet
            return False
        return bool(self._here)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Return it; the buffer drew it, with its own random numbers."""
        drawn, sample = self._here.popleft()
        assert sample is not None, "due() says whether there is one"
        self._last = drawn.left == 0
        return sample

    def prioritise(self, index: Index, error: npt.NDArray[np.floating[Any]]) -> None:
        """Note how wrong the network was about decisions."""
        self._noted.append((index, error.astype(np.float64)))

    def drop(self, index: Index) -> None:
        """Let these decisions be drawn no more."""
        self._poison.append(index)

    def fresh(self) -> int:
        """Return how many decisions came in since this was asked last."""
        fresh, self._fresh = self._fresh, 0
        return fresh


@dataclass(slots=True, kw_only=True)
class RemoteTrainee(Trainee):
    """A trainee whose segments go to a buffer process."""

    elsewhere: ClassVar[bool] = True

    algorithm: ValueLearning
    served: RemoteReplay

    def _update(self, between: Callable[[], None]) -> tuple[dict[str, float], npt.NDArray[np.int64]]:
        self.served.begin()
        metrics = self.algorithm.learn(self.served, self.rng, between)
        lag = np.concatenate([*self.served.lags, np.zeros(0, np.int64)])
        self.served.lags.clear()
        return metrics, lag

    @property
    def full(self) -> bool:
        """Whether there is a minibatch to begin an update with."""
        return self.served.full


class BufferClient:
    """The line from a learner to its buffer process: weights and wishes go out, minibatches come in."""

    def __init__(self, session: str, buffer: Client, clock: Callable[[], float]) -> None:
        self._session, self._buffer, self._clock = session, buffer, clock
        self._told: dict[PlayerId, float] = {}  # when the buffer was last told what need not be told often
        self.address = ""  # where collectors find the buffer
        self.metrics: dict[str, float] = {}
        self.malformed = 0

    def meet(self) -> None:
        """Find out where the buffer is, as collectors have to be told before they send anything."""
        if not self.address and self._due(PlayerId("")):
            self._buffer.send(FindBuffer(session=self._session))
            self.serve({}, 0)

    def serve(self, trainees: Mapping[PlayerId, Trainee], timeout: float) -> list[RemoteTrainee]:
        """Ask for minibatches, wait up to `timeout` seconds for some; return whose arrived."""
        served = {player: t for player, t in trainees.items() if isinstance(t, RemoteTrainee)}
        for trainee in served.values():
            self._ask(trainee)
        arrived = []
        for message, arrays in self._buffer.receive(timeout):
            if isinstance(message, BufferStatus):
                self._watched(message, served)
            elif isinstance(message, Refused):
                log.warning("the buffer refused what was sent: %s", message.reason)
            elif isinstance(message, SampleReply) and message.session == self._session:
                asked = served.get(message.player)
                if asked is not None and self._take_in(asked, message, arrays):
                    arrived.append(asked)
        return arrived

    def publish(self, trainee: Trainee) -> None:
        """Send new weights, which the buffer gives to collectors."""
        if trainee.elsewhere:
            message = Weights(player=trainee.player, incarnation=trainee.incarnation, version=trainee.version)
            self._buffer.send(message, {"flat": trainee.weights})

    def give_up(self, trainee: Trainee) -> None:
        """Tell the buffer that nobody will draw the decisions of a player."""
        if trainee.elsewhere:
            player, incarnation = trainee.player, trainee.incarnation
            self._buffer.send(ReleasePlayer(session=self._session, player=player, incarnation=incarnation))

    def _ask(self, trainee: RemoteTrainee) -> None:
        if trainee.stopped:
            if self._due(trainee.player):
                self.give_up(trainee)
            return
        if not trainee.train:
            return
        served, now = trainee.served, self._clock()
        served.ask()
        for request, asked in served.open.items():
            if now - asked >= PATIENCE and self._draw(trainee, request):
                served.open[request] = now

    def _draw(self, trainee: RemoteTrainee, request: int) -> bool:
        wish = SampleRequest(
            session=self._session,
            player=trainee.player,
            incarnation=trainee.incarnation,
            request=request,
            ring=trainee.served.ring,
        )
        return self._buffer.send(wish, trainee.served.notes())

    def _due(self, player: PlayerId) -> bool:
        due = self._clock() - self._told.get(player, float("-inf")) >= PATIENCE
        if due:
            self._told[player] = self._clock()
        return due

    def _watched(self, status: BufferStatus, served: Mapping[PlayerId, RemoteTrainee]) -> None:
        self.address, self.metrics = status.address, status.metrics
        for player, trainee in served.items():
            incarnation, version = status.known.get(player, (-1, -1))
            if incarnation == trainee.incarnation and version <= NEWEST:
                trainee.overtake(version)
            if (incarnation, version) != (trainee.incarnation, trainee.version):
                self.publish(trainee)

    def _take_in(self, trainee: RemoteTrainee, drawn: SampleReply, arrays: Arrays) -> bool:
        if drawn.incarnation != trainee.incarnation:
            return False
        try:
            trainee.served.arrived(drawn, arrays)
        except ValueError as error:
            self.malformed += 1
            log.warning("the buffer drew nonsense for %s: %s", trainee.player, error)
            return False
        return True
