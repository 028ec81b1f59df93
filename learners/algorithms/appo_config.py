"""The settings of APPO."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.ppo_config import PPOConfig


@dataclass(kw_only=True, slots=True)
class APPOConfig(PPOConfig):
    """Asynchronous PPO: the clip of PPO on data that lags, with advantages corrected by V-trace."""

    algorithm: ClassVar[str] = "learners.algorithms.appo:APPO"
    name: str = "appo"
    epochs: int = 2  # how often an update goes through its batch
    max_lag: int = 8  # segments decided by weights more versions old than this are dropped
    rho_max: float = 1.0  # the most that a decision's importance weight counts
    c_max: float = 1.0  # the most that it counts for the decisions before it

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        PPOConfig.__post_init__(self)
        if not 0 < self.c_max <= self.rho_max:
            raise ValueError("algo: c_max must be positive, and rho_max at least c_max")
