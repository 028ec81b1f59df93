"""The settings of evolution strategies."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.config import AlgoConfig


@dataclass(kw_only=True, slots=True)
class ESConfig(AlgoConfig):
    """Evolution strategies. `batch` counts episodes; gamma is not used: an episode counts by its whole return."""

    algorithm: ClassVar[str] = "learners.algorithms.es:ES"
    teams: ClassVar[str] = "jointly"
    normalises: ClassVar[bool] = False  # observations do not travel
    central_critic: ClassVar[bool] = False
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

    @property
    def weight_noise(self) -> float:
        """The deviation of the noise on the weights in each training episode."""
        return self.sigma
