"""The settings of PPO; apart, because processes that never import torch read configs, too."""

from dataclasses import dataclass

SCHEDULES = ("constant", "linear")


@dataclass(kw_only=True, slots=True)
class PPOConfig:
    """How a player learns."""

    batch: int = 4096  # decisions for each update, at least
    minibatch: int = 512  # decisions for each gradient step, about
    epochs: int = 4  # how often an update goes through its batch
    lr: float = 3e-4  # learning rate of Adam at the start
    lr_schedule: str = "constant"  # "constant", or "linear" over anneal_decisions
    lr_final: float = 0.0  # share of lr that is left at the end of a linear schedule
    anneal_decisions: int = 0  # decisions of an incarnation over which lr and entropy are annealed
    entropy: float = 0.01  # weight of the entropy bonus at the start
    entropy_final: float | None = None  # its weight at the end of anneal_decisions; None: constant
    gamma: float = 0.99  # discount for each decision of an agent
    gae_lambda: float = 0.95  # how far advantages look ahead
    clip: float = 0.2  # how far the probability ratio may move
    value_clip: float | None = None  # how far a value may move in one update; None: any distance
    value_coef: float = 0.5  # weight of the value loss
    max_grad_norm: float = 0.5  # longer gradients are shortened to this
    target_kl: float | None = None  # an update ends once its approximate KL exceeds this; None: never
    normalise_advantages: bool = True  # to mean 0 and deviation 1 over the batch
    normalise_values: bool = False  # learn values at a running mean of 0 and deviation of 1
    max_lag: int = 2  # segments decided by weights more versions old than this are dropped

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        if self.lr_schedule not in SCHEDULES:
            raise ValueError(f"algo.lr_schedule: unknown {self.lr_schedule!r}. Known: {', '.join(SCHEDULES)}.")
        if (self.lr_schedule == "linear" or self.entropy_final is not None) and self.anneal_decisions < 1:
            raise ValueError("algo.anneal_decisions must say over how many decisions lr or entropy is annealed")
        if min(self.batch, self.minibatch, self.epochs) < 1 or self.max_lag < 0:
            raise ValueError("algo: batch, minibatch and epochs must be at least 1, max_lag at least 0")

    def learning_rate(self, decisions: int) -> float:
        """Return the learning rate after so many decisions."""
        if self.lr_schedule == "constant":
            return self.lr
        return self.lr * (1 - (1 - self.lr_final) * self._annealed(decisions))

    def entropy_coef(self, decisions: int) -> float:
        """Return the weight of the entropy bonus after so many decisions."""
        if self.entropy_final is None:
            return self.entropy
        return self.entropy + (self.entropy_final - self.entropy) * self._annealed(decisions)

    def _annealed(self, decisions: int) -> float:
        return min(1.0, decisions / self.anneal_decisions)
