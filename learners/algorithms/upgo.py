"""The actor-critic of AlphaStar (Vinyals et al. 2019): V-trace, upgoing policy updates and TD(lambda). One pass.

    loss = - mean((A + upgo_coef * rho (U - V)) log p(a)) + value_coef * mean((V - R)^2) / 2 - entropy * mean(H)

A is the weighted advantage of V-trace (see impala.py), rho = min(rho_max, p(a) / p_behaviour(a)), and R the
lambda-return of the behaviour. The upgoing return U follows what happened for as long as it went better than expected,
and takes the value V from there on, so that a bad move later does not count against a good one:

    U = r + gamma U'   if r' + gamma V'' >= V',   else   r + gamma V'

Its anchor to a policy learned from humans is a magnet: `algo.magnet=FILE algo.magnet_divergence=forward`.

Legend of shapes: see learners.decisions.
"""

from torch import Tensor

from league.policies.distribution import Distribution
from learners.algorithms.a2c import actor_critic_loss
from learners.algorithms.actor_critic import ActorCritic, Loss
from learners.algorithms.upgo_config import UPGOConfig
from learners.decisions import Decisions
from learners.returns import Trajectories


class UPGO(ActorCritic):
    """V-trace with upgoing policy updates."""

    config: UPGOConfig
    corrects = True

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return lambda-returns, and the advantages of V-trace and of upgoing returns together."""
        one = self.config
        _, advantage_LTA = trajectories.vtrace(
            value_LTA, log_ratio_LTA, one.gamma, one.vtrace_lambda, one.rho_max, one.c_max
        )
        rho_LTA = log_ratio_LTA.exp().clamp(max=one.rho_max)
        upgoing_LTA = rho_LTA * trajectories.upgoing_advantages(value_LTA, one.gamma)
        target_LTA = trajectories.lambda_returns(value_LTA, one.gamma, one.td_lambda)
        return target_LTA, advantage_LTA + one.upgo_coef * upgoing_LTA

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return the loss of the weighted policy gradient, the values and the entropy."""
        return actor_critic_loss(actions, value_B, data, self.config, entropy_coef)
