"""The settings of R-NaD."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.ppo_config import PPOConfig


@dataclass(kw_only=True, slots=True)
class RNADConfig(PPOConfig):
    """Regularised Nash dynamics with the clipped loss of PPO."""

    algorithm: ClassVar[str] = "learners.algorithms.rnad:RNAD"
    name: str = "rnad"
    eta: float = 0.1  # how much of log policy(a) - log reference(a) is taken off the reward, as a share of the payoff
    payoff: float = 0.0  # the largest return of a game, which rewards are divided by; 0: the largest reward so far
    magnet: str = "copy"  # the reference: "copy" of the own weights; "uniform"; a snapshot file
    magnet_every: int = 100  # updates after which a copy is refreshed
    gae_lambda: float = 1.0  # how far advantages look ahead: 1 to the end of the episode
    gamma: float = 1.0  # discount for each decision of an agent
    entropy: float = 0.0  # weight of the entropy bonus at the start
    max_grad_norm: float = 1.0  # longer gradients are shortened to this

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        PPOConfig.__post_init__(self)
        if min(self.eta, self.payoff) < 0:
            raise ValueError("algo: eta and payoff must not be negative")
        if self.magnet == "none":
            raise ValueError(
                "algo=rnad needs a reference: algo.magnet=copy, uniform or a snapshot file. (Or algo=ppo.)"
            )
