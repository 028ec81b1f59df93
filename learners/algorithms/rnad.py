"""Regularised Nash dynamics (Perolat et al. 2021, 2022) with the clipped loss of PPO.

Rewards are regularised towards a reference policy, the magnet:

    r' = r / payoff - eta * (log policy(a) - log reference(a))

The game of r' has one equilibrium, and learning dynamics approach it instead of circling around it. After
`magnet_every` updates the reference becomes the present policy, and the equilibria of the successive games approach
that of the game itself. Each player's own terms are subtracted; those of the opponent, which would keep the sum of both
at zero, are not in a player's segments. In a matrix game that changes no gradient.

Legend of shapes: see learners.decisions.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from league.policies.layout import FloatArray, PolicyConfig
from league.spec import EnvSpec
from learners.algorithms.algorithm import State
from learners.algorithms.ppo import PPO
from learners.algorithms.rnad_config import RNADConfig
from learners.distributed import ALONE, Group


def regularised_reward(reward_LTA: Tensor, log_ratio_LTA: Tensor, payoff: float, eta: float) -> Tensor:
    """Return rewards in units of the largest payoff, less the price of leaving the reference."""
    return reward_LTA / payoff - eta * log_ratio_LTA


class RNAD(PPO):
    """PPO on regularised rewards."""

    config: RNADConfig

    def __init__(
        self, config: RNADConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        super().__init__(config, policy, spec, flat, group)
        self._largest = 0.0  # absolute reward so far, on all ranks

    def regularised(self, reward_LTA: Tensor, log_ratio_LTA: Tensor) -> Tensor:
        """Return the rewards of the regularised game."""
        largest = self._group.maximum(np.array([float(reward_LTA.abs().max())]))[0]
        self._largest = max(self._largest, float(largest))
        payoff = self.config.payoff or self._largest or 1.0
        return regularised_reward(reward_LTA, log_ratio_LTA, payoff, self.config.eta)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of all that training needs to continue."""
        return super().state() | {"largest_reward": np.array(self._largest)}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        super().restore(state)
        self._largest = float(state["largest_reward"])
