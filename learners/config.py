"""The settings of a learner, without torch: every process reads configs."""

from dataclasses import dataclass

REPLAYS = ("learner", "buffer")
DEVICES = ("auto", "cpu", "cuda")
SHARES = ("ddp", "async", "gossip", "gossip_ring")
WRITTEN = "is written"  # in the log line of each candidate; the supervisor searches for it


@dataclass(kw_only=True, slots=True)
class LearnerConfig:
    """How a learner runs, and what it reports."""

    heartbeat: float = 2.0  # seconds between two reports to the coordinator, at most
    candidate_decisions: int = 65536  # trained decisions between two candidates of a player
    device: str = "auto"  # "cpu"; "cuda": each rank has its GPU; "auto": GPUs if there are any
    join_seconds: float = 120.0  # time for all ranks of a learner to come together
    share: str = "ddp"  # how ranks share what they learn: "ddp" in step; "async", "gossip" or "gossip_ring" unaligned
    max_rollbacks: int = 10  # updates in a row that are rolled back, after which a player's training stops
    max_weight: float = 1e6  # an update that makes a larger weight is rolled back, and so is one
    max_growth: float = 100.0  # after which the largest weight is so many times that of the last version (at least 1)
    ema: float = 0.0  # candidates are averages of versions, each weighs this share of the next one; 0: the newest one
    replay_in: str = "learner"  # where replays are: "learner" inside it; "buffer" in a process beside it
    keep_replay: bool = False  # write replays with checkpoints: after a restart players go on with what they had

    def __post_init__(self) -> None:
        """Refuse values with which it would never report or write, and unknown devices."""
        for name in ("heartbeat", "candidate_decisions", "join_seconds", "max_rollbacks", "max_weight", "max_growth"):
            if not getattr(self, name) > 0:
                raise ValueError(f"learner.{name} must be positive, got {getattr(self, name)}")
        if not 0 <= self.ema < 1:
            raise ValueError(f"learner.ema must be at least 0 and less than 1, got {self.ema}")
        if self.device not in DEVICES:
            raise ValueError(f"learner.device: unknown {self.device!r}; choose one of {', '.join(DEVICES)}")
        if self.share not in SHARES:
            raise ValueError(f"learner.share: unknown {self.share!r}; choose one of {', '.join(SHARES)}")
        if self.share != "ddp" and self.replay_in == "buffer":
            raise ValueError(
                f"learner.share={self.share} needs learner.replay_in=learner: buffers follow ranks in step"
            )
        if self.share != "ddp" and self.keep_replay:
            raise ValueError(
                f"learner.share={self.share} needs learner.keep_replay=false: replays are kept by ranks in step"
            )
        if self.replay_in not in REPLAYS:
            raise ValueError(f"learner.replay_in: unknown {self.replay_in!r}; choose one of {', '.join(REPLAYS)}")
