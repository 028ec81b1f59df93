"""The settings of DAgger."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

from league.plugins import load
from league.policies.layout import PolicyConfig
from league.spec import EnvSpec
from learners.algorithms.bc_config import BCConfig

EXPERT = "learners.expert:make_expert"  # by name: an expert may be a network, and configs import no torch


@dataclass(kw_only=True, slots=True)
class DAggerConfig(BCConfig):
    """Data set aggregation: an expert says what it would have done wherever the player was."""

    algorithm: ClassVar[str] = "learners.algorithms.dagger:DAgger"
    name: str = "dagger"
    expert: str = ""  # a bot, a packed player, or a snapshot file of the same environment
    capacity: int = 500_000  # decisions that it remembers; the oldest are forgotten
    held_out: float = 0.0  # share of the data set that is never learned from, to see how well it generalises

    def __post_init__(self) -> None:
        """Refuse a config that cannot train."""
        BCConfig.__post_init__(self)
        if self.capacity < 1:
            raise ValueError(f"algo.capacity must be at least 1, got {self.capacity}")

    def refuse(self, policy: PolicyConfig) -> None:
        """Raise ValueError if nobody is there to be asked, or the network sees what the data lacks."""
        BCConfig.refuse(self, policy)
        if not self.expert:
            raise ValueError("algo=dagger needs algo.expert: a bot, a packed player, or a snapshot file")

    def parts(self, spec: EnvSpec, allow: Collection[str] = ()) -> dict[str, Any]:
        """Return the expert; its packages have to be allowed."""
        return {"expert": load(EXPERT)(self.expert, spec, allow)}

    @property
    def needs_data(self) -> bool:
        """Whether it cannot learn without a data set."""
        return False
