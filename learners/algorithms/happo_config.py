"""The settings of HAPPO."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.ppo_config import PPOConfig


@dataclass(kw_only=True, slots=True)
class HAPPOConfig(PPOConfig):
    """Heterogeneous-agent PPO: the agents of a seat are updated one after the other."""

    algorithm: ClassVar[str] = "learners.algorithms.happo:HAPPO"
    teams: ClassVar[str] = "jointly"
    takes_turns: ClassVar[bool] = False
    name: str = "happo"
    normalise_values: bool = True  # learn values at a running mean of 0 and deviation of 1
