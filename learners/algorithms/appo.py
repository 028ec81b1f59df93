"""Asynchronous PPO: PPO's clip on data that lags, with advantages corrected by V-trace.

Three policies are involved. The *behaviour* chose the actions, some versions ago. The *proximal* one is that of the
weights when the update begins. The *present* one moves with every gradient step. V-trace (Espeholt et al. 2018)
corrects from the behaviour to the proximal policy, once; the clip keeps the present policy close to the proximal one,
however old the data is (the decoupled objective of Hilton, Cobbe and Schulman 2022, with truncated weights):

    loss = - mean(min(r A, clip(r, 1 - clip, 1 + clip) A)) + ...,    r = p_present(a) / p_proximal(a),    A by V-trace
"""

from torch import Tensor

from league.policies.distribution import Distribution
from learners.algorithms.actor_critic import ActorCritic, Loss
from learners.algorithms.appo_config import APPOConfig
from learners.algorithms.ppo import ppo_loss
from learners.decisions import Decisions
from learners.returns import Trajectories


class APPO(ActorCritic):
    """PPO that corrects for the age of its data."""

    config: APPOConfig
    corrects = True  # so `old_log_prob` is that of the proximal policy

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return the targets and advantages of V-trace."""
        one = self.config
        return trajectories.vtrace(value_LTA, log_ratio_LTA, one.gamma, one.gae_lambda, one.rho_max, one.c_max)

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return PPO's loss, clipped around the proximal policy."""
        return ppo_loss(actions, value_B, data, self.config, entropy_coef)
