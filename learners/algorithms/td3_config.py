"""The settings of TD3."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.noise_config import NoiseConfig


@dataclass(kw_only=True, slots=True)
class TD3Config(NoiseConfig):
    """Twin delayed DDPG: the lower of two critics, noise on target actions, a policy that moves more rarely."""

    algorithm: ClassVar[str] = "learners.algorithms.td3:TD3"
    name: str = "td3"
    target_steps: int = 2  # gradient steps after which the target networks move
    policy_steps: int = 2  # gradient steps of the critics for each of the policy
    smoothing: float = 0.2  # deviation of the noise on actions of the target policy
    smoothing_most: float = 0.5  # bound of that noise

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        NoiseConfig.__post_init__(self)
        if self.policy_steps < 1 or min(self.smoothing, self.smoothing_most) < 0:
            raise ValueError("algo.policy_steps must be at least 1, smoothing and smoothing_most not negative")
