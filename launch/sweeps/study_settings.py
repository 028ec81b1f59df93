"""What a study is told on the command line besides its space: how many trials, by which figure, when one is pruned.

settings_of_study(["hydra/sweeper=optuna", "hydra.sweeper.n_trials=30"]).n_trials       # 30
"""

import re
from collections.abc import Sequence

import msgspec

from launch.config.config import ConfigError

SWEEPER, PREFIX = "hydra/sweeper=optuna", "hydra.sweeper."
NAMED = r"[A-Za-z0-9_][A-Za-z0-9_.+=,@-]*"  # studies, whose name is part of those of their runs


class StudySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings `hydra.sweeper.*`."""

    n_trials: int = 20  # in all, with those of earlier starts
    objective: str = ""  # a figure of the comparison, such as score/main_v_random; "": the rating or return of a main
    direction: str = "maximize"
    study_name: str = ""  # its directory in runs/sweeps; with the name of an earlier one, that goes on
    seed: int = 0  # of the sampler
    pruner: str = "median"  # ends a trial whose score is below the median of others at the same share of the budget
    n_startup_trials: int = 5  # which are not pruned, and are sampled at random
    warmup: int = 25  # percent of the budget before which nothing is pruned
    poll_seconds: float = 2.0  # between two looks at a league

    def __post_init__(self) -> None:
        """Refuse what no study can do."""
        if self.direction not in ("maximize", "minimize") or self.pruner not in ("median", "none"):
            raise ValueError("direction is maximize or minimize, pruner is median or none")
        if self.n_trials < 1 or self.n_startup_trials < 0 or not 0 <= self.warmup <= 100 or not self.poll_seconds > 0:
            raise ValueError("n_trials and poll_seconds must be positive, warmup is a percentage")
        if self.study_name and not re.fullmatch(NAMED, self.study_name):
            raise ValueError("study_name is the name of a directory in runs/sweeps: letters (a to z), digits and . _ -")


def settings_of_study(own: Sequence[str]) -> StudySettings:
    """Return the settings of a study; raise ConfigError for what it does not know."""
    other = [text for text in own if text != SWEEPER and not text.startswith(PREFIX)]
    if other:
        raise ConfigError(f"{other[0]}: a study plays its leagues here, one after the other; leave it out")
    pairs = [text.removeprefix(PREFIX).partition("=") for text in own if text.startswith(PREFIX)]
    try:
        return msgspec.convert({key: value for key, _, value in pairs}, StudySettings, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        known = ", ".join(StudySettings.__struct_fields__)
        raise ConfigError(f"hydra.sweeper: {error}. Known: {known}") from error
