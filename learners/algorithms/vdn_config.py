"""The settings of VDN."""

from dataclasses import dataclass
from typing import ClassVar

from league.segment import Segments
from learners.algorithms.value_config import ValueConfig
from learners.steps import Steps, joint_steps_of


@dataclass(kw_only=True, slots=True)
class VDNConfig(ValueConfig):
    """Value decomposition: the joint value is the sum of the agents' values."""

    algorithm: ClassVar[str] = "learners.algorithms.vdn:VDN"
    teams: ClassVar[str] = "jointly"
    takes_turns: ClassVar[bool] = False
    normalises: ClassVar[bool] = False
    name: str = "vdn"
    n_step: int = 1  # rewards that are summed before the rest is estimated

    def steps_of(self, segments: Segments) -> Steps:
        """Return the cells of the replay: the joint steps of the agents of a seat."""
        return joint_steps_of(segments, self.n_step, self.gamma)
