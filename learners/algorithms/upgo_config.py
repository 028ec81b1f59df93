"""The settings of the actor-critic of AlphaStar."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.impala_config import IMPALAConfig


@dataclass(kw_only=True, slots=True)
class UPGOConfig(IMPALAConfig):
    """The actor-critic of AlphaStar: V-trace, upgoing policy updates, TD(lambda). One pass over each batch."""

    algorithm: ClassVar[str] = "learners.algorithms.upgo:UPGO"
    name: str = "upgo"
    td_lambda: float = 0.8  # how far the targets of values look ahead: 1 as far as the segment goes
    upgo_coef: float = 1.0  # weight of the upgoing policy update, beside that of V-trace with weight 1

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        IMPALAConfig.__post_init__(self)
        if not 0 <= self.td_lambda <= 1:
            raise ValueError(f"algo.td_lambda must lie between 0 and 1, got {self.td_lambda}")
        if self.upgo_coef < 0:
            raise ValueError(f"algo.upgo_coef must not be negative, got {self.upgo_coef}")
