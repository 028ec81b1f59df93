"""The settings of PPO."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.config import ActorCriticConfig


@dataclass(kw_only=True, slots=True)
class PPOConfig(ActorCriticConfig):
    """Proximal policy optimization."""

    algorithm: ClassVar[str] = "learners.algorithms.ppo:PPO"
    name: str = "ppo"
    minibatch: int = 512  # decisions for each gradient step, about
    epochs: int = 4  # how often an update goes through its batch
    gae_lambda: float = 0.95  # how far advantages look ahead
    clip: float = 0.2  # how far the probability ratio may move
    value_clip: float | None = None  # how far a value may move in one update; None: any distance
    target_kl: float | None = None  # an update ends once its approximate KL exceeds this; None: never

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ActorCriticConfig.__post_init__(self)
        if min(self.minibatch, self.epochs) < 1:
            raise ValueError("algo: minibatch and epochs must be at least 1")
        if not 0 <= self.gae_lambda <= 1:
            raise ValueError(f"algo.gae_lambda must lie between 0 and 1, got {self.gae_lambda}")
        for name in ("clip", "value_clip", "target_kl"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"algo.{name} must be positive, got {value}")

    @property
    def passes(self) -> tuple[int, int]:
        """The number of epochs of an update, and of decisions in a gradient step."""
        return self.epochs, self.minibatch

    @property
    def max_kl(self) -> float | None:
        """The approximate KL divergence at which an update ends; None: no limit."""
        return self.target_kl
