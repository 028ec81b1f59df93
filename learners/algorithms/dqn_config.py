"""The settings of DQN."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.replay_config import ReplayConfig


@dataclass(kw_only=True, slots=True)
class DQNConfig(ReplayConfig):
    """Deep Q-networks: double, duelling, n-step, prioritised; with epsilon_spread over many slots, Ape-X."""

    algorithm: ClassVar[str] = "learners.algorithms.dqn:DQN"
    name: str = "dqn"
    duelling: bool = True  # learn the value of a situation and what each action adds to it apart
