"""Deep Q-networks (Mnih et al. 2015): the value of each action, learned from a replay.

Double (van Hasselt et al. 2016), duelling (Wang et al. 2016), n-step, prioritised (Schaul et al. 2016); with many
slots that explore differently it is Ape-X (Horgan et al. 2018). In a game of turns what follows a decision is the
agent's own next one, so opponents are part of its world.

Legend of shapes: B decisions of a minibatch, N options.
"""

import torch
from torch import Tensor
from torch.nn import functional

from league.policies.layout import ILLEGAL, FloatArray, PolicyConfig
from league.policies.torch_policy import Seen, TorchPolicy
from league.spec import EnvSpec
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.values import Loss, Minibatch, Network, Tensors, ValueLearning
from learners.distributed import ALONE, Group


def dqn_loss(value_BN: Tensor, next_BN: Tensor, judged_BN: Tensor, data: Minibatch, double: bool = True) -> Loss:
    """Return the loss of a minibatch, from what the network says of the actions.

    `next_BN` and `judged_BN` are what the network and the target network say of what was seen afterwards. Errors are
    squared up to 1, and straight beyond.
    """
    value_B = value_BN.gather(1, data.action[:, None]).squeeze(1)
    with torch.no_grad():
        best_B = (next_BN if double else judged_BN).masked_fill(~data.after["mask"], ILLEGAL).argmax(1)
        target_B = data.reward + data.discount * judged_BN.gather(1, best_B[:, None]).squeeze(1)
    each_B = functional.huber_loss(value_B, target_B, reduction="none")
    return Loss((data.weight * each_B).mean(), (value_B - target_B).detach(), value_B.detach())


def duel(advantage_BN: Tensor, value_B: Tensor, mask_BN: Tensor) -> Tensor:
    """Return the values of actions: that of the situation, and what each adds to the mean of the legal ones."""
    legal = mask_BN.float()
    mean_B1 = (advantage_BN * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True)
    return value_B[:, None] + advantage_BN - mean_B1


class DQN(ValueLearning):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    def __init__(
        self, config: DQNConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        super().__init__(config, Network(TorchPolicy(policy, spec)), flat, group)
        self._duelling, self._told = config.duelling, policy.agent_id

    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""
        value_BN = self._values(self.network, data.seen)
        with torch.no_grad():
            judged_BN = self._values(self.target, data.after)
            next_BN = self._values(self.network, data.after) if self.config.double else judged_BN
        return dqn_loss(value_BN, next_BN, judged_BN, data, self.config.double)

    def _values(self, network: Network, seen: Tensors) -> Tensor:
        place = seen["place"].long() if self._told else None
        each_BN, value_B = network.policy.outputs(Seen(seen["observation"], place))
        return duel(each_BN, value_B, seen["mask"]) if self._duelling else each_BN
