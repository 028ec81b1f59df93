"""The settings of C51."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.value_config import ValueConfig


@dataclass(kw_only=True, slots=True)
class C51Config(ValueConfig):
    """Distributions of returns over fixed atoms; policy.support must hold the returns of the game, discounted."""

    algorithm: ClassVar[str] = "learners.algorithms.c51:C51"
    head: ClassVar[str] = "atoms"
    name: str = "c51"
    double: bool = False  # let the network choose and the target network judge the next action
    n_step: int = 1  # rewards that are summed before the rest is estimated
    priority: float = 0.0  # sample a decision in proportion to this power of its KL divergence; 0: uniformly
