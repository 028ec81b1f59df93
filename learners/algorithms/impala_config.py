"""The settings of IMPALA."""

from dataclasses import dataclass
from typing import ClassVar

from learners.algorithms.config import ActorCriticConfig


@dataclass(kw_only=True, slots=True)
class IMPALAConfig(ActorCriticConfig):
    """Importance-weighted actor-learner: an actor-critic with V-trace, one pass over each batch."""

    algorithm: ClassVar[str] = "learners.algorithms.impala:IMPALA"
    name: str = "impala"
    batch: int = 1024  # decisions for each update, at least
    minibatch: int = 1024  # decisions for each gradient step, about; with less than a batch later steps go uncorrected
    lr: float = 6e-4  # learning rate at the start
    normalise_advantages: bool = False  # to mean 0 and deviation 1 over the batch
    max_lag: int = 8  # segments decided by weights more versions old than this are dropped
    vtrace_lambda: float = 1.0  # how far targets look ahead: 1 as far as the segment goes
    rho_max: float = 1.0  # the most that a decision's importance weight counts
    c_max: float = 1.0  # the most that it counts for the decisions before it

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ActorCriticConfig.__post_init__(self)
        if self.minibatch < 1 or not 0 < self.c_max <= self.rho_max:
            raise ValueError("algo: minibatch and c_max must be positive, and rho_max at least c_max")
        if not 0 <= self.vtrace_lambda <= 1:
            raise ValueError(f"algo.vtrace_lambda must lie between 0 and 1, got {self.vtrace_lambda}")

    @property
    def passes(self) -> tuple[int, int]:
        """The number of epochs of an update, and of decisions in a gradient step."""
        return 1, self.minibatch
