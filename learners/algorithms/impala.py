"""IMPALA (Espeholt et al. 2018): an actor-critic with V-trace corrections for data of older weights. One pass.

    loss = - mean(rho (r + gamma v' - V) log p(a)) + value_coef * mean((V - v)^2) / 2 - entropy * mean(H)

with rho = min(rho_max, p(a) / p_behaviour(a)), and v the V-trace target of each decision, v' of the next one.
"""

from torch import Tensor

from league.policies.distribution import Distribution
from learners.algorithms.a2c import actor_critic_loss
from learners.algorithms.actor_critic import ActorCritic, Loss
from learners.algorithms.impala_config import IMPALAConfig
from learners.decisions import Decisions
from learners.returns import Trajectories


class IMPALA(ActorCritic):
    """A2C with V-trace, for data that lags."""

    config: IMPALAConfig
    corrects = True

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return the targets and the weighted advantages of V-trace."""
        one = self.config
        return trajectories.vtrace(value_LTA, log_ratio_LTA, one.gamma, one.vtrace_lambda, one.rho_max, one.c_max)

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return the loss of the weighted policy gradient, the values and the entropy."""
        return actor_critic_loss(actions, value_B, data, self.config, entropy_coef)
