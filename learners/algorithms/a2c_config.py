"""The settings of A2C."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.config import ActorCriticConfig


@dataclass(kw_only=True, slots=True)
class A2CConfig(ActorCriticConfig):
    """Advantage actor-critic: one gradient step for each batch."""

    algorithm: ClassVar[str] = "learners.algorithms.a2c:A2C"
    name: str = "a2c"
    batch: int = 512  # decisions for each update, at least
    lr: float = 1e-3  # learning rate at the start
    normalise_advantages: bool = False  # to mean 0 and deviation 1 over the batch
    gae_lambda: float = 1.0  # how far advantages look ahead: 1 as far as the segment goes

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ActorCriticConfig.__post_init__(self)
        if not 0 <= self.gae_lambda <= 1:
            raise ValueError(f"algo.gae_lambda must lie between 0 and 1, got {self.gae_lambda}")
