"""The settings of DDPG."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.noise_config import NoiseConfig


@dataclass(kw_only=True, slots=True)
class DDPGConfig(NoiseConfig):
    """Deep deterministic policy gradient: a policy climbs the slope of its critic."""

    algorithm: ClassVar[str] = "learners.algorithms.ddpg:DDPG"
    critics: ClassVar[int] = 1
    name: str = "ddpg"
