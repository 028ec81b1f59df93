"""Distributions of returns in torch: the twin of league.policies.return_heads.

Legend of shapes: B decisions, N options, K atoms.
"""

import torch
from torch import Tensor

from league.policies.layout import PolicyConfig
from league.policies.return_heads import atom_returns, middle_and_unit


def atoms_of(config: PolicyConfig, device: torch.device) -> Tensor:
    """Return the returns that atoms stand for: [K]."""
    return torch.from_numpy(atom_returns(config)).to(device)


def options_of(config: PolicyConfig, outputs: Tensor, state: Tensor) -> Tensor:
    """Return logits of atoms, or quantiles, of each option [B, N, K], from the policy head and the state's [B, K]."""
    each: Tensor = outputs.unflatten(1, (-1, config.atoms))
    if config.duelling:
        each = state[:, None] + each - each.mean(dim=1, keepdim=True)
    if config.head == "quantiles":
        middle, unit = middle_and_unit(config)
        each = middle + unit * each
    return each


def worth_of(config: PolicyConfig, each: Tensor) -> Tensor:
    """Return the mean of each distribution: [B, N]."""
    if config.head == "quantiles":
        return each.mean(dim=2)
    return each.softmax(dim=2) @ atoms_of(config, each.device)
