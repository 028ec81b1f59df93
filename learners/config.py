"""The settings of a learner; apart, because processes that never import torch read configs, too."""

from dataclasses import dataclass


@dataclass(kw_only=True, slots=True)
class LearnerConfig:
    """How a learner reports."""

    heartbeat: float = 2.0  # seconds between two reports to the coordinator, at most
    candidate_decisions: int = 65536  # trained decisions between two candidates of a player

    def __post_init__(self) -> None:
        """Refuse what would never report or never write."""
        if self.heartbeat <= 0 or self.candidate_decisions < 1:
            raise ValueError("learner: heartbeat and candidate_decisions must be positive")
