"""The settings that algorithms have in common whose networks output a value for each action."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.replay_config import ReplayConfig


@dataclass(kw_only=True, slots=True)
class ValueConfig(ReplayConfig):
    """Learning values of actions from a replay; play is epsilon-greedy."""

    head: ClassVar[str] = "values"
    actions: ClassVar[tuple[str, ...]] = ("one choice",)
    normalises: ClassVar[bool] = True
    explores: ClassVar[str] = "epsilon"
    double: bool = True  # let the network choose and the target network judge the next action
    epsilon: float = 1.0  # how often anything is done at random, at first
    epsilon_final: float = 0.05  # and after epsilon_decisions
    epsilon_decisions: int = 50_000  # decisions over which epsilon falls
    epsilon_spread: float = 0.0  # slot i of n explores with epsilon ** (1 + this * i / (n - 1)); 7: as Ape-X does

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ReplayConfig.__post_init__(self)
        if not all(0 <= rate <= 1 for rate in (self.epsilon, self.epsilon_final)):
            raise ValueError("algo: epsilon and epsilon_final must be between 0 and 1")
        if self.epsilon_spread < 0:
            raise ValueError(f"algo.epsilon_spread={self.epsilon_spread:g} must not be negative; 0: all slots alike")

    def exploration(self, decisions: int) -> float:
        """Return epsilon after this many decisions.

        >>> ValueConfig(epsilon=1.0, epsilon_final=0.2, epsilon_decisions=100).exploration(50)
        0.6
        """
        passed = min(1.0, decisions / self.epsilon_decisions) if self.epsilon_decisions else 1.0
        return self.epsilon + (self.epsilon_final - self.epsilon) * passed

    @property
    def spread(self) -> float:
        """By how much the slots of a collector differ in epsilon."""
        return self.epsilon_spread
