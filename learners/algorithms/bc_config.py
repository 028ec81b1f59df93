"""The settings of behaviour cloning."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from league.policies.layout import PolicyConfig
from learners.algorithms.config import ActorCriticConfig


@dataclass(kw_only=True, slots=True)
class BCConfig(ActorCriticConfig):
    """Behaviour cloning: supervised learning from recorded games."""

    algorithm: ClassVar[str] = "learners.algorithms.bc:BC"
    name: str = "bc"
    data: str = ""  # a data set of games, or one of its files: ludus export RUN --to games
    players: list[str] = field(default_factory=list)  # whom to imitate; main.*: all that main froze; none: everybody
    batch: int = 512  # decisions of its own that are played between two updates: only what it imitates is learned from
    lessons: int = 4096  # decisions to imitate in each update, about
    minibatch: int = 256  # decisions for each gradient step, about
    epochs: int = 1  # how often an update goes through its lessons
    held_out: float = 0.1  # share of the data set that is never learned from, to see how well it generalises
    lr: float = 1e-3  # learning rate at the start
    entropy: float = 0.0  # weight of the entropy bonus at the start
    value_coef: float = 0.0  # weight of the value loss: above 0 values learn the returns of the data
    max_lag: int = 1_000_000  # segments decided by weights more versions old than this are dropped

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        ActorCriticConfig.__post_init__(self)
        if min(self.lessons, self.minibatch, self.epochs) < 1:
            raise ValueError("algo: lessons, minibatch and epochs must be at least 1")
        if not 0 <= self.held_out < 1:
            raise ValueError(f"algo.held_out must be at least 0 and less than 1, got {self.held_out}")

    def refuse(self, policy: PolicyConfig) -> None:
        """Raise ValueError if there is nothing to imitate, or the network sees what the data lacks."""
        ActorCriticConfig.refuse(self, policy)
        if policy.sees_state:
            raise ValueError(f"algo={self.name} cannot train policy.critic=state: data sets have no states")
        if self.needs_data and not self.data:
            raise ValueError(f"algo={self.name} needs algo.data=FOLDER, games written by ludus export RUN --to games")
        if self.data and not Path(self.data).exists():
            raise ValueError(f"algo.data: there is no {self.data}. Write games with: ludus export RUN --to games")

    @property
    def needs_data(self) -> bool:
        """Whether it cannot learn without a data set."""
        return True

    @property
    def passes(self) -> tuple[int, int]:
        """The number of epochs of an update, and of decisions in a gradient step."""
        return self.epochs, self.minibatch
