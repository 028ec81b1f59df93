"""The settings that off-policy actor-critics have in common."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.replay_config import ReplayConfig


@dataclass(kw_only=True, slots=True)
class OffPolicyConfig(ReplayConfig):
    """A policy and critics that learn from a replay; the critics are in the learner only."""

    actions: ClassVar[tuple[str, ...]] = ("continuous",)
    own_critics: ClassVar[bool] = True
    torch_networks: ClassVar[bool] = False
    critics: ClassVar[int] = 2
    batch: int = 128  # new decisions for each version of the weights, at least
    minibatch: int = 128  # decisions for each gradient step, sampled from the replay
    lr: float = 1e-3  # learning rate at the start
    warmup: int = 1000  # decisions that the replay must hold before learning begins
    samples_per_insert: float = 128.0  # how often each decision is learned from, on average
    priority: float = 0.0  # sample a decision in proportion to this power of its error; 0: uniformly
    n_step: int = 1  # rewards that are summed before the rest is estimated
    target_steps: int = 1  # gradient steps after which the target networks move
    tau: float = 0.005  # how far they then move towards the networks; 1: they become the networks
