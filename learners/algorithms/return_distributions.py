"""What algorithms share that learn distributions of returns from a replay (C51, Rainbow, QR-DQN): all but the loss.

Legend of shapes: B decisions of a minibatch, N options, K atoms.
"""

import torch
from torch import Tensor

from league.policies.flat_policy import Observed
from league.policies.layout import FloatArray, PolicyConfig
from league.policies.module_policy import make_policy
from league.policies.torch_return_heads import options_of, worth_of
from league.spec import EnvSpec
from learners.algorithms.value_config import ValueConfig
from learners.algorithms.values import Loss, Minibatch, Tensors, ValueLearning, ValueNetwork
from learners.distributed import ALONE, Group


class DistributionLearning(ValueLearning):
    """Trains one player. See learners.algorithms.algorithm.Algorithm; subclasses have the loss."""

    config: ValueConfig

    def __init__(
        self, config: ValueConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        super().__init__(config, ValueNetwork(make_policy(policy, spec)), flat, group)
        self.policy = policy

    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""
        each_BNK = self.distributions(self.network, data.seen)
        with torch.no_grad():
            judged_BNK = self.distributions(self.target, data.after)
            chooser_BNK = self.distributions(self.network, data.after) if self.config.double else judged_BNK
            worth_BN = worth_of(self.policy, chooser_BNK)
        return self.distribution_loss(each_BNK, worth_BN, judged_BNK, data)

    def distribution_loss(self, each_BNK: Tensor, worth_BN: Tensor, judged_BNK: Tensor, data: Minibatch) -> Loss:
        """Return the loss, from the distributions of actions and, by the target network, of the following actions.

        `worth_BN` is the mean return of the following actions, by which the best of them is chosen.
        """
        raise NotImplementedError

    def distributions(self, network: ValueNetwork, seen: Tensors) -> Tensor:
        """Return logits of atoms, or quantiles, of each option: [B, N, K]."""
        outputs, state_BK = network.policy.outputs(self.observed(seen))
        return options_of(self.policy, outputs, state_BK)

    def observed(self, seen: Tensors) -> Observed:
        """Return decisions as the network takes them."""
        place = seen["place"].long() if self.policy.agent_id else None
        return Observed(seen["observation"], place, mask=seen["mask"])


def of_actions(each_BNK: Tensor, action_B: Tensor) -> Tensor:
    """Return the distributions of one action for each decision: [B, K]."""
    return each_BNK[torch.arange(len(action_B), device=action_B.device), action_B]
