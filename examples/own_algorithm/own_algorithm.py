"""REINFORCE (Williams 1992) with a baseline: a learning algorithm from nothing, in one file."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from league.policies.module_policy import make_policy
from learners.algorithms.config import AlgoConfig
from learners.decisions import seen_in
from learners.returns import Trajectories


@dataclass(kw_only=True)
class ReinforceConfig(AlgoConfig):
    """The settings: those that every algorithm has, and its own."""

    algorithm: ClassVar[str] = "own_algorithm:Reinforce"
    name: str = "reinforce"
    batch: int = 1024
    lr: float = 0.3
    patience: float = 0.9  # how slowly the baseline follows the mean return


def reinforce_loss(log_prob, returned, baseline):
    """Make likelier what returned more than usual. One number for each decision in, one number out."""
    return -(log_prob * (returned - baseline)).mean()


class Reinforce:
    """Trains one player: see learners.algorithms.algorithm.Algorithm."""

    def __init__(self, config, policy, spec, flat, group):
        self.config, self._network, self._spec, self._group = config, policy, spec, group
        self.policy = make_policy(policy, spec)
        self.restore({"flat": flat, "baseline": np.zeros(())})

    def update(self, batch, rng, between=lambda: None):
        """Take one step up the slope; if it leads nowhere, stay."""
        segments = batch.segments  # arrays [lanes, ticks, agents, ...]; `present` says who decided when
        present, action = torch.from_numpy(segments.present), torch.from_numpy(segments.action)
        reward, end = torch.from_numpy(segments.reward), torch.from_numpy(segments.end)
        trajectories = Trajectories(reward, end, present, tail_value=torch.full(reward.shape, self.baseline))
        returned = trajectories.lambda_returns(torch.zeros_like(reward), self.config.gamma, 1.0)[present]

        actions, _ = self.policy(seen_in(segments, self._network), torch.from_numpy(segments.mask)[present])
        log_prob = actions.log_prob(action[present].long() if self._spec.single else action[present])
        loss = reinforce_loss(log_prob, returned, self.baseline)
        slope = torch.autograd.grad(loss, self.policy.flat)[0]
        if not self._group.mean(slope, len(returned)).isfinite().all():
            return {"losses/rollbacks": 1.0}
        with torch.no_grad():
            self.policy.flat -= self.config.lr * slope
        mean = float(self._group.mean(returned.mean(), len(returned)))
        self.baseline += (1 - self.config.patience) * (mean - self.baseline)
        between()  # collectors are answered in the middle of an update, too
        return {"losses/rollbacks": 0.0, "losses/policy_loss": float(loss.detach()), "losses/baseline": self.baseline}

    def flat(self):
        """Return a copy of the weights."""
        return self.policy.read()

    def state(self):
        """Return what a checkpoint keeps."""
        return {"flat": self.flat(), "baseline": np.array(self.baseline)}

    def restore(self, state):
        """Go on from a checkpoint."""
        self.policy.write(state["flat"])
        self.baseline = float(state["baseline"])
