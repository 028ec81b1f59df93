"""Networks that are trained, in torch: what all of them have in common, whether built-in or of another package.

Legend of shapes: B decisions, L lanes, T ticks, A agents of the seat, N options, M numbers of a memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from league.policies.distribution import Distribution, distribution
from league.policies.layout import FloatArray, PolicyConfig, describe
from league.spec import EnvSpec


@dataclass(frozen=True, slots=True)
class Lanes:
    """The order of decisions in time, for a recurrent network. Decision b is the b-th true entry of `present`."""

    present: Tensor  # [L, T, A]
    restart: Tensor  # [L, T, A] whether a new episode begins for that agent, with an empty memory
    memory: Tensor  # [L, A, M] before the first tick
    warm: Tensor | None = None  # [L, T, A] decisions that only update a stored memory, and are not learned from

    @property
    def learned(self) -> Tensor | None:
        """A mask of the decisions that are learned from, [B]; None: all of them."""
        if self.warm is None or not bool(self.warm.any()):
            return None
        learned = ~self.warm[self.present]
        return learned if bool(learned.any()) else None

    def __getitem__(self, lanes: Tensor) -> "Lanes":
        warm = None if self.warm is None else self.warm[lanes]
        return Lanes(self.present[lanes], self.restart[lanes], self.memory[lanes], warm)


@dataclass(frozen=True, slots=True)
class Observed:
    """The inputs of a network for each of B decisions."""

    observation: Tensor  # [B, ...]
    place: Tensor | None = None  # [B] index of the agent in its seat; None: the first
    joint: Tensor | None = None  # inputs of a separate critic: [B, A, observation] of all agents, or [B, state]
    lanes: Lanes | None = None  # None: every decision is the first of an episode
    mask: Tensor | None = None  # [B, N] legal options, for networks that see them; None: all
    team: Tensor | None = None  # [B, A] which agents of the seat decide at that moment; None: only this one


class Judged(NamedTuple):
    """What a network makes of B decisions."""

    actions: Distribution
    value: Tensor  # [B]
    memory: Tensor | None  # [B, M] after each decision; None without one
    extras: Mapping[str, Tensor]  # [B, ...] more outputs, by name


@dataclass(frozen=True, slots=True)
class Answers:
    """The raw outputs of a network for B decisions."""

    outputs: Tensor  # [B, ...] unmasked: of each option, the mean of each Gaussian, and maybe its deviation
    value: Tensor  # [B]
    log_std: Tensor | None = None  # [continuous] of the Gaussians, unless it is an output
    memory: Tensor | None = None  # [B, M] after each decision; None without one
    extras: Mapping[str, Tensor] = field(default_factory=dict)


class FlatPolicy(nn.Module, ABC):
    """A network whose only parameter is the flat vector: one tensor to optimize, to clip and to publish.

    policy = make_policy(config, spec)                          # league.policies.module_policy
    policy.write(initial(config, spec, seed))
    distribution, value_B = policy(Observed(observation_BX), mask_BN)
    """

    def __init__(self, config: PolicyConfig, spec: EnvSpec) -> None:
        super().__init__()
        self.layout = layout = describe(config, spec)
        self._config, self._spec = config, spec
        self._shapes, self._sizes = layout.shapes, layout.sizes
        self.flat = nn.Parameter(torch.zeros(layout.size))
        self._settled: dict[str, Tensor] | None = None

    @abstractmethod
    def answers(self, seen: Observed) -> Answers:
        """Return the raw outputs of each decision."""

    def forward(self, seen: Observed, mask: Tensor) -> tuple[Distribution, Tensor]:
        """Return the distribution over actions and the value of each decision."""
        judged = self.judge(seen, mask)
        return judged.actions, judged.value

    def judge(self, seen: Observed, mask: Tensor) -> Judged:
        """Return the distribution over actions, the value, the memory after each decision, and extra outputs."""
        found = self.answers(seen if seen.mask is not None else _masked(seen, mask))
        log_std = found.log_std if found.log_std is not None else found.outputs.new_zeros(0)
        actions = distribution(self._spec, found.outputs, mask, log_std)
        return Judged(actions, found.value, found.memory, found.extras)

    def outputs(self, seen: Observed) -> tuple[Tensor, Tensor]:
        """Return the unmasked outputs for each option of each decision, and the value of each decision."""
        found = self.answers(seen)
        return found.outputs, found.value

    def values(self, seen: Observed) -> tuple[Tensor, Tensor | None]:
        """Return the value of each decision, and the memory after it (None without one)."""
        found = self.answers(seen)
        return found.value, found.memory

    def logits(self, seen: Observed) -> tuple[Tensor, Tensor | None]:
        """Return the outputs that actions are sampled from, and the memory after each decision (None without one)."""
        found = self.answers(seen)
        return found.outputs, found.memory

    @property
    def normalises(self) -> bool:
        """Whether it normalises observations by running statistics, which a learner must update."""
        return False

    @property
    def has_buffers(self) -> bool:
        """Whether it has running statistics that a learner must update."""
        return False

    def update_buffers(self, seen: Observed) -> None:
        """Update the running statistics of a network that has any, after an update of its weights."""

    def blank(self) -> Tensor:
        """Return one empty observation."""
        return torch.zeros(1, *self._spec.observation.shape)

    def encoded(self, observation: Tensor) -> Tensor:
        """Return the features that convolutions find in pictures [B, F], for losses that train these alone."""
        raise ValueError(f"policy.name={self._config.name} has no convolutions that can be trained alone")

    def sample_noise(self, rng: np.random.Generator, rows: int = 1) -> None:
        """Sample noise for the next passes, if it is a noisy network: the same for all decisions, or for each row."""

    def drop_noise(self) -> None:
        """Make the next passes without noise."""

    def explore(self, epsilon: float, spread: float) -> None:
        """Set the exploration rates of actors with these weights: see league.policies.exploration."""
        with torch.no_grad():
            self._parameters_by_name()["exploration"].copy_(torch.tensor([epsilon, spread]))

    def read(self) -> FloatArray:
        """Return a copy of the weights."""
        copy: FloatArray = self.flat.detach().cpu().numpy().copy()
        return copy

    def write(self, flat: FloatArray) -> None:
        """Replace the weights; raise ValueError if the size differs."""
        if flat.shape != tuple(self.flat.shape):
            raise ValueError(
                f"these weights have {flat.size} numbers, this policy and environment need {len(self.flat)}: "
                "they belong to another policy config or environment"
            )
        with torch.no_grad():
            self.flat.copy_(torch.from_numpy(np.array(flat, dtype=np.float32)))

    def settle(self) -> None:
        """Keep the present weights for acting: the vector is taken apart once, and not for each call."""
        with torch.no_grad():
            self._settled = self._parameters_by_name()

    def _parameters_by_name(self) -> dict[str, Tensor]:
        if self._settled is not None:
            return self._settled
        # The backward of one split joins all gradients; with slices, each would be padded with zeros and added.
        pieces = self.flat.split(self._sizes)
        return {name: piece.view(shape) for (name, shape), piece in zip(self._shapes.items(), pieces, strict=True)}


def _masked(seen: Observed, mask: Tensor) -> Observed:
    return Observed(seen.observation, seen.place, seen.joint, seen.lanes, mask, seen.team)
