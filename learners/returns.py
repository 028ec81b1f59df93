"""Returns and advantages as pure tensor functions.

Legend of shapes: L lanes, T ticks, A agents of the seat.
"""

import torch
from torch import Tensor

from league.segment import CONTINUES, CUT


def generalised_advantages(
    reward_LTA: Tensor,
    value_LTA: Tensor,
    tail_value_LTA: Tensor,
    end_LTA: Tensor,
    present_LTA: Tensor,
    *,
    discount: tuple[float, float],
) -> Tensor:
    """Return the advantage of each decision by generalised advantage estimation (Schulman et al. 2016).

    `discount` is (gamma, lambda). What follows a decision is the same agent's next *present* decision in its
    lane, however many ticks later; nothing after TERMINATED; after CUT the value in `tail_value_LTA`, with no
    advantage carried over. Where nobody decided, the advantage is 0.
    """
    gamma, lambda_ = discount
    continues_LTA = (end_LTA == CONTINUES).to(value_LTA.dtype)
    cut_LTA = (end_LTA == CUT).to(value_LTA.dtype)
    base_LTA = reward_LTA + gamma * cut_LTA * tail_value_LTA - value_LTA
    advantage_LTA = torch.zeros_like(value_LTA)
    next_value_LA = torch.zeros_like(value_LTA[:, 0])
    next_advantage_LA = torch.zeros_like(next_value_LA)
    for t in reversed(range(value_LTA.shape[1])):
        carried_LA = gamma * (next_value_LA + lambda_ * next_advantage_LA)
        advantage_LA = base_LTA[:, t] + continues_LTA[:, t] * carried_LA
        advantage_LTA[:, t] = advantage_LA
        next_value_LA = torch.where(present_LTA[:, t], value_LTA[:, t], next_value_LA)
        next_advantage_LA = torch.where(present_LTA[:, t], advantage_LA, next_advantage_LA)
    return advantage_LTA * present_LTA
