"""The settings of magnetic mirror descent."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.config import ActorCriticConfig


@dataclass(kw_only=True, slots=True)
class MMDConfig(ActorCriticConfig):
    """Magnetic mirror descent: a KL divergence from the last policy instead of a clip, and one from a magnet."""

    algorithm: ClassVar[str] = "learners.algorithms.mmd:MMD"
    name: str = "mmd"
    minibatch: int = 1024  # decisions for each gradient step, about
    epochs: int = 4  # how often an update goes through its batch
    gae_lambda: float = 1.0  # how far advantages look ahead: 1 to the end of the episode
    gamma: float = 1.0  # discount for each decision of an agent
    entropy: float = 0.0  # weight of the entropy bonus at the start
    magnet: str = "uniform"  # policy to stay near: "uniform"; "copy" of the own weights; a snapshot file; "none"
    magnet_coef: float = 0.1  # weight of the KL divergence from the magnet at the start
    step_size: float = 1.0  # of mirror descent: 1 / step_size is the weight of the KL divergence from the last policy
    max_grad_norm: float = 1.0  # longer gradients are shortened to this

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ActorCriticConfig.__post_init__(self)
        if min(self.minibatch, self.epochs) < 1 or not self.step_size > 0:
            raise ValueError("algo: minibatch and epochs must be at least 1, step_size positive")
        if not 0 <= self.gae_lambda <= 1:
            raise ValueError(f"algo.gae_lambda must lie between 0 and 1, got {self.gae_lambda}")

    @property
    def passes(self) -> tuple[int, int]:
        """The number of epochs of an update, and of decisions in a gradient step."""
        return self.epochs, self.minibatch
