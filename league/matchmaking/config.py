"""The settings of matchmaking."""

import math
from dataclasses import dataclass, fields

WEIGHTINGS = ("hard", "var", "linear", "capped", "uniform")
NAMES = ("alphastar", "pfsp", "fsp", "selfplay")


@dataclass(kw_only=True, slots=True)
class MatchmakingConfig:
    """Who trains against whom. Scores are those of the player that asks; see docs of each recipe."""

    name: str = "alphastar"  # the recipe: alphastar, pfsp, fsp or selfplay
    weighting: str = "hard"  # pfsp, and mains in alphastar: hard, var, linear, capped or uniform
    self_play: float = 0.35  # share of live self-play in pfsp, and of mains in alphastar
    verification: float = 0.15  # alphastar: a main's share of matches against what it may have forgotten
    pfsp: float = 0.5  # alphastar: a main's share of matches against the whole pool
    exploited_below: float = 0.3  # alphastar: a frozen exploiter with which a main scores less is verified
    forgotten_below: float = 0.7  # alphastar: so is a frozen main, unless scores only fall from old to new
    live_main_above: float = 0.3  # alphastar: a main plays another live main if it scores more, else its past
    live_target_above: float = 0.1  # alphastar: a main exploiter plays the live main if it scores more
    target_past: float = 0.0  # alphastar: a main exploiter's share against the past even then (the paper: 0.5)
    partner_self: float = 0.5  # teams: share of matches in which a team-mate is the live self; else it is of the pool
    partner_weighting: str = "uniform"  # which of the pool: uniform, or hard etc. by the return with each so far
    train_against_anchors: bool = False  # let anchors into the pool; they are a yardstick, so better not

    def __post_init__(self) -> None:
        """Refuse unknown names and shares that are no shares."""
        if self.name not in NAMES:
            raise ValueError(f"matchmaking.name: unknown recipe {self.name!r}; choose one of {', '.join(NAMES)}")
        for name in ("weighting", "partner_weighting"):
            if getattr(self, name) not in WEIGHTINGS:
                raise ValueError(
                    f"matchmaking.{name}: unknown {getattr(self, name)!r}; choose one of {', '.join(WEIGHTINGS)}"
                )
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not 0 <= value <= 1:
                raise ValueError(f"matchmaking.{field.name} must lie between 0 and 1, got {value}")
        total = self.self_play + self.verification + self.pfsp
        if self.name == "alphastar" and not math.isclose(total, 1.0):
            raise ValueError(f"matchmaking: self_play + verification + pfsp must be 1 under alphastar, got {total:g}")
