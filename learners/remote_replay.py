"""The learner's side of replays in a buffer process: minibatches are requested ahead, errors are sent back.

client = BufferClient(session="l1", buffer=client, clock=time.monotonic)
trainee = RemoteTrainee(..., replay=RemoteReplay(serve))
client.serve(trainees, timeout=0.02)        # requests minibatches and receives them
if trainee.full:
    trainee.learn(between)                  # one minibatch after the other, until none is due
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

AHEAD = 4  # minibatches here or under way while one is learned from
REPEAT_REQUEST = 1.0  # seconds before a minibatch is requested again: the buffer process may have died
REST = 0.01  # seconds that a learner waits at a time in the middle of an update ...
RESTS = 100  # ... and how often it does, before it ends the update


class RemoteReplay:
    """The minibatches of one player: a learners.replay.ReplaySource.

    `serve` requests minibatches and waits up to its argument for one; it is called in the middle of an update. Of
    several ranks one leads: an update ends when its buffer has nothing due, or when another rank has nothing left.
    """

    def __init__(self, serve: Callable[[float], None], ahead: int = AHEAD, leads: bool = True) -> None:
        self._serve, self._ahead, self._leads = serve, ahead, leads
        self._here: deque[tuple[SampleReply, Sample | None]] = deque()
        self._requests = count()
        self._last = False  # of this update
        self._errors: list[tuple[Index, npt.NDArray[np.float64]]] = []
        self._excluded: list[Index] = []
        self._fresh = 0
        self.open: dict[int, float] = {}  # requests under way, and when they were sent
        self.ring = ""  # that the newest minibatch is of
        self.size, self.reuse = 0, 0.0
        self.lags: list[npt.NDArray[np.int64]] = []  # of new decisions, until the trainee takes them

    @property
    def full(self) -> bool:
        """Whether there is a minibatch to begin an update with."""
        return bool(self._here)

    def open_requests(self) -> None:
        """Open as many requests as may be under way."""
        for _ in range(1 + self._ahead - len(self.open) - len(self._here)):
            self.open[next(self._requests)] = float("-inf")

    def arrived(self, drawn: SampleReply, arrays: Arrays) -> None:
        """Take in an answer; raise ValueError if it is no minibatch."""
        rest = {name: array for name, array in arrays.items() if name != "lag"}
        sample = Sample.of(rest) if rest else None
        if self.open.pop(drawn.request, None) is None:
            return  # requested twice, and answered twice
        if drawn.ring != self.ring:  # the buffer process restarted: it does not have these decisions
            self._errors.clear()
            self._excluded.clear()
        self.ring, self.size, self.reuse = drawn.ring, drawn.size, drawn.reuse
        if "lag" in arrays:
            self.lags.append(arrays["lag"].astype(np.int64))
            self._fresh += arrays["lag"].size
        self._here.append((drawn, sample))

    def take_errors(self) -> Arrays:
        """Return the new errors and exclusions, once."""
        found = {}
        if self._errors:
            found["index"], found["error"] = map(np.concatenate, zip(*self._errors, strict=True))
        if self._excluded:
            found["poison"] = np.concatenate(self._excluded)
        self._errors, self._excluded = [], []
        return found

    # --- learners.replay.ReplaySource ------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin an update."""
        self._last = False

    def due(self) -> bool:
        """Whether there is one more minibatch in this update; waits for it up to a limit."""
        if self._last and self._leads:
            return False
        self._serve(0)  # also if there is one, so that the next ones are under way
        for _ in range(RESTS):
            if self._here or self._last:
                break
            self._serve(REST)
        if self._here and self._here[0][1] is None:
            self._here.popleft()  # decisions came in, but nothing is due yet
            return False
        return bool(self._here)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Return it; the buffer process sampled it with its own generator."""
        drawn, sample = self._here.popleft()
        assert sample is not None, "due() says whether there is one"
        self._last = drawn.left == 0
        return sample

    def prioritise(self, index: Index, error: npt.NDArray[np.floating[Any]]) -> None:
        """Keep errors of the network for the buffer process."""
        self._errors.append((index, error.astype(np.float64)))

    def drop(self, index: Index) -> None:
        """Exclude decisions from sampling."""
        self._excluded.append(index)

    def fresh(self) -> int:
        """Return how many decisions came in since the last call."""
        fresh, self._fresh = self._fresh, 0
        return fresh


@dataclass(slots=True, kw_only=True)
class RemoteTrainee(Trainee):
    """A trainee whose segments go to a buffer process, and that learns from its minibatches."""

    elsewhere: ClassVar[bool] = True

    algorithm: ValueLearning
    replay: RemoteReplay

    def _update(self, between: Callable[[], None]) -> tuple[dict[str, float], npt.NDArray[np.int64]]:
        self.replay.begin()
        metrics = self.algorithm.learn(self.replay, self.rng, between)
        lag = np.concatenate([*self.replay.lags, np.zeros(0, np.int64)])
        self.replay.lags.clear()
        return metrics, lag

    @property
    def full(self) -> bool:
        """Whether there is a minibatch to begin an update with."""
        return self.replay.full


class BufferClient:
    """A learner's connection to its buffer process: weights and requests go out, minibatches come in."""

    def __init__(self, session: str, buffer: Client, clock: Callable[[], float]) -> None:
        self._session, self._buffer, self._clock = session, buffer, clock
        self._repeated: dict[PlayerId, float] = {}  # when a message that is repeated was last sent
        self.address = ""  # where collectors find the buffer
        self.metrics: dict[str, float] = {}
        self.malformed = 0

    def find_address(self) -> None:
        """Request the address of the buffer process, which collectors need before they send anything."""
        if not self.address and self._due(PlayerId("")):
            self._buffer.send(FindBuffer(session=self._session))
            self.serve({}, 0)

    def serve(self, trainees: Mapping[PlayerId, Trainee], timeout: float) -> list[RemoteTrainee]:
        """Request minibatches, wait up to `timeout` seconds for some; return the trainees that got one."""
        served = {player: t for player, t in trainees.items() if isinstance(t, RemoteTrainee)}
        for trainee in served.values():
            self._request_due(trainee)
        arrived = []
        for message, arrays in self._buffer.receive(timeout):
            if isinstance(message, BufferStatus):
                self._take_status(message, served)
            elif isinstance(message, Refused):
                log.warning("the buffer refused what was sent: %s", message.reason)
            elif isinstance(message, SampleReply) and message.session == self._session:
                asked = served.get(message.player)
                if asked is not None and self._take_in(asked, message, arrays):
                    arrived.append(asked)
        return arrived

    def publish(self, trainee: Trainee) -> None:
        """Send new weights, which the buffer process passes on to collectors."""
        if trainee.elsewhere:
            message = Weights(player=trainee.player, incarnation=trainee.incarnation, version=trainee.version)
            self._buffer.send(message, {"flat": trainee.weights})

    def release(self, trainee: Trainee) -> None:
        """Release the replay of a player: it will not be sampled any more."""
        if trainee.elsewhere:
            player, incarnation = trainee.player, trainee.incarnation
            self._buffer.send(ReleasePlayer(session=self._session, player=player, incarnation=incarnation))

    def _request_due(self, trainee: RemoteTrainee) -> None:
        if trainee.stopped:
            if self._due(trainee.player):
                self.release(trainee)
            return
        if not trainee.train:
            return
        replay, now = trainee.replay, self._clock()
        replay.open_requests()
        for request, asked in replay.open.items():
            if now - asked >= REPEAT_REQUEST and self._request(trainee, request):
                replay.open[request] = now

    def _request(self, trainee: RemoteTrainee, request: int) -> bool:
        message = SampleRequest(
            session=self._session,
            player=trainee.player,
            incarnation=trainee.incarnation,
            request=request,
            ring=trainee.replay.ring,
        )
        return self._buffer.send(message, trainee.replay.take_errors())

    def _due(self, player: PlayerId) -> bool:
        due = self._clock() - self._repeated.get(player, float("-inf")) >= REPEAT_REQUEST
        if due:
            self._repeated[player] = self._clock()
        return due

    def _take_status(self, status: BufferStatus, served: Mapping[PlayerId, RemoteTrainee]) -> None:
        self.address, self.metrics = status.address, status.metrics
        for player, trainee in served.items():
            incarnation, version = status.known.get(player, (-1, -1))
            if incarnation == trainee.incarnation and version <= NEWEST:
                trainee.skip_lost(version)
            if (incarnation, version) != (trainee.incarnation, trainee.version):
                self.publish(trainee)

    def _take_in(self, trainee: RemoteTrainee, drawn: SampleReply, arrays: Arrays) -> bool:
        if drawn.incarnation != trainee.incarnation:
            return False
        try:
            trainee.replay.arrived(drawn, arrays)
        except ValueError as error:
            self.malformed += 1
            log.warning("the buffer process sent a malformed minibatch of %s: %s", trainee.player, error)
            return False
        return True
