"""Discrete soft actor-critic (Christodoulou 2019): SAC for one choice, with exact expectations over the legal options.

The critics output a value for each option, so nothing is sampled in the loss. The temperature aims at a share of the
largest entropy that the legal options of each state allow. In a game of turns the state that follows is that of the
agent's own next decision. Legend of shapes: see learners.algorithms.critics.
"""

import torch
from torch import Tensor

from league.metrics import ENTROPY, POLICY_LOSS
from learners.algorithms.discrete_sac_config import DiscreteSACConfig
from learners.algorithms.sac import SAC
from learners.algorithms.values import Loss, Minibatch


def discrete_sac_loss(
    value_CBN: Tensor,
    after_CBN: Tensor,
    after_log_prob_BN: Tensor,
    log_prob_BN: Tensor,
    log_temperature: Tensor,
    target_entropy: float | None,
    data: Minibatch,
) -> Loss:
    """Return the loss of the critics, of the policy and of the temperature.

    `value_CBN` are the values of all options by the critics, `after_CBN` those that follow, by the target critics; the
    policy gives illegal options a probability of 0.
    """
    temperature = log_temperature.detach().exp()
    with torch.no_grad():
        soft_BN = after_CBN.amin(0) - temperature * after_log_prob_BN
        target_B = data.reward + data.discount * (after_log_prob_BN.exp() * soft_BN).sum(1)
    value_CB = value_CBN.gather(2, data.action.expand(len(value_CBN), -1)[:, :, None]).squeeze(2)
    error_CB = value_CB - target_B
    critic_loss = 0.5 * (data.weight * error_CB.square()).mean(1).sum()
    chance_BN = log_prob_BN.exp()
    policy_loss = (chance_BN * (temperature * log_prob_BN - value_CBN.detach().amin(0))).sum(1).mean()
    entropy_B = -(chance_BN * log_prob_BN).sum(1).detach()
    loss = critic_loss + policy_loss
    if target_entropy is not None:
        wanted_B = target_entropy * data.seen["mask"].sum(1).log()
        loss = loss + log_temperature * (entropy_B - wanted_B).mean()
    metrics = {"losses/critic_loss": critic_loss, POLICY_LOSS: policy_loss, ENTROPY: entropy_B.mean()}
    metrics = {name: metric.detach() for name, metric in metrics.items()} | {"charts/temperature": temperature}
    return Loss(loss, error_CB.detach().abs().mean(0), value_CB.detach().mean(0), metrics)


class DiscreteSAC(SAC):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    config: DiscreteSACConfig

    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""
        seen, after = self.observed(data.seen), self.observed(data.after)
        value_CBN = self.network.critics(seen)
        with torch.no_grad():
            after_CBN = self.target.critics(after)
            after_log_prob_BN = self.network.policy(after, data.after["mask"])[0].log_probs
        log_prob_BN = self.network.policy(seen, data.seen["mask"])[0].log_probs
        temperature, share = self.network.log_temperature, self.config.target_entropy
        return discrete_sac_loss(value_CBN, after_CBN, after_log_prob_BN, log_prob_BN, temperature, share, data)
