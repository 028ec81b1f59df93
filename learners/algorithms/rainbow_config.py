"""The settings of Rainbow."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.c51_config import C51Config


@dataclass(kw_only=True, slots=True)
class RainbowConfig(C51Config):
    """C51 that is double, duelling, n-step, prioritised and noisy."""

    algorithm: ClassVar[str] = "learners.algorithms.rainbow:Rainbow"
    name: str = "rainbow"
    double: bool = True  # let the network choose and the target network judge the next action
    n_step: int = 3  # rewards that are summed before the rest is estimated
    priority: float = 0.5  # sample a decision in proportion to this power of its KL divergence; 0: uniformly
    epsilon: float = 0.0  # how often anything is done at random, at first: noise explores instead
    epsilon_final: float = 0.0  # and after epsilon_decisions
