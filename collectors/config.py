"""How a collector plays: the settings of the group `collector`."""

from dataclasses import dataclass

INFERENCES = ("local", "central")
ACT_IN = ("numpy", "torch")
LEAST = {"slots": 1, "ahead": 1, "ticks": 1, "flush_decisions": 1, "flush_seconds": 0, "cache_megabytes": 0}
TURNS = 2  # halves of the slots: one plays while the other's answers are under way


@dataclass(kw_only=True, slots=True)
class CollectorConfig:
    """How a collector plays."""

    slots: int = 256  # episodes played at once in one collector
    ahead: int = 1  # episodes to hold beyond those that play, times slots; 2 keeps the slots of very fast games full
    ticks: int = 32  # in a segment: it holds the decisions of so many ticks
    flush_decisions: int = 1000  # send segments of a player when there are this many decisions,
    flush_seconds: float = 0.2  # or when the oldest has waited this long
    heartbeat: float = 1.0  # seconds between reports when there is nothing else to say
    record_share: float = 0.01  # of training tickets whose first episode keeps its actions, for replay
    cache_megabytes: int = 256  # weights of frozen players kept in memory
    hang_seconds: float = 60.0  # a tick that takes longer is a hang: the process ends and is started again
    act_in: str = "numpy"  # what mlp, board_conv, cnn and resnet act in: "numpy", or "torch" as all others do
    inference: str = "local"  # where networks of live players act: "local" in collectors; "central" beside the learner

    def __post_init__(self) -> None:
        """Refuse what could never play or never report, and a kind of inference that does not exist."""
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise ValueError(f"collector.{name} must be at least {least}, got {getattr(self, name)}")
        for name in ("heartbeat", "hang_seconds"):
            if not getattr(self, name) > 0:
                raise ValueError(f"collector.{name} must be positive, got {getattr(self, name)}")
        if not 0 <= self.record_share <= 1:
            raise ValueError(f"collector.record_share must lie between 0 and 1, got {self.record_share}")
        if self.act_in not in ACT_IN:
            raise ValueError(f"collector.act_in: unknown {self.act_in!r}; choose one of {', '.join(ACT_IN)}")
        if self.inference not in INFERENCES:
            raise ValueError(f"collector.inference: unknown {self.inference!r}; choose one of {', '.join(INFERENCES)}")
        if self.inference == "central" and self.slots < TURNS:
            raise ValueError(f"collector.slots: with central inference the slots take turns, so {TURNS} at least")
