"""The settings of QMIX."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.vdn_config import VDNConfig


@dataclass(kw_only=True, slots=True)
class QMIXConfig(VDNConfig):
    """Monotonic value mixing: the joint value is monotone in each agent's value."""

    algorithm: ClassVar[str] = "learners.algorithms.qmix:QMIX"
    name: str = "qmix"
    mixer_units: int = 32  # of the mixer, which combines the agents' values
    mixer_hidden: int = 64  # of the networks that compute the mixer's weights from the observations of all agents

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        VDNConfig.__post_init__(self)
        if min(self.mixer_units, self.mixer_hidden) < 1:
            raise ValueError("algo: mixer_units and mixer_hidden must be at least 1")
