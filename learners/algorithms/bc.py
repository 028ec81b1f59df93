"""Behaviour cloning (Pomerleau 1991): supervised learning of what somebody else did.

    loss = - mean(log p(a)) + value_coef * mean((V - G)^2) / 2 - entropy * mean(H)

with a the action in the data and G its return. The player's own games are played for its rating only: an update takes
its lessons from a data set (learners.lessons), whatever the player itself did.

Legend of shapes: see learners.decisions.
"""

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from league.metrics import ENTROPY, POLICY_LOSS, ROLLBACKS, VALUE_LOSS
from league.policies.distribution import Distribution
from league.policies.flat_policy import Observed
from league.policies.layout import FloatArray, PolicyConfig
from league.segment import Segments
from league.spec import EnvSpec
from learners.algorithms.actor_critic import ActorCritic, Loss
from learners.algorithms.algorithm import nothing
from learners.algorithms.bc_config import BCConfig
from learners.batcher import Batch
from learners.decisions import Decisions, moved, seen_in
from learners.distributed import ALONE, Group
from learners.lessons import Lessons, divided, read_lessons, share_of
from learners.returns import Trajectories

HELD_OUT_LOSS, HELD_OUT_ACCURACY = "losses/held_out", "losses/held_out_accuracy"


def cloning_loss(
    actions: Distribution, value_B: Tensor, data: Decisions, config: BCConfig, entropy_coef: float
) -> Loss:
    """Return the loss of a minibatch and its metrics."""
    policy_loss = -actions.log_prob(data.action).mean()
    value_loss = 0.5 * (value_B - data.target).square().mean()
    entropy = actions.entropy().mean()
    loss = policy_loss - entropy_coef * entropy
    if config.value_coef:  # without it returns, which may have any size, do not matter
        loss = loss + config.value_coef * value_loss
    metrics = {POLICY_LOSS: policy_loss, VALUE_LOSS: value_loss, ENTROPY: entropy}
    return loss, {name: value.detach() for name, value in metrics.items()}


class BC(ActorCritic):
    """Imitates a data set."""

    config: BCConfig

    def __init__(
        self, config: BCConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        super().__init__(config, policy, spec, flat, group)
        self._lessons = Lessons(self._capacity)
        self._test: tuple[Observed, Tensor, Tensor] | None = None  # what is held out: inputs, masks, actions
        if config.data:
            whole = read_lessons(config.data, spec, config.players)
            data, test = divided(share_of(whole, group.rank, group.size), config.held_out)
            self._lessons.add(data)
            self._test = None if test is None else self._inputs(test)

    @property
    def _capacity(self) -> int:
        return sys.maxsize  # all of a data set

    def _inputs(self, segments: Segments) -> tuple[Observed, Tensor, Tensor]:
        device, present_LTA = self._group.device, segments.present
        seen = moved(seen_in(segments, self._policy), device)
        action_B = torch.from_numpy(segments.action[present_LTA])
        action_B = action_B.long() if self._spec.single else action_B
        return seen, moved(torch.from_numpy(segments.mask[present_LTA]), device), moved(action_B, device)

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return all later rewards; advantages are not used."""
        return trajectories.lambda_returns(value_LTA, self.config.gamma, 1.0), torch.zeros_like(value_LTA)

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return the loss of imitating, the values and the entropy."""
        return cloning_loss(actions, value_B, data, self.config, entropy_coef)

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Learn from a sample of the lessons; of the batch only its size matters."""
        share = -(-self.config.lessons // self._group.size)
        metrics = super().update(replace(batch, data=self._lessons.sample(share, rng)), rng, between)
        if not metrics[ROLLBACKS]:
            metrics |= {"lessons": float(self._group.total(self._lessons.decisions)), **self._tested()}
        return metrics

    @torch.no_grad()
    def _tested(self) -> dict[str, float]:
        """Return how well it imitates decisions that it never learned from."""
        if self._test is None:
            return {}
        seen, mask_BN, action_B = self._test
        actions, _ = self.policy(seen, mask_BN)
        found = {HELD_OUT_LOSS: -actions.log_prob(action_B).mean()}
        if self._spec.single:
            found[HELD_OUT_ACCURACY] = (actions.log_probs.argmax(dim=1) == action_B).float().mean()
        return {name: float(value) for name, value in found.items()}
