"""The settings of VDN."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.replay_config import ReplayConfig


@dataclass(kw_only=True, slots=True)
class VDNConfig(ReplayConfig):
    """Value decomposition: what a team does is worth the sum of what its agents do."""

    algorithm: ClassVar[str] = "learners.algorithms.vdn:VDN"
    name: str = "vdn"
    n_step: int = 1  # rewards that are summed before the rest is estimated
