"""Proximal policy optimization (Schulman et al. 2017), for segments of any number of agents.

With agents that share one network it is IPPO, with a central critic (`policy.critic`) MAPPO (Yu et al. 2022); with a
memory it learns from whole lanes, from the state that the collector stored. Legend of shapes: see learners.decisions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from league.policies.distribution import Distribution
from league.policies.layout import FloatArray, PolicyConfig
from league.policies.torch_policy import TorchPolicy
from league.segment import Segments
from league.spec import EnvSpec
from learners.algorithms.algorithm import State, nothing
from learners.algorithms.ppo_config import PPOConfig
from learners.batcher import Batch
from learners.decisions import Decisions, seen_in, seen_in_tails
from learners.distributed import ALONE, Group
from learners.normaliser import Normaliser
from learners.returns import generalised_advantages

PROBE = 64  # decisions that the new weights must answer with finite numbers before anyone gets them


def ppo_loss(
    actions: Distribution, value_B: Tensor, data: Decisions, config: PPOConfig, entropy_coef: float
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss of a minibatch and its metrics."""
    log_ratio_B = actions.log_prob(data.action) - data.old_log_prob
    ratio_B = log_ratio_B.exp()

    clipped_B = ratio_B.clamp(1 - config.clip, 1 + config.clip)
    policy_loss = -torch.minimum(ratio_B * data.advantage, clipped_B * data.advantage).mean()

    error_B = (value_B - data.target).square()
    if config.value_clip is not None:
        moved_B = (value_B - data.old_value).clamp(-config.value_clip, config.value_clip)
        error_B = torch.maximum(error_B, (data.old_value + moved_B - data.target).square())
    value_loss = 0.5 * error_B.mean()

    entropy = actions.entropy().mean()
    loss = policy_loss + config.value_coef * value_loss - entropy_coef * entropy
    with torch.no_grad():
        metrics = {
            "losses/policy_loss": policy_loss,
            "losses/value_loss": value_loss,
            "losses/entropy": entropy,
            "losses/old_approx_kl": (-log_ratio_B).mean(),
            "losses/approx_kl": (ratio_B - 1 - log_ratio_B).mean(),
            "losses/clipfrac": ((ratio_B - 1).abs() > config.clip).float().mean(),
        }
    return loss, {name: value.detach() for name, value in metrics.items()}


class NotFiniteError(ArithmeticError):
    """Training met NaN or infinity."""


