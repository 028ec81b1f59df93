"""The settings of SAC."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.off_policy_config import OffPolicyConfig


@dataclass(kw_only=True, slots=True)
class SACConfig(OffPolicyConfig):
    """Soft actor-critic: as much return as possible at a given entropy, which a temperature holds."""

    algorithm: ClassVar[str] = "learners.algorithms.sac:SAC"
    name: str = "sac"
    temperature: float = 1.0  # what a nat of entropy is worth, at first
    target_entropy: float | None = -1.0  # of each number, that the temperature aims at; None: it stays as it is

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        OffPolicyConfig.__post_init__(self)
        if self.temperature <= 0:
            raise ValueError("algo.temperature must be positive")
