"""The settings of the vanilla policy gradient."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.config import ActorCriticConfig

BASELINES = ("value", "mean", "none")


@dataclass(kw_only=True, slots=True)
class VPGConfig(ActorCriticConfig):
    """Vanilla policy gradient: REINFORCE with a baseline, one gradient step for each batch."""

    algorithm: ClassVar[str] = "learners.algorithms.vpg:VPG"
    name: str = "vpg"
    batch: int = 1024  # decisions for each update, at least
    lr: float = 1e-3  # learning rate at the start
    entropy: float = 0.0  # weight of the entropy bonus at the start
    baseline: str = "value"  # what returns are compared with: "value" of the network, "mean" of the batch, "none"

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ActorCriticConfig.__post_init__(self)
        if self.baseline not in BASELINES:
            raise ValueError(f"algo.baseline: unknown {self.baseline!r}. Known: {', '.join(BASELINES)}.")
