"""Where the curves of a league go."""

from dataclasses import dataclass, field

from league.errors import InputError

TRACKERS = ("csv", "tensorboard", "wandb")
MODES = ("auto", "online", "offline")


@dataclass(kw_only=True, slots=True)
class TrackConfig:
    """Where the curves go. The ledger has them in any case: `ludus export` draws them again."""

    to: list[str] = field(default_factory=list)  # any of "csv", "tensorboard", "wandb"; each is a process of its own
    every: int = 10  # matches between two points of a rating curve; more, as a league grows
    payoff_every: int = 50  # such points between two payoff tables
    videos: int = 0  # matches between two videos of an evaluation; more, as a league grows; 0: none
    frozen: int = 16  # frozen players that have a rating curve: the newest ones
    variants: int = 8  # variants of the environment with curves of their own: the most frequent ones
    project: str = "ludus"  # wandb
    entity: str | None = None  # wandb; null: your default one
    mode: str = "auto"  # wandb; "auto": online if there is a key, else offline, in the run directory
    artifacts: bool = False  # wandb; upload every frozen snapshot
    seconds: float = 15.0  # that a tracker has at the end to send what it still has to

    def __post_init__(self) -> None:
        """Refuse a tracker that does not exist."""
        for name in self.to:
            if name not in TRACKERS:
                raise InputError(f"track.to: unknown tracker {name!r}; choose from {', '.join(TRACKERS)}")
        if len(set(self.to)) < len(self.to):
            raise InputError(f"track.to: {', '.join(self.to)} names a tracker twice")
        if self.mode not in MODES:
            raise InputError(f"track.mode: unknown {self.mode!r}; choose one of {', '.join(MODES)}")
        if min(self.every, self.payoff_every) < 1 or min(self.frozen, self.variants, self.seconds, self.videos) < 0:
            raise InputError("track: every and payoff_every must be at least 1; others not negative")
