"""What actor-critic algorithms share: from segments to decisions with advantages, from losses to steps of Adam.

An algorithm of this kind is two functions: the estimate of targets and advantages, and the loss.

    class Mine(ActorCritic):
        def estimate(self, trajectories, value_LTA, log_ratio_LTA):
            return target_LTA, advantage_LTA
        def loss(self, actions, value_B, data, entropy_coef):
            return loss, metrics

A third, `auxiliary`, is the loss of extra outputs, which a network of another package may have.

Legend of shapes: see learners.decisions.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from league.metrics import APPROX_KL, GRADIENT_STEPS, LEARNING_RATE, MAGNET_KL, ROLLBACKS
from league.policies.distribution import Distribution
from league.policies.layout import FloatArray, PolicyConfig
from league.policies.module_policy import make_policy
from league.policies.torch_policy import TorchPolicy
from league.segment import Segments
from league.spec import EnvSpec
from learners.algorithms.algorithm import State, nothing
from learners.algorithms.config import ActorCriticConfig
from learners.algorithms.magnet import Magnet
from learners.algorithms.parameter_groups import ParameterGroups
from learners.batcher import Batch
from learners.decisions import Decisions, moved, seen_in, seen_in_tails
from learners.distributed import ALONE, Group
from learners.normaliser import Normaliser
from learners.returns import Trajectories

STATISTICS, LANES = 1024, 64  # decisions, or with a memory lanes, that running statistics of a network are taken from
CHECKED = 64  # decisions for which the new weights must give finite numbers before they are published

Loss = tuple[Tensor, dict[str, Tensor]]  # and metrics


class NotFiniteError(ArithmeticError):
    """NaN or infinity in training; the message says where."""


class ActorCritic:
    """Trains one player. See learners.algorithms.algorithm.Algorithm."""

    corrects = False  # whether it corrects for the age of data, and needs `log_ratio_LTA`

    def __init__(
        self, config: ActorCriticConfig, policy: PolicyConfig, spec: EnvSpec, flat: FloatArray, group: Group = ALONE
    ) -> None:
        self.config, self._policy, self._spec, self._group = config, policy, spec, group
        self.policy = make_policy(policy, spec).to(group.device)
        self._values = Normaliser()
        self.policy.write(flat)
        self._magnet = Magnet(config, policy, spec, flat).to(group.device) if config.magnet != "none" else None
        self.decisions, self.spent = 0, 0.0
        self.trouble = ""  # the reason of the last rollback
        weights = self.policy.flat
        self._groups = ParameterGroups(config.groups, self.policy.layout, group.device)
        self._optimizer = torch.optim.Adam([weights], lr=config.lr, eps=1e-5, fused=True)
        # Created now and not at the first step, so that there is always a state to save.
        self._moments: dict[str, Tensor] = {
            "step": torch.zeros((), device=weights.device),
            "exp_avg": torch.zeros_like(weights),
            "exp_avg_sq": torch.zeros_like(weights),
        }
        self._optimizer.state[weights] = self._moments

    # --- what an algorithm defines ---------------------------------------------------------------------------

    def estimate(self, trajectories: Trajectories, value_LTA: Tensor, log_ratio_LTA: Tensor) -> tuple[Tensor, Tensor]:
        """Return the targets of values and the advantages of actions.

        `log_ratio_LTA` is the log-probability of each action now minus that when it was chosen; 0 unless `corrects`.
        """
        raise NotImplementedError

    def loss(self, actions: Distribution, value_B: Tensor, data: Decisions, entropy_coef: float) -> Loss:
        """Return the loss of a minibatch, a mean over its decisions, and metrics, including `losses/approx_kl`."""
        raise NotImplementedError

    def auxiliary(self, extras: Mapping[str, Tensor], data: Decisions) -> Loss:
        """Return the loss of a network's extra outputs, which is added, and metrics; by default they are not used."""
        return torch.zeros(()), {}

    def regularised(self, reward_LTA: Tensor, log_ratio_LTA: Tensor) -> Tensor:
        """Return the rewards to learn from; `log_ratio_LTA` is log policy(a) - log magnet(a) of each action."""
        return reward_LTA

    # --- an update -------------------------------------------------------------------------------------------

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Learn from a batch; if anything is not finite, roll back and return 1 as `losses/rollbacks`."""
        good = self.state()
        learning_rate = self.config.learning_rate(self.decisions, self.spent)
        self._optimizer.param_groups[0]["lr"] = learning_rate
        try:
            data = self.prepare(batch.segments)
            metrics = self._train(data, rng, between)
            if data.log_ratio is not None:
                metrics["losses/stale_log_ratio"] = float(data.log_ratio.abs().mean())
            if self._policy.normalise:
                self._update_observation_statistics(data)
            if self.policy.has_buffers:
                self._update_buffers(data)
            self._check_finite(data, metrics)
        except NotFiniteError as error:
            self.restore(good)
            self.trouble = str(error)
            return {ROLLBACKS: 1.0}
        self.decisions += self._group.total(len(data))
        if self._magnet is not None:
            self._magnet.follow(self.flat())
        metrics["losses/explained_variance"] = _explained_variance(data)
        return metrics | {ROLLBACKS: 0.0, LEARNING_RATE: learning_rate}

    @torch.no_grad()
    def prepare(self, segments: Segments) -> Decisions:
        """Compute values and advantages under the present weights and flatten the decisions.

        Networks run on the device of this rank; single numbers for each decision stay on the CPU until the end.
        """
        device, present_LTA = self._group.device, torch.from_numpy(segments.present)
        seen = moved(seen_in(segments, self._policy, self.config.burn_in), device)
        mask_BN = moved(torch.from_numpy(segments.mask)[present_LTA], device)
        action_B = torch.from_numpy(segments.action)[present_LTA]
        action_B = moved(action_B.long() if self._spec.single else action_B, device)
        log_prob_B = decided_B = torch.from_numpy(segments.log_prob)[present_LTA]
        if self.corrects:
            actions, old_value_B, memory_BM, _ = self.policy.judge(seen, mask_BN)
            log_prob_B = actions.log_prob(action_B).cpu()
        else:
            old_value_B, memory_BM = self.policy.values(seen)
        value_B = self._stretched(old_value_B.cpu())
        magnet = None if self._magnet is None else self._magnet.judge(seen, mask_BN)
        apart_B = None if magnet is None else log_prob_B - magnet.log_prob(action_B).cpu()
        target_LTA, advantage_LTA = self.estimate(
            self._trajectories(segments, apart_B, self._tail_values(segments, memory_BM)),
            _spread(value_B, present_LTA),
            _spread(log_prob_B - decided_B, present_LTA),
        )
        advantage_B = advantage_LTA[present_LTA]
        decisions = Decisions(
            observation=seen.observation,
            mask=mask_BN,
            action=action_B,
            old_log_prob=log_prob_B,
            old_value=old_value_B,
            advantage=self._normalised(advantage_B) if self.config.normalise_advantages else advantage_B,
            target=self._shrunk(target_LTA[present_LTA]),
            log_ratio=log_prob_B - decided_B if self.corrects else None,
            place=seen.place,
            team=seen.team,
            joint=seen.joint,
            lane=present_LTA.nonzero()[:, 0] if seen.lanes is not None else None,
            lanes=seen.lanes,
            magnet=magnet,
        )
        return moved(decisions, device)

    def _trajectories(self, segments: Segments, apart_B: Tensor | None, tail_value_LTA: Tensor) -> Trajectories:
        """Return rewards and ends; `apart_B` is log policy(a) - log magnet(a) of each decision, if it has a magnet."""
        reward_LTA, present_LTA = torch.from_numpy(segments.reward), torch.from_numpy(segments.present)
        if apart_B is not None:
            reward_LTA = self.regularised(reward_LTA, _spread(apart_B, present_LTA))
        return Trajectories(reward_LTA, torch.from_numpy(segments.end), present_LTA, tail_value_LTA)

    def _tail_values(self, segments: Segments, memory_BM: Tensor | None) -> Tensor:
        value_LTA = torch.zeros(segments.present.shape)
        if len(segments.tail_lane):
            seen = seen_in_tails(segments, self._policy, None if memory_BM is None else memory_BM.cpu())
            value_K, _ = self.policy.values(moved(seen, self._group.device))
            value_LTA[segments.tail_lane, segments.tail_tick, segments.tail_agent] = self._stretched(value_K.cpu())
        return value_LTA

    def _train(self, data: Decisions, rng: np.random.Generator, between: Callable[[], None]) -> dict[str, float]:
        entropy_coef = self.config.entropy_coef(self.decisions, self.spent)
        epochs, _ = self.config.passes
        pieces = self._pieces(data)
        collected: list[dict[str, float]] = []
        for _ in range(epochs):
            for minibatch in data.minibatches(pieces, rng):
                collected.append(self._compute_gradient(minibatch, entropy_coef))
                if self._moved_enough(collected[-1], len(minibatch)):
                    return _mean(collected) | _count(len(collected) - 1, pieces)
                self._apply_gradient(len(minibatch), collected[-1])
                between()
        return _mean(collected) | _count(len(collected), pieces)

    def _compute_gradient(self, minibatch: Decisions, entropy_coef: float) -> dict[str, float]:
        """Compute the gradient of a minibatch, in `algo.accumulate` parts; return its metrics."""
        self._optimizer.zero_grad(set_to_none=True)
        found: dict[str, float] = {}
        for part in minibatch.parts(self.config.accumulate):
            share = len(part) / len(minibatch)
            actions, value_B, _, extras = self.policy.judge(part.seen, part.mask)
            learned_B = None if part.lanes is None else part.lanes.learned
            if learned_B is not None:
                actions, value_B, part = actions[learned_B], value_B[learned_B], part[learned_B]
                extras = {name: extra[learned_B] for name, extra in extras.items()}
            loss, metrics = self.loss(actions, value_B, part, entropy_coef)
            if extras:
                extra_loss, extra_metrics = self.auxiliary(extras, part)
                loss, metrics = loss + extra_loss, metrics | extra_metrics
            if self._magnet is not None and part.magnet is not None:
                divergence = self._magnet.pull(actions, part.magnet).mean()
                loss = loss + self.config.magnet_weight(self.decisions, self.spent) * divergence
                metrics[MAGNET_KL] = divergence.detach()
            (loss * share if share < 1 else loss).backward()
            for name, value in metrics.items():
                found[name] = found.get(name, 0.0) + share * float(value)
        return found

    def _pieces(self, data: Decisions) -> int:
        """Return the number of minibatches: the same on every rank, and none of them empty."""
        _, minibatch = self.config.passes
        wanted = round(self._group.total(len(data)) / minibatch)
        possible = -int(self._group.maximum(np.array([-data.units]))[0])
        return max(1, min(wanted, possible))

    def _moved_enough(self, metrics: dict[str, float], decisions: int) -> bool:
        if self.config.max_kl is None:
            return False
        divergence = self._group.mean(torch.tensor([metrics[APPROX_KL]]), decisions)
        return float(divergence) > self.config.max_kl

    def _apply_gradient(self, decisions: int, metrics: dict[str, float]) -> None:
        gradient = self.policy.flat.grad
        assert gradient is not None
        self._group.mean(gradient, decisions)  # not finite if any rank has such a number
        if not self._groups.clip(gradient, self.config.max_grad_norm):
            wrong = [name for name, number in metrics.items() if not math.isfinite(number)]
            raise NotFiniteError(", ".join([*wrong, "gradient"]))
        self._groups.step(self._optimizer, self.policy.flat)

    def _update_observation_statistics(self, data: Decisions) -> None:
        """Update the running statistics of observations, after the update, which used the same ones as the actors."""
        assert isinstance(self.policy, TorchPolicy)  # others have statistics of their own
        found = self._group.mean(torch.stack(self.policy.deviations(data.observation)), len(data))
        self.policy.take_in(found[0], found[1], self._group.total(len(data)))

    @torch.no_grad()
    def _update_buffers(self, data: Decisions) -> None:
        """Update running statistics inside the network, from some decisions; ranks average theirs."""
        few = np.unique(np.linspace(0, data.units - 1, STATISTICS if data.lanes is None else LANES).astype(np.int64))
        some = data[torch.from_numpy(few)] if data.lanes is None else data.of_lanes(few)
        self.policy.update_buffers(some.seen)
        self._group.mean(self.policy.flat.data, len(some))

    @torch.no_grad()
    def _check_finite(self, data: Decisions, metrics: dict[str, float]) -> None:
        """Raise on every rank if on any of them the new weights or their outputs are not finite."""
        some = data[torch.arange(min(CHECKED, len(data)))]
        actions, value_B = self.policy(some.seen, some.mask)
        found = {"weights": self.policy.flat, "log_probs": actions.log_probs, "means": actions.mean, "values": value_B}
        wrong = [name for name, tensor in found.items() if not bool(tensor.isfinite().all())]
        wrong += [name for name, number in metrics.items() if not math.isfinite(number)]
        if self._group.total(bool(wrong)):
            raise NotFiniteError(", ".join(wrong) or "another rank")

    # --- state -----------------------------------------------------------------------------------------------

    def flat(self) -> FloatArray:
        """Return a copy of the weights."""
        return self.policy.read()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of weights, moments and counters."""
        moments = {name: moment.cpu().numpy().copy() for name, moment in self._moments.items()}
        decisions = np.array(self.decisions, dtype=np.int64)
        magnet = {} if self._magnet is None else self._magnet.state()
        return {"flat": self.flat(), "decisions": decisions, "values": self._values.state(), **moments, **magnet}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        self.policy.write(state["flat"])
        self.decisions = int(state["decisions"])
        self._values.restore(state["values"])
        for name, moment in self._moments.items():
            moment.copy_(torch.from_numpy(np.array(state[name])))
        if self._magnet is not None:
            self._magnet.restore(state)

    # --- statistics of the batches of all ranks --------------------------------------------------------------

    def _stretched(self, value: Tensor) -> Tensor:
        return self._values.stretch(value) if self.config.normalise_values else value

    def _shrunk(self, target_B: Tensor) -> Tensor:
        if not self.config.normalise_values:
            return target_B
        self._values.learn(*self._moments_of(target_B))
        return self._values.shrink(target_B)

    def _normalised(self, advantage_B: Tensor) -> Tensor:
        """Return advantages with mean 0 and deviation 1."""
        mean, square = self._moments_of(advantage_B)
        return (advantage_B - mean) / ((square - mean.square()).clamp(min=0).sqrt() + 1e-8)

    def _moments_of(self, number_B: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and the mean square."""
        moments = torch.stack([number_B.mean(), number_B.square().mean()])
        mean, square = self._group.mean(moments, len(number_B)).unbind()
        return mean, square


def _spread(number_B: Tensor, present_LTA: Tensor) -> Tensor:
    return torch.zeros(present_LTA.shape).masked_scatter(present_LTA, number_B)


def _explained_variance(data: Decisions) -> float:
    variance = float(data.target.var(correction=0))
    unexplained = float((data.target - data.old_value).var(correction=0))
    return 1 - unexplained / variance if variance > 0 else 0.0


def _count(steps: int, pieces: int) -> dict[str, float]:
    """Return the number of gradient steps, and how often each decision was learned from."""
    return {GRADIENT_STEPS: float(steps), "reuse": steps / pieces}


def _mean(collected: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([metrics[name] for metrics in collected])) for name in collected[0]}
