"""C51 (Bellemare et al. 2017): the distribution of the return of each action, over some fixed returns called atoms.

The distribution that follows a decision is shifted by the reward, shrunk by the discount and projected on the atoms;
the network learns it by cross-entropy. Collectors act on the mean (league.policies.return_heads).

Legend of shapes: B decisions of a minibatch, N options, K atoms.
"""

import math

import torch
from torch import Tensor

from league.policies.torch_return_heads import atoms_of
from learners.algorithms.return_distributions import DistributionLearning, of_actions
from learners.algorithms.values import Loss, Minibatch


def c51_loss(logits_BNK: Tensor, worth_BN: Tensor, judged_BNK: Tensor, atom_K: Tensor, data: Minibatch) -> Loss:
    """Return the cross-entropy of a minibatch, from the logits of its actions' atoms.

    `judged_BNK` are those of the following actions by the target network, `worth_BN` their means by whichever network
    chooses. The error, which becomes a priority, is the KL divergence from the target.
    """
    log_chance_BK = of_actions(logits_BNK, data.action).log_softmax(1)
    with torch.no_grad():
        best_B = worth_BN.masked_fill(~data.after["mask"], -math.inf).argmax(1)
        after_BK = of_actions(judged_BNK, best_B).softmax(1)
        target_BK = projected(data.reward[:, None] + data.discount[:, None] * atom_K, after_BK, atom_K)
    each_B = -(target_BK * log_chance_BK).sum(1)
    apart_B = each_B.detach() + torch.xlogy(target_BK, target_BK).sum(1)
    return Loss((data.weight * each_B).mean(), apart_B, log_chance_BK.detach().exp() @ atom_K)


def projected(return_BK: Tensor, chance_BK: Tensor, atom_K: Tensor) -> Tensor:
    """Return the chances of atoms: each return shares its chance between the two atoms around it (algorithm 1)."""
    last = len(atom_K) - 1
    place_BK = ((return_BK - atom_K[0]) / (atom_K[1] - atom_K[0])).clamp(0, last)
    below_BK = place_BK.long()
    share_BK = place_BK - below_BK
    found_BK = torch.zeros_like(chance_BK).scatter_add_(1, below_BK, chance_BK * (1 - share_BK))
    return found_BK.scatter_add_(1, (below_BK + 1).clamp(max=last), chance_BK * share_BK)


class C51(DistributionLearning):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    def distribution_loss(self, each_BNK: Tensor, worth_BN: Tensor, judged_BNK: Tensor, data: Minibatch) -> Loss:
        """Return the loss, from the logits of actions and of the following ones."""
        return c51_loss(each_BNK, worth_BN, judged_BNK, atoms_of(self.policy, each_BNK.device), data)
