"""A player that collectors feed: its segments come in here, its weights and credits go out. No torch."""

from dataclasses import dataclass, field
from typing import ClassVar

from league.ids import PlayerId
from league.policies.layout import FloatArray
from league.segment import Segments
from learners.batcher import Batcher

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
    train: bool = True
    full_since: int | None = None  # place of its full batch in the queue, None if there is none
    training: dict[str, int] = field(default_factory=dict)  # decisions of each session in the present update
    stopped: str = ""  # why it trains no more, though the league wants it to
    dropped_stopped: int = 0  # decisions that came nevertheless
    horizon: int | None = None  # the last version that can have been lost, as it was when somebody first told of one

    def held(self, session: str) -> int:
        """Return how many decisions of a session lie here: waiting, or being trained on."""
        return self.batcher.waiting(session) + self.training.get(session, 0)

    def offer(self, segments: Segments, session: str) -> bool:
        """Keep segments for the next batch; False if they are of no use (counted, in decisions)."""
        if self.stopped:
            self.dropped_stopped += segments.decisions
            return False
        return self.train and self.batcher.add(segments, session, self.version)

    def skip_lost(self, version: int) -> bool:
        """Jump past a version that a learner published and lost by dying before its checkpoint.

        A peer may lie: it cannot push the version further than a learner can have come, however often it tries.
        """
        if version <= self.version:
            return False
        if self.horizon is None:
            self.horizon = self.version + REACH
        return version <= self.horizon and self.advance(version + 1)

    def advance(self, version: int) -> bool:
        """Go on from a later version, which another process has already."""
        if version <= self.version:
            return False
        self.version = version
        self.batcher.expire(self.version)
        return True
