"""A player as the server of its segments sees it: the batch that fills, its weights and its version. No torch."""

from dataclasses import dataclass, field
from typing import ClassVar

from league.ids import PlayerId
from league.policies.layout import FloatArray
from learners.batcher import Batcher, Training

REACH = 1 << 16  # versions that a learner may have published and lost


@dataclass(slots=True, kw_only=True)
class FedPlayer:
    """A learning player in one incarnation, as collectors know it."""

    elsewhere: ClassVar[bool] = False  # whether its segments go to a buffer process instead

    player: PlayerId
    incarnation: int
    batcher: Batcher
    weights: FloatArray  # of this version: what collectors get, also in the middle of an update
    version: int = 0
    memory: int = 0  # numbers that its network remembers for each agent
    state: bool = False  # whether its critic sees the state of the whole game
    noise: int = 0  # of an evolving player: offsets of its noise table; 0: it learns from segments
    train: bool = True
    full_since: int | None = None  # round in which its batch became full; None: it is not full
    training: dict[str, int] = field(default_factory=dict)  # decisions of each session in the present update
    stopped: str = ""  # why its training stopped, though the league wants it to go on
    dropped_stopped: int = 0  # decisions that arrived nevertheless
    horizon: int | None = None  # the last version that can have been lost, set at the first report of one

    @property
    def full(self) -> bool:
        """Whether there is a batch to train on."""
        return self.batcher.full

    @property
    def takes(self) -> bool:
        """Whether collectors are to send it segments."""
        return self.train

    def held(self, session: str) -> int:
        """Return how many decisions of a session are here: waiting, or in the present update."""
        return self.batcher.waiting(session) + self.training.get(session, 0)

    def offer(self, segments: Training, session: str) -> bool:
        """Keep segments for the next batch; False: they are of no use, and counted as dropped."""
        if self.stopped:
            self.dropped_stopped += segments.units
            return False
        return self.train and self.batcher.add(segments, session, self.version)

    def skip_lost(self, version: int) -> bool:
        """Skip past a version that a learner published but lost, because it died before its checkpoint.

        A peer may lie, so all skips together are bounded by how far a learner can have come.
        """
        if version <= self.version:
            return False
        if self.horizon is None:
            self.horizon = self.version + REACH
        return version <= self.horizon and self.advance(version + 1)

    def advance(self, version: int) -> bool:
        """Continue from a later version, which another process has already."""
        if version <= self.version:
            return False
        self.version = version
        self.batcher.expire(self.version)
        if not self.full:
            self.full_since = None
        return True
