"""The settings of QMIX."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.vdn_config import VDNConfig


@dataclass(kw_only=True, slots=True)
class QMIXConfig(VDNConfig):
    """Monotonic value mixing: what a team does is worth more if what one of its agents does is, by how much depends."""

    algorithm: ClassVar[str] = "learners.algorithms.qmix:QMIX"
    name: str = "qmix"
    mixer_units: int = 32  # of the mixer, which puts the agents' values together
    mixer_hidden: int = 64  # of the networks that make the mixer's weights from what all agents see

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        VDNConfig.__post_init__(self)
        if min(self.mixer_units, self.mixer_hidden) < 1:
            raise ValueError("algo: mixer_units and mixer_hidden must be at least 1")
