"""What algorithms share that learn action values from a replay: all but the loss.

Each has a network, a target network that is updated in steps, and its own loss; its config says how segments become
the cells of a replay. Legend of shapes: B decisions of a minibatch, N options.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from league.metrics import GRADIENT_STEPS, LEARNING_RATE, ROLLBACKS
from league.policies.flat_policy import FlatPolicy, Observed
from league.policies.layout import FloatArray
from league.policies.torch_policy import TorchPolicy
from league.segment import not_finite
from learners.algorithms.actor_critic import NotFiniteError
from learners.algorithms.algorithm import State, nothing
from learners.algorithms.curl import Contrast, contrastive_loss, random_crops
from learners.algorithms.parameter_groups import ParameterGroups
from learners.algorithms.replay_config import ReplayConfig
from learners.batcher import Batch
from learners.distributed import ALONE, Group
from learners.replay import ReplaySource, Sample

Tensors = dict[str, Tensor]


class Minibatch(NamedTuple):
    """Decisions sampled from a replay, as tensors."""

    seen: Tensors  # [B, ...] each: the inputs of the network
    action: Tensor  # [B], or [B, agents], or float [B, parts] if an action is no single choice
    reward: Tensor  # [B] summed over up to n steps
    discount: Tensor  # [B] of the value that follows
    after: Tensors  # [B, ...] the inputs that follow
    weight: Tensor  # [B] importance weights


def minibatch(sample: Sample, weight_B: npt.NDArray[np.float32], device: torch.device) -> Minibatch:
    """Return a sample as tensors on a device."""

    def tensor(array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(device)

    action = tensor(sample.action)
    return Minibatch(
        seen={name: tensor(array) for name, array in sample.seen.items()},
        action=action if action.is_floating_point() else action.long(),
        reward=tensor(sample.reward),
        discount=tensor(sample.discount),
        after={name: tensor(array) for name, array in sample.after.items()},
        weight=tensor(weight_B),
    )


class Loss(NamedTuple):
    """The loss of a minibatch and what it is computed from."""

    loss: Tensor
    error: Tensor  # [B] value minus target, or what else priorities are made of
    value: Tensor  # [B] of the action taken
    metrics: Mapping[str, Tensor] = MappingProxyType({})  # more of them, by name


class ValueNetwork(nn.Module):
    """The trained modules: the policy that collectors get, and what only the learner needs."""

    def __init__(self, policy: FlatPolicy) -> None:
        super().__init__()
        self.policy = policy
        self.contrast: Contrast | None = None

    def add_contrast(self, observation: Tensor, size: int, flat: FloatArray) -> None:
        """Add what CURL needs, for such observations."""
        with torch.no_grad():
            self.contrast = Contrast(self.policy.encoded(observation).shape[1], size, flat)


class ValueLearning(ABC):
    """Trains one player. See learners.algorithms.algorithm.Algorithm; the replay is not part of its state."""

    def __init__(self, config: ReplayConfig, network: ValueNetwork, flat: FloatArray, group: Group = ALONE) -> None:
        self._device = group.device
        network.policy.write(flat)
        if config.curl:
            network.add_contrast(network.policy.blank(), config.curl_size, flat)
        self.config, self.network, self._group = config, network.to(self._device), group
        self.target = copy.deepcopy(network).requires_grad_(False)
        self.replay = config.new_replay(group.size)
        self.decisions, self.spent = 0, 0.0
        self.trouble = ""  # the reason of the last rollback
        self._gradient_steps = 0
        self._groups = ParameterGroups(config.groups, network.policy.layout, self._device)
        self._optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, fused=True)
        # Created now and not at the first step, so that there is always a state to save.
        for parameter in network.parameters():
            self._optimizer.state[parameter] = {
                "step": torch.zeros((), device=self._device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    @abstractmethod
    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""

    @abstractmethod
    def observed(self, seen: Tensors) -> Observed:
        """Return the inputs of a minibatch as the network takes them."""

    # --- learning --------------------------------------------------------------------------------------------

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Insert a batch and learn from the replay as often as is due; roll back if anything is not finite."""
        return self.learn(self.replay, rng, between, lambda: self._insert(batch))

    def learn(
        self,
        source: ReplaySource,
        rng: np.random.Generator,
        between: Callable[[], None] = nothing,
        first: Callable[[], None] = nothing,
    ) -> dict[str, float]:
        """Learn from a replay in any process as often as is due; roll back if anything is not finite."""
        good = self.state()
        learning_rate = self.config.learning_rate(self.decisions, self.spent)
        self._optimizer.param_groups[0]["lr"] = learning_rate
        try:
            first()
            metrics = self._train(source, rng, between)
        except NotFiniteError as error:
            self.restore(good)
            self.trouble = str(error)
            source.fresh()
            return {ROLLBACKS: 1.0}
        self.decisions += self._group.total(source.fresh())
        counted = {"reuse": source.reuse, "replay": float(source.size), **self._explore()}
        return metrics | counted | {ROLLBACKS: 0.0, LEARNING_RATE: learning_rate}

    def _explore(self) -> dict[str, float]:
        """Set how collectors explore with the new weights; return it as a metric."""
        if not self.config.explores:
            return {}
        rate = self.config.exploration(self.decisions)
        self.network.policy.explore(rate, self.config.spread)
        return {f"charts/{self.config.explores}": rate}

    def _insert(self, batch: Batch) -> None:
        steps = self.config.steps_of(batch.segments)
        wrong = not_finite({"reward": steps.reward, "log_prob": batch.segments.log_prob, **steps.seen})
        if self._group.total(bool(wrong)):
            raise NotFiniteError("segments")
        self.replay.insert(steps, batch.decisions)

    def _train(self, source: ReplaySource, rng: np.random.Generator, between: Callable[[], None]) -> dict[str, float]:
        collected: list[dict[str, float]] = []
        while not self._group.maximum(np.array([not source.due()], np.int64))[0]:  # until one rank has no more
            sample = source.sample(rng)
            if self.network.policy.normalises and not collected:  # first, so that every gradient step is normalised
                self._update_observation_statistics(sample)
            collected.append(self._gradient_step(source, sample, rng))
            self._gradient_steps += 1
            if self._gradient_steps % self.config.target_steps == 0:
                self._follow()
            between()
        if not collected:
            between()
            return {GRADIENT_STEPS: 0.0}
        if self.network.policy.has_buffers:
            self._update_buffers(sample)
        self._check_finite(source, sample)
        names = dict.fromkeys(name for step in collected for name in step)
        means = {name: float(np.mean([step[name] for step in collected if name in step])) for name in names}
        return means | {GRADIENT_STEPS: float(len(collected))}

    @torch.no_grad()
    def _follow(self) -> None:
        """Move the target network towards the network."""
        for behind, ahead in zip(self.target.parameters(), self.network.parameters(), strict=True):
            behind.lerp_(ahead, self.config.tau)

    @torch.no_grad()
    def _update_observation_statistics(self, sample: Sample) -> None:
        """Update the running statistics of observations from a minibatch; network and target have the same ones."""
        seen = self.observed(minibatch(sample, sample.weights(0), self._device).seen).observation
        assert isinstance(self.network.policy, TorchPolicy)  # others have statistics of their own
        found = self._group.mean(torch.stack(self.network.policy.deviations(seen)), len(seen))
        count = self._group.total(len(seen))
        for each in (self.network.policy, self.target.policy):
            assert isinstance(each, TorchPolicy)
            each.take_in(found[0], found[1], count)

    @torch.no_grad()
    def _update_buffers(self, sample: Sample) -> None:
        """Update running statistics inside the network, from the last minibatch; ranks average theirs."""
        data = minibatch(sample, sample.weights(0), self._device)
        self.network.policy.update_buffers(self.observed(data.seen))
        self._group.mean(self.network.policy.flat.data, len(data.action))

    def _gradient_step(self, source: ReplaySource, sample: Sample, rng: np.random.Generator) -> dict[str, float]:
        """Take one gradient step; return the loss, the mean error, the mean value, and what the losses add."""
        for each in (self.network, self.target):
            each.policy.sample_noise(rng)
        data = minibatch(sample, sample.weights(self.config.beta(self.decisions)), self._device)
        found, contrast = self.loss(data), self._contrast(data, rng)
        whole = found.loss + self.config.curl * contrast
        self._optimizer.zero_grad(set_to_none=True)
        whole.backward()
        error = found.error.abs().double().cpu().numpy()
        if not self._clip_gradient(whole.detach()):
            bad = ~np.isfinite(error)
            source.drop(sample.index[bad if bad.any() else slice(None)])
            raise NotFiniteError("errors" if bad.any() else "loss or gradient")
        self._groups.step(self._optimizer, self.network.policy.flat)
        source.prioritise(sample.index, error)
        means = {"losses/td_error": float(error.mean()), "losses/value": float(found.value.double().mean())}
        more = {name: float(metric) for name, metric in found.metrics.items()}
        if self.config.curl:
            more["losses/curl"] = float(contrast.detach())
        return {"losses/td_loss": float(found.loss.detach())} | means | more

    def _contrast(self, data: Minibatch, rng: np.random.Generator) -> Tensor:
        """Return the loss of CURL for the observations of a minibatch; 0 without it."""
        network, target = self.network, self.target
        if network.contrast is None or target.contrast is None:
            return torch.zeros((), device=self._device)
        picture_BX = self.observed(data.seen).observation
        one_BX, other_BX = (random_crops(picture_BX, self.config.curl_shift, rng) for _ in range(2))
        with torch.no_grad():
            key_BZ = target.contrast.codes(target.policy, other_BX)
        query_BZ = network.contrast.codes(network.policy, one_BX)
        return contrastive_loss(query_BZ, key_BZ, network.contrast.similarity)

    def _clip_gradient(self, loss: Tensor) -> bool:
        """Average the gradient over all ranks and clip its norm; False: it or the loss is not finite."""
        gradients = [parameter.grad for parameter in self.network.parameters() if parameter.grad is not None]
        whole = self._group.mean(torch.cat([*(gradient.reshape(-1) for gradient in gradients), loss.reshape(1)]), 1.0)
        norm = float(whole[:-1].norm())
        if not np.isfinite(norm) or not whole[-1].isfinite():
            return False
        if self._groups.any:
            size = self.network.policy.flat.numel()  # the first parameter; what follows only the learner has
            self._groups.clip(whole[:size], self.config.max_grad_norm)
            norm, rest = float(whole[size:-1].norm()), whole[size:-1]
        else:
            rest = whole
        if norm > self.config.max_grad_norm:
            rest.mul_(self.config.max_grad_norm / norm)
        for gradient, piece in zip(gradients, whole[:-1].split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(piece.view_as(gradient))
        return True

    @torch.no_grad()
    def _check_finite(self, source: ReplaySource, sample: Sample) -> None:
        """Raise if the weights, or errors under them, are not finite."""
        error_B = self.loss(minibatch(sample, sample.weights(0), self._device)).error
        found = (error_B, *self.network.parameters())
        if self._group.total(not all(bool(tensor.isfinite().all()) for tensor in found)):
            source.drop(sample.index[~error_B.isfinite().cpu().numpy()])
            raise NotFiniteError("weights, or errors after the last step")

    # --- state -----------------------------------------------------------------------------------------------

    def flat(self) -> FloatArray:
        """Return a copy of the weights."""
        return self.network.policy.read()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of networks, moments and counters; the replay is not part of it."""
        limit, replay = self.replay.limit, self.replay.replay
        counters = [self.decisions, self._gradient_steps, limit.inserts, limit.samples]
        rates = [limit.due, replay.highest]
        tensors = {name: tensor.cpu().numpy().copy() for name, tensor in self._tensors().items()}
        return {"flat": self.flat(), "counters": np.array(counters, np.int64), "rates": np.array(rates), **tensors}

    def restore(self, state: State) -> None:
        """Continue from a state."""
        limit, replay = self.replay.limit, self.replay.replay
        self.decisions, self._gradient_steps, limit.inserts, limit.samples = state["counters"].tolist()
        limit.due, replay.highest = state["rates"].tolist()
        self.network.policy.write(state["flat"])
        for name, tensor in self._tensors().items():
            tensor.copy_(torch.from_numpy(np.array(state[name])))

    def _tensors(self) -> dict[str, Tensor]:
        """Return the tensors of networks and optimizer by name, except the weights that collectors get."""
        found: dict[str, Tensor] = {}
        for name, parameter in self.network.named_parameters():
            if parameter is not self.network.policy.flat:
                found[f"network.{name}"] = parameter.detach()
            found |= {f"{kind}.{name}": moment for kind, moment in self._optimizer.state[parameter].items()}
        return found | {f"target.{name}": parameter for name, parameter in self.target.named_parameters()}