class PPO:
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    def __init__(
        self, config: PPOConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        self.config, self._policy, self._spec, self._group = config, policy, spec, group
        self.policy = TorchPolicy(policy, spec)
        self._values = Normaliser()
        self.policy.write(flat)
        self.decisions = 0
        weights = self.policy.flat
        self._optimizer = torch.optim.Adam([weights], lr=config.lr, eps=1e-5, fused=True)
        # Made now and not at the first step, so that there is a state to save at any time.
        self._moments: dict[str, Tensor] = {
            "step": torch.zeros(()),
            "exp_avg": torch.zeros_like(weights),
            "exp_avg_sq": torch.zeros_like(weights),
        }
        self._optimizer.state[weights] = self._moments

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Learn from a batch; if anything is not finite, roll back and say so in `losses/rollbacks`."""
        good = self.state()
        learning_rate = self.config.learning_rate(self.decisions)
        self._optimizer.param_groups[0]["lr"] = learning_rate
        try:
            data = self.prepare(batch.segments)
            metrics = self._train(data, rng, between)
            self._probe(data)
        except NotFiniteError:
            self.restore(good)
            return {"losses/rollbacks": 1.0}
        self.decisions += self._group.total(len(data))
        metrics["losses/explained_variance"] = _explained_variance(data)
        return metrics | {"losses/rollbacks": 0.0, "charts/learning_rate": learning_rate}

    @torch.no_grad()
    def prepare(self, segments: Segments) -> Decisions:
        """Compute values and advantages under the present weights and flatten the decisions."""
        present_LTA = torch.from_numpy(segments.present)
        seen = seen_in(segments, self._policy)
        old_value_B, memory_BM = self.policy.values(seen)
        value_B = self._stretched(old_value_B)
        advantage_LTA = generalised_advantages(
            torch.from_numpy(segments.reward),
            torch.zeros(present_LTA.shape).masked_scatter(present_LTA, value_B),
            self._tail_values(segments, memory_BM),
            torch.from_numpy(segments.end),
            present_LTA,
            discount=(self.config.gamma, self.config.gae_lambda),
        )
        advantage_B = advantage_LTA[present_LTA]
        action = torch.from_numpy(segments.action)[present_LTA]
        return Decisions(
            observation=seen.observation,
            mask=torch.from_numpy(segments.mask)[present_LTA],
            action=action.long() if self._spec.single else action,
            old_log_prob=torch.from_numpy(segments.log_prob)[present_LTA],
            old_value=old_value_B,
            advantage=self._normalised(advantage_B) if self.config.normalise_advantages else advantage_B,
            target=self._shrunk(advantage_B + value_B),
            place=seen.place,
            joint=seen.joint,
            lane=present_LTA.nonzero()[:, 0] if seen.lanes is not None else None,
            lanes=seen.lanes,
        )

    def _tail_values(self, segments: Segments, memory_BM: Tensor | None) -> Tensor:
        value_LTA = torch.zeros(segments.present.shape)
        if len(segments.tail_lane):
            value_K, _ = self.policy.values(seen_in_tails(segments, self._policy, memory_BM))
            value_LTA[segments.tail_lane, segments.tail_tick, segments.tail_agent] = self._stretched(value_K)
        return value_LTA

    def _stretched(self, value: Tensor) -> Tensor:
        return self._values.stretch(value) if self.config.normalise_values else value

    def _shrunk(self, target_B: Tensor) -> Tensor:
        if not self.config.normalise_values:
            return target_B
        self._values.learn(*self._moments_of(target_B))
        return self._values.shrink(target_B)

    def flat(self) -> FloatArray:
        """Return a copy of the weights."""
        return self.policy.read()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of weights, moments and counters."""
        moments = {name: moment.numpy().copy() for name, moment in self._moments.items()}
        decisions = np.array(self.decisions, dtype=np.int64)
        return {"flat": self.flat(), "decisions": decisions, "values": self._values.state(), **moments}

    def restore(self, state: State) -> None:
        """Go on from a state."""
        self.policy.write(state["flat"])
        self.decisions = int(state["decisions"])
        self._values.restore(state["values"])
        for name, moment in self._moments.items():
            moment.copy_(torch.from_numpy(np.array(state[name])))

    def _train(self, data: Decisions, rng: np.random.Generator, between: Callable[[], None]) -> dict[str, float]:
        entropy_coef = self.config.entropy_coef(self.decisions)
        pieces = self._pieces(data)
        collected: list[dict[str, float]] = []
        for _ in range(self.config.epochs):
            for minibatch in data.minibatches(pieces, rng):
                actions, value_B = self.policy(minibatch.seen, minibatch.mask)
                loss, metrics = ppo_loss(actions, value_B, minibatch, self.config, entropy_coef)
                collected.append({name: float(value) for name, value in metrics.items()})
                if self._moved_enough(collected[-1], len(minibatch)):
                    return _mean(collected) | {"losses/gradient_steps": len(collected) - 1.0}
                self._descend(loss, len(minibatch))
                between()
        return _mean(collected) | {"losses/gradient_steps": float(len(collected))}

    def _pieces(self, data: Decisions) -> int:
        """Return how many minibatches there are: the same on every rank, and none of them empty."""
        wanted = round(self._group.total(len(data)) / self.config.minibatch)
        possible = -int(self._group.most(np.array([-data.units]))[0])
        return max(1, min(wanted, possible))

    def _moved_enough(self, metrics: dict[str, float], decisions: int) -> bool:
        if self.config.target_kl is None:
            return False
        divergence = self._group.mean(torch.tensor([metrics["losses/approx_kl"]]), decisions)
        return float(divergence) > self.config.target_kl

    def _descend(self, loss: Tensor, decisions: int) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        gradient = self.policy.flat.grad
        assert gradient is not None
        norm = float(self._group.mean(gradient, decisions).norm())  # not finite if it is so on any rank
        if not np.isfinite(norm):
            raise NotFiniteError
        if norm > self.config.max_grad_norm:
            gradient.mul_(self.config.max_grad_norm / norm)
        self._optimizer.step()

    @torch.no_grad()
    def _probe(self, data: Decisions) -> None:
        some = data[torch.arange(min(PROBE, len(data)))]
        actions, value_B = self.policy(some.seen, some.mask)
        told = (self.policy.flat, actions.log_probs, actions.mean, value_B)
        wrong = not all(bool(tensor.isfinite().all()) for tensor in told)
        if self._group.total(wrong):
            raise NotFiniteError

    def _normalised(self, advantage_B: Tensor) -> Tensor:
        """Return advantages with mean 0 and deviation 1 over the batches of all ranks."""
        mean, square = self._moments_of(advantage_B)
        return (advantage_B - mean) / ((square - mean.square()).clamp(min=0).sqrt() + 1e-8)

    def _moments_of(self, number_B: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and the mean square over the batches of all ranks."""
        moments = torch.stack([number_B.mean(), number_B.square().mean()])
        mean, square = self._group.mean(moments, len(number_B)).unbind()
        return mean, square


def _explained_variance(data: Decisions) -> float:
    variance = float(data.target.var(correction=0))
    unexplained = float((data.target - data.old_value).var(correction=0))
    return 1 - unexplained / variance if variance > 0 else 0.0


def _mean(collected: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([metrics[name] for metrics in collected])) for name in collected[0]}
