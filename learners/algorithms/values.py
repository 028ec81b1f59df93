"""What algorithms share that learn values of actions from a replay: all but the loss.

Each has a network (and a target network like it, which follows in steps) and its own loss; its config says what of
segments goes into the cells of a replay. Legend of shapes: B decisions of a minibatch, N options.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from league.metrics import GRADIENT_STEPS, LEARNING_RATE, ROLLBACKS
from league.policies.layout import FloatArray
from league.policies.torch_policy import TorchPolicy
from learners.algorithms.actor_critic import NotFiniteError
from learners.algorithms.algorithm import State, nothing
from learners.algorithms.replay_config import ReplayConfig
from learners.batcher import Batch
from learners.distributed import ALONE, Group
from learners.replay import ReplaySource, Sample

Tensors = dict[str, Tensor]


class Minibatch(NamedTuple):
    """Decisions drawn from a replay, as tensors."""

    seen: Tensors  # [B, ...] each: what the network is told
    action: Tensor  # [B], or [B, agents]
    reward: Tensor  # [B] summed over up to n steps
    discount: Tensor  # [B] of the value of what followed
    after: Tensors  # [B, ...] what followed
    weight: Tensor  # [B] of the importance


def minibatch(sample: Sample, weight_B: npt.NDArray[np.float32], device: torch.device) -> Minibatch:
    """Return a sample as tensors on a device."""

    def tensor(array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(device)

    return Minibatch(
        seen={name: tensor(array) for name, array in sample.seen.items()},
        action=tensor(sample.action).long(),
        reward=tensor(sample.reward),
        discount=tensor(sample.discount),
        after={name: tensor(array) for name, array in sample.after.items()},
        weight=tensor(weight_B),
    )


class Loss(NamedTuple):
    """What a minibatch says of a network."""

    loss: Tensor
    error: Tensor  # [B] value minus target
    value: Tensor  # [B] of what was done


class ValueNetwork(nn.Module):
    """What is trained: the policy that collectors get, and in subclasses what only the learner needs."""

    def __init__(self, policy: TorchPolicy) -> None:
        super().__init__()
        self.policy = policy


class ValueLearning(ABC):
    """Trains one player. See learners.algorithms.algorithm.Algorithm; the replay is not part of its state."""

    def __init__(self, config: ReplayConfig, network: ValueNetwork, flat: FloatArray, group: Group = ALONE) -> None:
        self._device = group.device
        self.config, self.network, self._group = config, network.to(self._device), group
        network.policy.write(flat)
        self.target = copy.deepcopy(network).requires_grad_(False)
        self.stock = config.stock(group.size)
        self.decisions, self.spent = 0, 0.0
        self.trouble = ""  # what was not finite at the last rollback
        self._gradient_steps = 0
        self._optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, fused=True)
        # Made now and not at the first step, so that there is a state to save at any time.
        for parameter in network.parameters():
            self._optimizer.state[parameter] = {
                "step": torch.zeros((), device=self._device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    @abstractmethod
    def loss(self, data: Minibatch) -> Loss:
        """Return the loss of a minibatch."""

    # --- learning --------------------------------------------------------------------------------------------

    def update(self, batch: Batch, rng: np.random.Generator, between: Callable[[], None] = nothing) -> dict[str, float]:
        """Take in a batch and learn from the replay as often as is due; roll back what is not finite."""
        return self.learn(self.stock, rng, between, lambda: self._insert(batch))

    def learn(
        self,
        source: ReplaySource,
        rng: np.random.Generator,
        between: Callable[[], None] = nothing,
        first: Callable[[], None] = nothing,
    ) -> dict[str, float]:
        """Learn from a replay, wherever it is, as often as is due; roll back what is not finite."""
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
        epsilon = self.config.exploration(self.decisions)
        self.network.policy.explore(epsilon, self.config.epsilon_spread)
        counted = {"reuse": source.reuse, "replay": float(source.size), "charts/epsilon": epsilon}
        return metrics | counted | {ROLLBACKS: 0.0, LEARNING_RATE: learning_rate}

    def _insert(self, batch: Batch) -> None:
        steps, log_prob = self.config.steps_of(batch.segments), batch.segments.log_prob
        floats = [array for array in (steps.reward, log_prob, *steps.seen.values()) if array.dtype.kind == "f"]
        if self._group.total(not all(np.isfinite(array).all() for array in floats)):
            raise NotFiniteError("segments")
        self.stock.insert(steps, batch.decisions)

    def _train(self, source: ReplaySource, rng: np.random.Generator, between: Callable[[], None]) -> dict[str, float]:
        collected: list[tuple[float, float, float]] = []
        while not self._group.most(np.array([not source.due()], np.int64))[0]:  # until one rank has no more
            sample = source.sample(rng)
            collected.append(self._descend(source, sample))
            self._gradient_steps += 1
            if self._gradient_steps % self.config.target_steps == 0:
                self.target.load_state_dict(self.network.state_dict())
            between()
        if not collected:
            between()
            return {GRADIENT_STEPS: 0.0}
        self._probe(source, sample)
        loss, error, value = np.mean(collected, axis=0).tolist()
        told = {"losses/td_loss": loss, "losses/td_error": error, "losses/value": value}
        return told | {GRADIENT_STEPS: float(len(collected))}

    def _descend(self, source: ReplaySource, sample: Sample) -> tuple[float, float, float]:
        """Take one gradient step; return the loss, the mean error and the mean value."""
        found = self.loss(minibatch(sample, sample.weights(self.config.beta(self.decisions)), self._device))
        self._optimizer.zero_grad(set_to_none=True)
        found.loss.backward()
        error = found.error.abs().double().cpu().numpy()
        if not self._shorten_gradient(found.loss.detach()):
            poison = ~np.isfinite(error)
            source.drop(sample.index[poison if poison.any() else slice(None)])
            raise NotFiniteError("errors" if poison.any() else "loss or gradient")
        self._optimizer.step()
        source.prioritise(sample.index, error)
        return float(found.loss.detach()), float(error.mean()), float(found.value.double().mean())

    def _shorten_gradient(self, loss: Tensor) -> bool:
        """Share the gradient with all ranks, and shorten it if it is long; False if it, or the loss, is not finite."""
        gradients = [parameter.grad for parameter in self.network.parameters() if parameter.grad is not None]
        whole = self._group.mean(torch.cat([*(gradient.reshape(-1) for gradient in gradients), loss.reshape(1)]), 1.0)
        norm = float(whole[:-1].norm())
        if not np.isfinite(norm) or not whole[-1].isfinite():
            return False
        if norm > self.config.max_grad_norm:
            whole.mul_(self.config.max_grad_norm / norm)
        for gradient, piece in zip(gradients, whole[:-1].split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(piece.view_as(gradient))
        return True

    @torch.no_grad()
    def _probe(self, source: ReplaySource, sample: Sample) -> None:
        """Refuse weights that answer with anything that is not finite."""
        error_B = self.loss(minibatch(sample, sample.weights(0), self._device)).error
        told = (error_B, *self.network.parameters())
        if self._group.total(not all(bool(tensor.isfinite().all()) for tensor in told)):
            source.drop(sample.index[~error_B.isfinite().cpu().numpy()])
            raise NotFiniteError("weights, or errors after the last step")

    # --- what a checkpoint keeps -----------------------------------------------------------------------------

    def flat(self) -> FloatArray:
        """Return a copy of the weights."""
        return self.network.policy.read()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of networks, moments and counters; the replay fills anew."""
        limit, replay = self.stock.limit, self.stock.replay
        counters = [self.decisions, self._gradient_steps, limit.inserts, limit.samples]
        rates = [limit.due, replay.highest]
        tensors = {name: tensor.cpu().numpy().copy() for name, tensor in self._tensors().items()}
        return {"flat": self.flat(), "counters": np.array(counters, np.int64), "rates": np.array(rates), **tensors}

    def restore(self, state: State) -> None:
        """Go on from a state."""
        limit, replay = self.stock.limit, self.stock.replay
        self.decisions, self._gradient_steps, limit.inserts, limit.samples = state["counters"].tolist()
        limit.due, replay.highest = state["rates"].tolist()
        self.network.policy.write(state["flat"])
        for name, tensor in self._tensors().items():
            tensor.copy_(torch.from_numpy(np.array(state[name])))

    def _tensors(self) -> dict[str, Tensor]:
        """Return all that is trained or follows, by name, but for the weights that collectors get."""
        found: dict[str, Tensor] = {}
        for name, parameter in self.network.named_parameters():
            if parameter is not self.network.policy.flat:
                found[f"network.{name}"] = parameter.detach()
            found |= {f"{kind}.{name}": moment for kind, moment in self._optimizer.state[parameter].items()}
        return found | {f"target.{name}": parameter for name, parameter in self.target.named_parameters()}
