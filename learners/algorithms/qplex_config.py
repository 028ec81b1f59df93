"""The settings of QPLEX."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.vdn_config import VDNConfig


@dataclass(kw_only=True, slots=True)
class QPLEXConfig(VDNConfig):
    """Duplex duelling: the best joint action is the best of each agent, and joint values are otherwise free."""

    algorithm: ClassVar[str] = "learners.algorithms.qplex:QPLEX"
    name: str = "qplex"
    kernels: int = 4  # products that make up how much an agent's advantage counts in a joint action
    mixer_hidden: int = 64  # of the networks that compute the mixer's weights from the observations of all agents

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        VDNConfig.__post_init__(self)
        if min(self.kernels, self.mixer_hidden) < 1:
            raise ValueError("algo: kernels and mixer_hidden must be at least 1")
