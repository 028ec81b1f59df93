"""The settings of DQN."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.value_config import ValueConfig


@dataclass(kw_only=True, slots=True)
class DQNConfig(ValueConfig):
    """Deep Q-networks: double, duelling, n-step, prioritised; with epsilon_spread over many slots, Ape-X."""

    algorithm: ClassVar[str] = "learners.algorithms.dqn:DQN"
    remembers: ClassVar[bool] = True
    name: str = "dqn"
    duelling: bool = True  # separate heads for the value of a state and the advantage of each action
    rescale: bool = False  # learn values on a scale on which large returns are closer to each other, as R2D2 does
    burn_in: int = 0  # with a memory: first ticks of a lane that only update the stored memory
    peak: float = 0.9  # with a memory: a lane's priority is this much of its largest error, and the rest of their mean

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ValueConfig.__post_init__(self)
        if self.burn_in < 0 or not 0 <= self.peak <= 1:
            raise ValueError("algo.burn_in must not be negative, algo.peak must be between 0 and 1")
