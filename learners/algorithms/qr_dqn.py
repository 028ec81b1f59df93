"""QR-DQN (Dabney et al. 2018): the distribution of the return of each action, as quantiles that are equally likely.

Unlike the atoms of C51 the quantiles move, so no range of returns must be known. Each is learned by quantile
regression: an error counts tau times if the target lies above the quantile tau, and 1 - tau times if it lies below.

Legend of shapes: B decisions of a minibatch, N options, K quantiles, J quantiles of the target.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from learners.algorithms.qr_dqn_config import QRDQNConfig
from learners.algorithms.return_distributions import DistributionLearning, of_actions
from learners.algorithms.values import Loss, Minibatch


def quantile_loss(each_BNK: Tensor, worth_BN: Tensor, judged_BNK: Tensor, data: Minibatch, kappa: float) -> Loss:
    """Return the quantile Huber loss of a minibatch, from the quantiles of its actions (algorithm 1 of the paper).

    `judged_BNK` are those of the following actions by the target network, `worth_BN` their means by whichever network
    chooses. The error, which becomes a priority, is that of the mean.
    """
    quantile_BK = of_actions(each_BNK, data.action)
    with torch.no_grad():
        best_B = worth_BN.masked_fill(~data.after["mask"], -math.inf).argmax(1)
        target_BJ = data.reward[:, None] + data.discount[:, None] * of_actions(judged_BNK, best_B)
    count = quantile_BK.shape[1]
    tau_K1 = ((torch.arange(count, device=quantile_BK.device) + 0.5) / count)[:, None]
    above_BKJ = target_BJ[:, None] - quantile_BK[:, :, None]
    huber_BKJ = functional.huber_loss(above_BKJ, torch.zeros_like(above_BKJ), reduction="none", delta=kappa) / kappa
    each_B = ((tau_K1 - (above_BKJ < 0).float()).abs() * huber_BKJ).mean(2).sum(1)
    value_B = quantile_BK.detach().mean(1)
    return Loss((data.weight * each_B).mean(), value_B - target_BJ.mean(1), value_B)


class QRDQN(DistributionLearning):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    config: QRDQNConfig

    def distribution_loss(self, each_BNK: Tensor, worth_BN: Tensor, judged_BNK: Tensor, data: Minibatch) -> Loss:
        """Return the loss, from the quantiles of actions and of the following ones."""
        return quantile_loss(each_BNK, worth_BN, judged_BNK, data, self.config.kappa)
