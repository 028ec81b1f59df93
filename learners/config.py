"""The settings of a learner; apart, because processes that never import torch read configs, too."""

from dataclasses import dataclass

REPLAYS = ("learner", "buffer")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(kw_only=True, slots=True)
class LearnerConfig:
    """How a learner runs, and what it reports."""

    heartbeat: float = 2.0  # seconds between two reports to the coordinator, at most
    candidate_decisions: int = 65536  # trained decisions between two candidates of a player
    device: str = "auto"  # "cpu"; "cuda": each rank has its GPU; "auto": GPUs if there are any
    join_seconds: float = 120.0  # time for all ranks of a learner to come together
    max_rollbacks: int = 10  # updates in a row that are not finite, after which a player's training stops
    replay_in: str = "learner"  # where replays are: "learner" inside it; "buffer" in a process beside it

    def __post_init__(self) -> None:
        """Refuse what would never report or never write, and devices that there are not."""
        if min(self.heartbeat, self.candidate_decisions, self.join_seconds, self.max_rollbacks) <= 0:
            raise ValueError("learner: heartbeat, candidate_decisions, join_seconds and max_rollbacks must be positive")
        if self.device not in DEVICES:
            raise ValueError(f"learner.device: unknown {self.device!r}; choose one of {', '.join(DEVICES)}")
        if self.replay_in not in REPLAYS:
            raise ValueError(f"learner.replay_in: unknown {self.replay_in!r}; choose one of {', '.join(REPLAYS)}")
