"""Returns and advantages as pure tensor functions, the same for every algorithm.

Legend of shapes: L lanes, T ticks, A agents of the seat.

A decision is followed by the same agent's next *present* decision in its lane, however many ticks later; by nothing
after TERMINATED; by the value of its tail after CUT. Where no agent decided, results are 0. `Trajectories` implements
this once, and every estimator is a recursion along it:

    trajectories = Trajectories(reward_LTA, end_LTA, present_LTA, tail_value_LTA)
    advantage_LTA = trajectories.advantages(value_LTA, gamma=0.99, lambda_=0.95)
    target_LTA, advantage_LTA = trajectories.vtrace(value_LTA, log_ratio_LTA, gamma=0.99)
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from league.segment import CONTINUES, CUT


@dataclass(frozen=True, slots=True)
class Trajectories:
    """The rewards and ends of the agents of some lanes, and the values of their tails."""

    reward: Tensor  # [L, T, A], like all fields
    end: Tensor
    present: Tensor
    tail_value: Tensor  # only read where `end` is CUT

    def following(self, value_LTA: Tensor) -> Tensor:
        """Return the value after each decision, where `value_LTA` is that of each decision itself."""
        after_LTA = torch.zeros_like(value_LTA)
        next_LA = torch.zeros_like(value_LTA[:, 0])
        for t in reversed(range(value_LTA.shape[1])):
            after_LTA[:, t] = next_LA
            next_LA = torch.where(self.present[:, t], value_LTA[:, t], next_LA)
        after_LTA = after_LTA * (self.end == CONTINUES)
        return torch.where(self.end == CUT, self.tail_value, after_LTA)

    def accumulate(self, step_LTA: Tensor, weight_LTA: Tensor) -> Tensor:
        """Return x with x = step + weight * x of the next decision, which is 0 after an end or a cut."""
        weight_LTA = weight_LTA * (self.end == CONTINUES)
        total_LTA = torch.zeros_like(step_LTA)
        next_LA = torch.zeros_like(step_LTA[:, 0])
        for t in reversed(range(step_LTA.shape[1])):
            total_LTA[:, t] = step_LTA[:, t] + weight_LTA[:, t] * next_LA
            next_LA = torch.where(self.present[:, t], total_LTA[:, t], next_LA)
        return total_LTA * self.present

    def advantages(self, value_LTA: Tensor, gamma: float, lambda_: float) -> Tensor:
        """Return generalised advantages (Schulman et al. 2016)."""
        error_LTA = self.reward + gamma * self.following(value_LTA) - value_LTA
        return self.accumulate(error_LTA, torch.full_like(error_LTA, gamma * lambda_))

    def lambda_returns(self, value_LTA: Tensor, gamma: float, lambda_: float) -> Tensor:
        """Return lambda-returns: with lambda 1 all later rewards, with lambda 0 one reward and a value."""
        return self.advantages(value_LTA, gamma, lambda_) + value_LTA * self.present

    def n_step_returns(self, value_LTA: Tensor, gamma: float, steps: int) -> Tensor:
        """Return n-step returns: up to `steps` rewards, then a value."""
        total_LTA = value_LTA
        for _ in range(steps):
            total_LTA = self.reward + gamma * self.following(total_LTA)
        return total_LTA * self.present

    def upgoing_advantages(self, value_LTA: Tensor, gamma: float) -> Tensor:
        """Return upgoing returns minus values (Vinyals et al. 2019).

        An upgoing return follows the rewards while the next decision did at least as well as its value, by one reward
        and the value after it; then it takes that value.
        """
        error_LTA = self.reward + gamma * self.following(value_LTA) - value_LTA
        return self.accumulate(error_LTA, gamma * self._next((error_LTA >= 0).to(error_LTA.dtype)))

    def vtrace(
        self, value_LTA: Tensor, log_ratio_LTA: Tensor, gamma: float,
        lambda_: float = 1.0, rho_max: float = 1.0, c_max: float = 1.0,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Return the V-trace targets of values and advantages of actions (Espeholt et al. 2018).

        `log_ratio_LTA` is the log-probability of each action now minus that under the weights that chose it.
        """
        ratio_LTA = log_ratio_LTA.exp()
        rho_LTA = ratio_LTA.clamp(max=rho_max)
        error_LTA = rho_LTA * (self.reward + gamma * self.following(value_LTA) - value_LTA)
        moved_LTA = self.accumulate(error_LTA, gamma * lambda_ * ratio_LTA.clamp(max=c_max))
        target_LTA = (value_LTA + moved_LTA) * self.present
        advantage_LTA = rho_LTA * (self.reward + gamma * self.following(target_LTA) - value_LTA)
        return target_LTA, advantage_LTA * self.present

    def retrace(
        self, q_LTA: Tensor, expected_LTA: Tensor, log_ratio_LTA: Tensor, gamma: float, lambda_: float = 1.0
    ) -> Tensor:
        """Return the Retrace targets of action values (Munos et al. 2016).

        `q_LTA` is the value of each action taken, `expected_LTA` that of the state under the learned policy, and so is
        `tail_value`.
        """
        trace_LTA = lambda_ * log_ratio_LTA.exp().clamp(max=1.0)
        error_LTA = self.reward + gamma * self.following(expected_LTA) - q_LTA
        return (q_LTA * self.present) + self.accumulate(error_LTA, gamma * self._next(trace_LTA))

    def _next(self, number_LTA: Tensor) -> Tensor:
        """Return the number of the next decision; 0 where none follows in the segment."""
        return Trajectories(self.reward, self.end, self.present, torch.zeros_like(number_LTA)).following(number_LTA)
