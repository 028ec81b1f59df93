"""The settings of VDN."""

from dataclasses import dataclass
from typing import ClassVar

from league.segment import Segments
from learners.algorithms.replay_config import ReplayConfig
from learners.steps import Steps, joint_steps_of


@dataclass(kw_only=True, slots=True)
class VDNConfig(ReplayConfig):
    """Value decomposition: what a team does is worth the sum of what its agents do."""

    algorithm: ClassVar[str] = "learners.algorithms.vdn:VDN"
    name: str = "vdn"
    n_step: int = 1  # rewards that are summed before the rest is estimated

    def steps_of(self, segments: Segments) -> Steps:
        """Return what the replay takes in: what the agents of the seat did together."""
        return joint_steps_of(segments, self.n_step, self.gamma)
