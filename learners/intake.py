"""The intake of a learner: segments from collectors, minibatches from the buffer process, and weights back to both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from league.ids import PlayerId
from league.metrics import BUFFER, INFERENCE, MALFORMED
from learners.remote_replay import BufferClient
from learners.segment_server import SegmentServer
from learners.trainee import Trainee

Trainees = Mapping[PlayerId, Trainee]


@dataclass(slots=True, kw_only=True)
class Intake:
    """Receives what trainees learn from, and publishes their weights.

    intake.wait(trainees, timeout=0.1)
    intake.publish(trainee)
    """

    segments: SegmentServer
    buffer: BufferClient | None  # None: replays are in this process
    clock: Callable[[], float]
    waited: float = 0.0  # seconds spent in `wait` since the last report

    def receive(self, trainees: Trainees, timeout: float = 0) -> None:
        """Take in segments and minibatches, waiting up to `timeout` seconds."""
        if self.buffer is None:
            self.segments.serve(trainees, timeout)
            return
        self.segments.serve(trainees, 0)
        for trainee in self.buffer.serve(trainees, timeout):
            if trainee.full_since is None:
                trainee.full_since = self.segments.round

    def wait(self, trainees: Trainees, timeout: float) -> None:
        """Receive, and count the time as waiting for data."""
        before = self.clock()
        self.receive(trainees, timeout)
        self.waited += self.clock() - before

    def publish(self, trainee: Trainee) -> None:
        """Send the weights of a new version to whoever acts with them."""
        self.segments.publish(trainee)
        if self.buffer is not None:
            self.buffer.publish(trainee)

    def forget(self, trainee: Trainee) -> None:
        """Stop serving a player that trains here no more."""
        self.segments.forget(trainee.player)
        if self.buffer is not None:
            self.buffer.release(trainee)

    def metrics(self) -> dict[str, float]:
        """Return counters of this process, and what the processes beside it report of themselves."""
        metrics = {MALFORMED: float(self.segments.malformed)}
        metrics |= {INFERENCE + name: value for name, value in self.segments.inference_metrics.items()}
        if self.buffer is not None:
            metrics |= {BUFFER + name: value for name, value in self.buffer.metrics.items()}
        return metrics
