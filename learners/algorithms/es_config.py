"""The settings of evolution strategies."""

from dataclasses import dataclass
from typing import ClassVar

from league.policies.layout import PolicyConfig
from learners.algorithms.config import AlgoConfig


@dataclass(kw_only=True, slots=True)
class ESConfig(AlgoConfig):
    """Evolution strategies. `batch` counts episodes; gamma is not used: an episode counts by its whole return."""

    algorithm: ClassVar[str] = "learners.algorithms.es:ES"
    name: str = "es"
    batch: int = 128  # episodes for each update, at least
    lr: float = 0.05  # learning rate at the start
    sigma: float = 0.2  # deviation of the noise on the weights
    weight_decay: float = 0.0  # share of the weights, times lr, that each update takes away
    max_grad_norm: float = 1e6  # longer gradients are shortened to this; Adam makes their length unimportant
    max_lag: int = 4  # episodes begun with weights more versions old than this are dropped

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        AlgoConfig.__post_init__(self)  # super() does not work in a dataclass with slots
        if not 0 < self.sigma < 100 or self.weight_decay < 0 or self.batch < 2:
            raise ValueError("algo: sigma must be positive and below 100, weight_decay not negative, batch at least 2")

    def refuse(self, policy: PolicyConfig) -> None:
        """Raise ValueError if this algorithm cannot train such a network."""
        AlgoConfig.refuse(self, policy)
        if policy.normalise:
            raise ValueError(
                "policy.normalise=true needs observations, and algo=es learns from returns only: set "
                "policy.normalise=false, or choose an actor-critic such as algo=ppo"
            )

    @property
    def weight_noise(self) -> float:
        """The deviation of the noise on the weights in each training episode."""
        return self.sigma
