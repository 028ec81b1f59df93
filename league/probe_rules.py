"""The settings of the probe at the end of a league: a best response against each main, trained for some seconds."""

from dataclasses import dataclass


@dataclass(kw_only=True, slots=True)
class ProbeConfig:
    """A probe at the end of a league: how much a best response, trained against the frozen main, scores."""

    enabled: bool = False  # league.probe=true is short for this
    seconds: float | None = 20.0  # of training, shared by all mains; null: only `steps` ends it
    steps: int | None = None  # env steps of training against each main; null: only `seconds` ends it
    games: int = 400  # of the probe against the main, of its start weights against the main, and against each anchor

    def __post_init__(self) -> None:
        """Refuse a probe that never ends, or never begins."""
        if self.seconds is None and self.steps is None:
            raise ValueError("probe: seconds or steps must say when it ends")
        for name in ("seconds", "steps", "games"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"probe.{name} must be positive, got {value}")
