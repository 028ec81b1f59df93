"""Deep Q-networks (Mnih et al. 2015): the value of each action, learned from a replay.

Double (van Hasselt et al. 2016), duelling (Wang et al. 2016), n-step, prioritised (Schaul et al. 2016); with many
slots that explore differently it is Ape-X (Horgan et al. 2018). In a game of turns the next state
is that of the agent's own next decision, so opponents are part of its environment.

With a memory it learns from whole lanes, as R2D2 does (Kapturowski et al. 2019): the network runs through each of them
from the memory that was stored with it, and the first ticks may only update that (`burn_in`). `rescale` learns h(Q),
so that games with large and with small returns have errors of a similar size.

Legend of shapes: B decisions, or lanes, of a minibatch, T ticks of a lane, N options.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from league.policies.flat_policy import Lanes, Observed
from league.policies.layout import FloatArray, PolicyConfig
from league.policies.module_policy import make_policy
from league.spec import EnvSpec
from learners.algorithms.dqn_config import DQNConfig
from learners.algorithms.values import Loss, Minibatch, Tensors, ValueLearning, ValueNetwork
from learners.decisions import warmed
from learners.distributed import ALONE, Group

SLOPE = 1e-3  # c of the rescaling: it stays invertible


def dqn_loss(value_BN: Tensor, next_BN: Tensor, judged_BN: Tensor, data: Minibatch, config: DQNConfig) -> Loss:
    """Return the Huber loss of a minibatch, from the values of its actions.

    `next_BN` and `judged_BN` are the values of the following actions, by the network and by the target network.
    """
    value_B = value_BN.gather(1, data.action[:, None]).squeeze(1)
    with torch.no_grad():
        best_B = (next_BN if config.double else judged_BN).masked_fill(~data.after["mask"], -math.inf).argmax(1)
        target_B = bootstrapped(data, judged_BN.gather(1, best_B[:, None]).squeeze(1), config.rescale)
    each_B = functional.huber_loss(value_B, target_B, reduction="none")
    return Loss((data.weight * each_B).mean(), (value_B - target_B).detach(), value_B.detach())


def bootstrapped(data: Minibatch, worth: Tensor, rescale: bool) -> Tensor:
    """Return targets: rewards, and the discounted values that follow. Rescaled values are h(return)."""
    if not rescale:
        return data.reward + data.discount * worth
    return rescaled(data.reward + data.discount * restored(worth))


def rescaled(returned: Tensor) -> Tensor:
    """Return h(x) = sign(x) (sqrt(|x| + 1) - 1) + c x, which reduces large returns (Pohlen et al. 2018)."""
    return returned.sign() * ((returned.abs() + 1).sqrt() - 1) + SLOPE * returned


def restored(value: Tensor) -> Tensor:
    """Return the inverse of `rescaled`."""
    root = (1 + 4 * SLOPE * (value.abs() + 1 + SLOPE)).sqrt()
    return value.sign() * (((root - 1) / (2 * SLOPE)).square() - 1)


def lanes_loss(value_BTN: Tensor, judged_BTN: Tensor, data: Minibatch, learn_BT: Tensor, config: DQNConfig) -> Loss:
    """Return the loss of whole lanes, from the values of actions in each tick by the network and the target network.

    Only decisions in `learn_BT` count. The error of a lane, which becomes its priority, is `peak` of its largest one
    and the rest of their mean.
    """
    value_BT = value_BTN.gather(2, data.action[:, :, None]).squeeze(2)
    with torch.no_grad():
        chooser_BTN = value_BTN if config.double else judged_BTN
        best_BT = chooser_BTN.masked_fill(~data.seen["mask"], -math.inf).argmax(2)
        worth_BT = judged_BTN.gather(2, best_BT[:, :, None]).squeeze(2)
        then_BT = torch.arange(value_BT.shape[1], device=value_BT.device) + data.seen["ahead"].long()
        then_BT = torch.where(learn_BT, then_BT, 0)
        target_BT = bootstrapped(data, worth_BT.gather(1, then_BT), config.rescale)
    each_BT = functional.huber_loss(value_BT, target_BT, reduction="none") * data.weight[:, None]
    error_BT = (value_BT - target_BT).detach().abs().masked_fill(~learn_BT, 0)
    count_B = learn_BT.sum(1)
    error_B = config.peak * error_BT.amax(1) + (1 - config.peak) * error_BT.sum(1) / count_B.clamp(min=1)
    learned = learn_BT.sum().clamp(min=1)
    value = value_BT.detach().masked_fill(~learn_BT, 0).sum() / learned
    return Loss(each_BT.masked_fill(~learn_BT, 0).sum() / learned, error_B, value.expand(len(error_B)))


def duel(advantage_BN: Tensor, value_B: Tensor, mask_BN: Tensor) -> Tensor:
    """Return action values: the state value, plus each advantage minus the mean of the legal ones."""
    legal = mask_BN.float()
    mean_B1 = (advantage_BN * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True)
    return value_B[:, None] + advantage_BN - mean_B1


class DQN(ValueLearning):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    config: DQNConfig

    def __init__(
        self, config: DQNConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        super().__init__(config, ValueNetwork(make_policy(policy, spec)), flat, group)
        self._duelling, self._needs_place = config.duelling, policy.agent_id or not policy.ours

    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""
        if "learn" in data.seen:
            return self._loss_of_lanes(data)
        value_BN = self._values(self.network, data.seen)
        with torch.no_grad():
            judged_BN = self._values(self.target, data.after)
            next_BN = self._values(self.network, data.after) if self.config.double else judged_BN
        return dqn_loss(value_BN, next_BN, judged_BN, data, self.config)

    def _values(self, network: ValueNetwork, seen: Tensors) -> Tensor:
        each_BN, value_B = network.policy.outputs(self.observed(seen))
        return duel(each_BN, value_B, seen["mask"]) if self._duelling else each_BN

    def observed(self, seen: Tensors) -> Observed:
        """Return decisions, or the present decisions of lanes, as the network takes them."""
        if "learn" in seen:
            return self._observed_in(seen, self._lanes(seen))
        place = seen["place"].long() if self._needs_place else None
        return Observed(seen["observation"], place, mask=seen["mask"])

    def _lanes(self, seen: Tensors) -> Lanes:
        parts = seen["present"][:, :, None], seen["restart"][:, :, None], seen["memory"][:, None]
        return warmed(Lanes(*parts), self.config.burn_in)

    def _observed_in(self, seen: Tensors, lanes: Lanes) -> Observed:
        present = seen["present"]
        place = seen["place"][present].long() if self._needs_place else None
        return Observed(seen["observation"][present], place, lanes=lanes, mask=seen["mask"][present])

    def _loss_of_lanes(self, data: Minibatch) -> Loss:
        seen = data.seen
        lanes = self._lanes(seen)
        value_BTN = self._values_in(self.network, seen, lanes)
        with torch.no_grad():
            judged_BTN = self._values_in(self.target, seen, lanes)
        learn_BT = seen["learn"] if lanes.warm is None else seen["learn"] & ~lanes.warm[:, :, 0]
        return lanes_loss(value_BTN, judged_BTN, data, learn_BT, self.config)

    def _values_in(self, network: ValueNetwork, seen: Tensors, lanes: Lanes) -> Tensor:
        """Return the values of actions in each tick of lanes: [B, T, N]."""
        present = seen["present"]
        mask = seen["mask"][present]
        each, value = network.policy.outputs(self._observed_in(seen, lanes))
        found = each.new_zeros(*present.shape, each.shape[1])
        found[present] = duel(each, value, mask) if self._duelling else each
        return found
