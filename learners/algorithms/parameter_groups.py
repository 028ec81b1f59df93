"""Groups of parameters: learning rates, freezing and clipping by name (`algo.groups`).

groups = ParameterGroups(config.groups, describe(policy, spec), device)
if groups.clip(gradient, config.max_grad_norm):
    groups.step(optimizer, flat)
"""

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from league.policies.layout import Layout
from learners.algorithms.config import GroupConfig, assign_groups


class ParameterGroups:
    """The groups of one network, as parts of its flat vector."""

    def __init__(self, rows: Mapping[str, GroupConfig], layout: Layout, device: torch.device) -> None:
        self.any = bool(rows)
        of = np.repeat(assign_groups(rows, layout), layout.sizes)
        self._frozen = _where(of, [n for n, row in enumerate(rows.values()) if not row.lr], device)
        self._clipped = [
            (_where(of, [number], device), row.max_grad_norm)
            for number, row in enumerate(rows.values())
            if row.max_grad_norm is not None
        ]
        own = [number for number, row in enumerate(rows.values()) if row.max_grad_norm is not None]
        self._rest = _where(of, [number for number in range(-1, len(rows)) if number not in own], device)
        rates = np.array([*(row.lr for row in rows.values()), 1.0], np.float32)  # the last is that of no group
        self._rate = torch.from_numpy(rates[of]).to(device)

    def clip(self, gradient: Tensor, most: float) -> bool:
        """Clip the norm of each group that has a limit, and of all others together; False: it is not finite."""
        if not self.any:
            return _clip(gradient, most)
        if not math.isfinite(float(gradient.norm())):
            return False
        gradient[self._frozen] = 0
        for where, limit in [*self._clipped, (self._rest, most)]:
            part = gradient[where]
            _clip(part, limit)
            gradient[where] = part
        return True

    @torch.no_grad()
    def step(self, optimizer: torch.optim.Optimizer, flat: Tensor) -> None:
        """Take a step of the optimizer. Steps of Adam are proportional to its rate, so each group takes its share."""
        if not self.any:
            optimizer.step()
            return
        before = flat.detach().clone()
        optimizer.step()
        flat.copy_(torch.lerp(before, flat.detach(), self._rate))


def _clip(gradient: Tensor, most: float) -> bool:
    norm = float(gradient.norm())
    if not math.isfinite(norm):
        return False
    if norm > most:
        gradient.mul_(most / norm)
    return True


def _where(of: npt.NDArray[np.int64], groups: list[int], device: torch.device) -> Tensor:
    return torch.from_numpy(np.isin(of, groups)).to(device)
