"""The settings of discrete SAC."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.sac_config import SACConfig


@dataclass(kw_only=True, slots=True)
class DiscreteSACConfig(SACConfig):
    """Soft actor-critic for one choice: values of all options, and exact expectations over the legal ones."""

    algorithm: ClassVar[str] = "learners.algorithms.discrete_sac:DiscreteSAC"
    actions: ClassVar[tuple[str, ...]] = ("one choice",)
    name: str = "discrete_sac"
    batch: int = 1024  # new decisions for each version of the weights, at least
    minibatch: int = 256  # decisions for each gradient step, sampled from the replay
    lr: float = 3e-4  # learning rate at the start
    samples_per_insert: float = 8.0  # how often each decision is learned from, on average
    temperature: float = 0.1  # what a nat of entropy is worth, at first
    target_entropy: float | None = 0.3  # share of the largest entropy of the legal options; None: it stays as it is

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        SACConfig.__post_init__(self)
        if self.target_entropy is not None and not 0 <= self.target_entropy <= 1:
            raise ValueError("algo.target_entropy of one choice is a share between 0 and 1")
