"""The settings of matchmaking."""

import math
from dataclasses import dataclass, field, fields
from typing import Any

WEIGHTINGS = ("hard", "var", "linear", "capped", "uniform")


@dataclass(kw_only=True, slots=True)
class MatchmakingConfig:
    """Who trains against whom. Scores are those of the player that asks. A kind of player may differ in each field."""

    name: str = "alphastar"  # the matchmaker: alphastar, exploiter, pfsp, fsp, selfplay, or package.module:function
    rivals: list[str] = field(default_factory=list)  # the kinds whose live players it meets; empty: its own kind
    pool: list[str] = field(default_factory=list)  # kinds it meets, or frozen (from files), scripted, mixture; []: all
    weighting: str = "hard"  # pfsp, alphastar: hard, var, linear, capped or uniform
    self_play: float = 0.35  # pfsp, alphastar: share of matches against live rivals
    verification: float = 0.15  # alphastar: share of matches against what it may have forgotten
    pfsp: float = 0.5  # alphastar: share of matches against the whole pool
    exploited_below: float = 0.3  # alphastar: frozen players of other kinds are verified if it scores less with one
    forgotten_below: float = 0.7  # alphastar: so are those of its own kind, unless scores only fall from old to new
    live_above: float = 0.3  # alphastar, exploiter: a live rival is met if the score is more, else mostly its past
    live_least: float = 0.25  # exploiter: share of matches against a live rival however bad the score
    quarry: float = 0.0  # exploiter: share against the newest past that a rival had at its own last freeze or reset
    rival_past: float = 0.0  # exploiter: share against a rival's past however good the score (the paper: 0.5)
    floor: float = 0.05  # share that is kept for opponents whose score a rule reads, evenly, if they would get less
    partner_self: float = 0.5  # teams: share of matches in which a team-mate is the live self; else it is of the pool
    partner_weighting: str = "uniform"  # which of the pool: uniform, or hard etc. by the return with each so far
    train_against_anchors: bool = False  # let anchors into the pool; they are a yardstick, so better not
    variant_weighting: str | None = None  # env.variants: hard, var etc. by the score in each; null: by their weights
    settings: dict[str, Any] = field(default_factory=dict)  # whatever a matchmaker of another package needs

    def __post_init__(self) -> None:
        """Refuse unknown weightings and shares that are no shares."""
        for name in ("weighting", "partner_weighting", "variant_weighting"):
            if getattr(self, name) not in (*WEIGHTINGS, *([None] if name == "variant_weighting" else [])):
                raise ValueError(
                    f"matchmaking.{name}: unknown {getattr(self, name)!r}; choose one of {', '.join(WEIGHTINGS)}"
                )
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, float) and not 0 <= value <= 1:
                raise ValueError(f"matchmaking.{item.name} must lie between 0 and 1, got {value}")
        total = self.self_play + self.verification + self.pfsp
        if self.name == "alphastar" and not math.isclose(total, 1.0):
            raise ValueError(f"matchmaking: self_play + verification + pfsp must be 1 under alphastar, got {total:g}")
