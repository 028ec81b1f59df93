"""An algorithm that raises in every update: for tests that start real processes."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.ppo import PPO
from learners.algorithms.ppo_config import PPOConfig


@dataclass(kw_only=True)
class BrokenConfig(PPOConfig):
    """The settings of PPO."""

    algorithm: ClassVar[str] = "faulty_algorithm:Broken"
    name: str = "faulty_algorithm:BrokenConfig"


class Broken(PPO):
    """PPO up to its first update."""

    updates = 0

    def update(self, batch, rng, between=lambda: None):
        self.updates += 1
        raise RuntimeError(f"update {id(batch)} is broken, as it was told")
