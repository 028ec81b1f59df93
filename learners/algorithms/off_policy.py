"""What off-policy actor-critics share: a policy that collectors get, critics in the learner, targets that follow.

An algorithm of this kind is its loss, the sum of a loss of the critics and a loss of the policy; each has its own
parameters, so one step of Adam minimises both. Legend of shapes: see learners.algorithms.critics.
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from league.policies.flat_policy import FlatPolicy, Observed
from league.policies.layout import FloatArray, PolicyConfig
from league.policies.module_policy import make_policy
from league.spec import EnvSpec
from learners.algorithms.algorithm import nothing
from learners.algorithms.critics import Critics
from learners.algorithms.off_policy_config import OffPolicyConfig
from learners.algorithms.values import Tensors, ValueLearning, ValueNetwork
from learners.distributed import ALONE, Group
from learners.replay import ReplaySource


class PolicyWithCritics(ValueNetwork):
    """The policy, and what only the learner needs."""

    def __init__(self, policy: FlatPolicy, critics: Critics) -> None:
        super().__init__(policy)
        self.critics = critics

    @contextmanager
    def frozen_critics(self) -> Iterator[Critics]:
        """Critics that judge actions and learn nothing from it: the gradient goes to the policy alone."""
        self.critics.requires_grad_(False)
        try:
            yield self.critics
        finally:
            self.critics.requires_grad_(True)


class OffPolicy(ValueLearning):
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    config: OffPolicyConfig
    network: PolicyWithCritics
    target: PolicyWithCritics

    def __init__(
        self, config: OffPolicyConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        self._spec, self._needs_place = spec, policy.agent_id
        self._rng = np.random.default_rng(zlib.crc32(flat.tobytes()))  # the same critics in every repetition of a run
        super().__init__(config, self._networks(config, policy, spec), flat, group)

    def _networks(self, config: OffPolicyConfig, policy: PolicyConfig, spec: EnvSpec) -> PolicyWithCritics:
        """Return the trained modules."""
        return PolicyWithCritics(make_policy(policy, spec), Critics(policy, spec, config.critics, self._rng))

    def learn(
        self,
        source: ReplaySource,
        rng: np.random.Generator,
        between: Callable[[], None] = nothing,
        first: Callable[[], None] = nothing,
    ) -> dict[str, float]:
        """Learn from a replay in any process as often as is due; roll back if anything is not finite."""
        self._rng = rng
        return super().learn(source, rng, between, first)

    def observed(self, seen: Tensors) -> Observed:
        """Return decisions as networks take them."""
        place = seen["place"].long() if self._needs_place else None
        return Observed(seen["observation"], place, mask=seen["mask"])

    def noise(self, decisions: int) -> Tensor:
        """Return standard normal noise for each continuous number: [B, A]."""
        drawn = self._rng.standard_normal((decisions, self._spec.continuous), dtype=np.float32)
        return torch.from_numpy(drawn).to(self._device)

    def _clip_gradient(self, loss: Tensor) -> bool:
        """Average the gradient over all ranks; clip that of the policy and that of the critics, each by itself."""
        gradients = [parameter.grad for parameter in self.network.parameters() if parameter.grad is not None]
        whole = self._group.mean(torch.cat([*(gradient.reshape(-1) for gradient in gradients), loss.reshape(1)]), 1.0)
        if not whole.isfinite().all():
            return False
        for gradient, piece in zip(gradients, whole[:-1].split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(piece.view_as(gradient))
        most, flat = self.config.max_grad_norm, self.network.policy.flat.grad
        norm = torch.nn.utils.clip_grad_norm_(self.network.critics.parameters(), most)
        return bool(norm.isfinite()) and (flat is None or self._groups.clip(flat, most))
