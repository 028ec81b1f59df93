"""Heterogeneous-agent PPO (Kuba et al. 2022): the agents of a seat are updated one after the other.

PPO improves each agent as if the others stood still, though all of them move in the same update. Here the agents take
turns, in random order, and each learns from what the agents before it have just changed. With M the product of the
ratios r_j = p_new(a_j) / p_old(a_j) of those agents, the loss of agent i is that of PPO with M A in place of A:

    loss_i = - mean(min(r_i M A, clip(r_i, 1 - clip, 1 + clip) M A)) + ...,    M = product of r_j over the agents before

A is the advantage of the seat: rewards and values are means over the agents that decide in a tick. The agents of a seat
share their network, as everywhere; tell them apart by `policy.agent_id=true`. The paper's proof of improvement is for
agents with weights of their own.

Legend of shapes: see learners.decisions.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from league.metrics import GRADIENT_STEPS
from league.segment import CONTINUES, CUT, TERMINATED, Segments
from learners.algorithms.happo_config import HAPPOConfig
from learners.algorithms.ppo import PPO
from learners.decisions import Decisions
from learners.returns import Trajectories


def mean_of(number_LTA: Tensor, which_LTA: Tensor) -> Tensor:
    """Return the mean over some of the agents in each tick, 0 where there is none: [L, T, 1]."""
    mean_LT1: Tensor = (number_LTA * which_LTA).sum(dim=2, keepdim=True) / which_LTA.sum(dim=2, keepdim=True).clamp(
        min=1
    )
    return mean_LT1


def of_seat(agents: Trajectories) -> Trajectories:
    """Return the rewards and ends of a seat as if it were one agent, which goes on as long as one of them."""
    present_LTA, end_LTA = agents.present, agents.end
    goes_on_LT1 = (present_LTA & (end_LTA == CONTINUES)).any(dim=2, keepdim=True)
    cut_LTA = present_LTA & (end_LTA == CUT)
    end_LT1 = torch.where(cut_LTA.any(dim=2, keepdim=True), CUT, TERMINATED)
    return Trajectories(
        reward=mean_of(agents.reward, present_LTA),
        end=torch.where(goes_on_LT1, CONTINUES, end_LT1),
        present=present_LTA.any(dim=2, keepdim=True),
        tail_value=mean_of(agents.tail_value, cut_LTA),
    )


class HAPPO(PPO):
    """PPO, one agent after the other."""

    config: HAPPOConfig
    _where: tuple[Tensor, Tensor, Tensor]  # [B] lane, tick and agent of each decision of the present update

    def prepare(self, segments: Segments) -> Decisions:
        """Compute values and advantages, and remember who decided when."""
        lane_B, tick_B, agent_B = torch.from_numpy(segments.present).nonzero().unbind(dim=1)
        self._where = lane_B, tick_B, agent_B
        return super().prepare(segments)

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return lambda-returns and generalised advantages of the seat, which goes on as long as one of its agents."""
        present_LTA = trajectories.present
        mean_LT1 = mean_of(value_LTA, present_LTA)
        target_LT1, advantage_LT1 = super().estimate(of_seat(trajectories), mean_LT1, torch.zeros_like(mean_LT1))
        return target_LT1 * present_LTA, advantage_LT1 * present_LTA

    def _train(self, data: Decisions, rng: np.random.Generator, between: Callable[[], None]) -> dict[str, float]:
        lane_B, tick_B, agent_B = self._where
        factor_LT = torch.ones(int(lane_B.max()) + 1, int(tick_B.max()) + 1)
        collected: list[dict[str, float]] = []
        for agent in self._order(rng, int(agent_B.max()) + 1):
            mine_B = (agent_B == agent).nonzero().squeeze(1)
            if not -int(self._group.maximum(np.array([-len(mine_B)]))[0]):
                continue  # on some rank it never decided
            when = lane_B[mine_B], tick_B[mine_B]
            part = _of_agent(data, mine_B, agent)
            part = replace(part, advantage=part.advantage * factor_LT[when].to(part.advantage.device))
            collected.append(super()._train(part, rng, between))
            factor_LT[when] *= self._ratio(part)
        metrics = {name: float(np.mean([one[name] for one in collected])) for name in collected[0]}
        steps = sum(one[GRADIENT_STEPS] for one in collected)
        return metrics | {GRADIENT_STEPS: steps, "losses/compounding": float(factor_LT.max())}

    def _order(self, rng: np.random.Generator, agents: int) -> list[int]:
        """Return the agents in random order, the same on every rank."""
        agents = int(self._group.maximum(np.array([agents]))[0])
        return list(self._group.broadcast(bytes(rng.permutation(agents).tolist())))

    @torch.no_grad()
    def _ratio(self, part: Decisions) -> Tensor:
        """Return how much likelier the actions of an agent have become."""
        actions, _ = self.policy(part.seen, part.mask)
        ratio_B: Tensor = (actions.log_prob(part.action) - part.old_log_prob).exp()
        return ratio_B.cpu()


def _of_agent(data: Decisions, mine_B: Tensor, agent: int) -> Decisions:
    """Return the decisions of one agent; with a memory, its lanes."""
    part = data[mine_B.to(data.action.device)]
    if data.lanes is None:
        return part
    present_LTA = torch.zeros_like(data.lanes.present)
    present_LTA[:, :, agent] = data.lanes.present[:, :, agent]
    return replace(part, lanes=replace(data.lanes, present=present_LTA))
