"""The settings of QR-DQN."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.value_config import ValueConfig


@dataclass(kw_only=True, slots=True)
class QRDQNConfig(ValueConfig):
    """Distributions of returns by quantile regression."""

    algorithm: ClassVar[str] = "learners.algorithms.qr_dqn:QRDQN"
    head: ClassVar[str] = "quantiles"
    name: str = "qr_dqn"
    kappa: float = 1.0  # errors of a quantile up to this count by their square, larger ones linearly
    double: bool = False  # let the network choose and the target network judge the next action
    n_step: int = 1  # rewards that are summed before the rest is estimated
    priority: float = 0.0  # sample a decision in proportion to this power of its error; 0: uniformly

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ValueConfig.__post_init__(self)
        if self.kappa <= 0:
            raise ValueError(f"algo.kappa must be positive, got {self.kappa}")
