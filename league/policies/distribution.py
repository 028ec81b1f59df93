"""Distributions over actions in torch, with the same log-probabilities as league.policies.actions.

Legend of shapes: B decisions, N options of all choices, H choices, C continuous numbers.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from league.policies.layout import EDGE, HALF_LOG_TWO_PI, ILLEGAL, LARGEST, LOG_STD_RANGE
from league.spec import EnvSpec


@dataclass(frozen=True, slots=True)
class Distribution:
    """The distribution over actions for each of B decisions.

    distribution = policy.distribution(outputs, mask, log_std)
    distribution.log_prob(action)       # [B]
    distribution.entropy()              # [B]
    distribution.divergence(other)      # [B]
    """

    log_probs: Tensor  # [B, N] of all options; about -1e9 for illegal ones
    first: Tensor  # [H] the index of the first option of each choice
    mean: Tensor  # [B, C]
    log_std: Tensor  # [C], or [B, C] if it depends on the state

    def __getitem__(self, chosen: Tensor) -> "Distribution":
        log_std = self.log_std[chosen] if self.log_std.ndim > 1 else self.log_std
        return Distribution(self.log_probs[chosen], self.first, self.mean[chosen], log_std)

    def log_prob(self, action: Tensor) -> Tensor:
        """Return the log-probability of each action, summed over its parts."""
        if action.ndim == 1:
            return self.log_probs.gather(1, action[:, None]).squeeze(1)
        choices = len(self.first)
        options = action[:, :choices].long() + self.first
        log_prob = self.log_probs.gather(1, options).sum(dim=1)
        if self.mean.shape[1]:
            log_prob = log_prob + squashed_log_prob(action[:, choices:], self.mean, self.log_std).sum(dim=1)
        return log_prob

    def entropy(self) -> Tensor:
        """Return the entropy: exact for choices; for continuous numbers that of the Gaussians before tanh."""
        entropy = -(self.log_probs.exp() * self.log_probs).sum(dim=1)
        if self.mean.shape[1]:
            entropy = entropy + (self.log_std + 0.5 + HALF_LOG_TWO_PI).sum(dim=-1)
        return entropy

    def sample(self, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Return continuous numbers for standard normal noise [B, C], and their log density; both have gradients."""
        u = self.mean + self.log_std.exp() * noise
        squash = 2 * (math.log(2) - u - functional.softplus(-2 * u))  # log(1 - tanh(u)^2), even if tanh(u) rounds to 1
        log_prob = (-0.5 * noise.square() - self.log_std - HALF_LOG_TWO_PI - squash).sum(dim=1)
        return u.tanh(), log_prob

    def divergence(self, other: "Distribution") -> Tensor:
        """Return KL(self || other). It is exact: tanh changes both densities of a Gaussian by the same factor."""
        divergence = (self.log_probs.exp() * (self.log_probs - other.log_probs)).sum(dim=1)
        if self.mean.shape[1]:
            apart = (self.mean - other.mean) / other.log_std.exp()
            wider = self.log_std - other.log_std
            divergence = divergence + 0.5 * (apart.square() + (2 * wider).exp() - 1 - 2 * wider).sum(dim=1)
        return divergence


def distribution(spec: EnvSpec, outputs: Tensor, mask: Tensor, log_std: Tensor) -> Distribution:
    """Return the distribution that a network's outputs define: logits of the options, means, maybe deviations."""
    logits = outputs if not spec.continuous else outputs[:, : spec.actions]
    logits = logits.clamp(-LARGEST, LARGEST).masked_fill(~mask, ILLEGAL)
    if len(spec.heads) == 1:
        log_probs = functional.log_softmax(logits, dim=-1)
    elif len(set(spec.heads)) == 1:
        each = logits.unflatten(1, (len(spec.heads), spec.heads[0]))
        log_probs = functional.log_softmax(each, dim=-1).flatten(1)
    else:
        parts = logits.split(spec.heads, dim=1)
        log_probs = torch.cat([functional.log_softmax(part, dim=-1) for part in parts], 1) if parts else logits
    begins = [sum(spec.heads[:choice]) for choice in range(len(spec.heads))]
    first = torch.tensor(begins, dtype=torch.long, device=outputs.device)
    means, own = outputs[:, spec.actions :].clamp(-LARGEST, LARGEST).tensor_split([spec.continuous], dim=1)
    return Distribution(log_probs, first, means, (own if own.shape[1] else log_std).clamp(*LOG_STD_RANGE))


def squashed_log_prob(action: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """Return the log density of each a = tanh(u), u Gaussian: that of u, minus log(1 - a^2)."""
    action = action.clamp(-EDGE, EDGE)
    z = (action.atanh() - mean) / log_std.exp()
    return -0.5 * z * z - log_std - HALF_LOG_TWO_PI - ((1 - action) * (1 + action)).log()
