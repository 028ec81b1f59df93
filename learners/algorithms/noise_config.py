"""The settings of algorithms whose policy is deterministic, and explores by noise."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.off_policy_config import OffPolicyConfig


@dataclass(kw_only=True, slots=True)
class NoiseConfig(OffPolicyConfig):
    """The network outputs the action; collectors add Gaussian noise to it."""

    head: ClassVar[str] = "actions"
    explores: ClassVar[str] = "noise"
    noise: float = 1.0  # deviation of the noise that live players add to actions between -1 and 1, at first
    noise_final: float = 0.1  # and after noise_decisions
    noise_decisions: int = 2000  # decisions over which it falls
    noise_spread: float = 0.0  # slot i of n adds noise ** (1 + this * i / (n - 1))

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        OffPolicyConfig.__post_init__(self)
        if min(self.noise, self.noise_final, self.noise_decisions, self.noise_spread) < 0:
            raise ValueError("algo: noise, noise_final, noise_decisions and noise_spread must not be negative")

    def exploration(self, decisions: int) -> float:
        """Return the deviation of the noise after this many decisions.

        >>> NoiseConfig(noise=1.0, noise_final=0.2, noise_decisions=100).exploration(50)
        0.6
        """
        passed = min(1.0, decisions / self.noise_decisions) if self.noise_decisions else 1.0
        return self.noise + (self.noise_final - self.noise) * passed

    @property
    def spread(self) -> float:
        """By how much the slots of a collector differ in their noise."""
        return self.noise_spread
