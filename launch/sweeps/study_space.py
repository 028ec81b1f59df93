"""The space of a study: what each swept override of the command line may be, in Hydra's words.

for space in spaces_of(["algo.lr=tag(log,interval(1e-4,1e-2))", "policy=mlp,gru"]):
    override = space.suggest(trial)         # algo.lr=0.0023
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from launch.config.config import ConfigError
from launch.sweeps.sweeping import override_values, parse_override


@dataclass(frozen=True, slots=True)
class Suggest:
    """One override: a number from an interval, or one of some values."""

    key: str  # with its leading +, if it has one
    values: tuple[str, ...] = ()  # empty: any number of the interval
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False  # whole numbers only

    @property
    def name(self) -> str:
        """What Optuna calls it."""
        return self.key.lstrip("+")

    @property
    def first(self) -> str:
        """One of the overrides, to check the rest of the config with."""
        return f"{self.key}={self.values[0] if self.values else self.low}"

    @property
    def word(self) -> str:
        """All of it in one spelling, to compare it with that of an earlier start.

        >>> spaces_of(["algo.lr=tag(log, interval(1e-4, 1))", "algo.epochs=range(1,4)"])[0].word
        'algo.lr=tag(log,interval(0.0001,1.0))'
        """
        among = ",".join(self.values) if self.values else f"interval({self.low},{self.high})"
        return f"{self.key}=tag(log,{among})" if self.log else f"{self.key}={among}"

    def suggest(self, trial: Any) -> str:
        """Return the override that Optuna suggests."""
        if self.values:
            return self.told({self.name: trial.suggest_categorical(self.name, self.values)})
        if self.whole:
            found: float = trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log)
        else:
            found = trial.suggest_float(self.name, self.low, self.high, log=self.log)
        return self.told({self.name: found})

    def told(self, parameters: Mapping[str, Any]) -> str:
        """Return the override with the value that a trial has."""
        if self.name not in parameters:
            raise ConfigError(f"the study of this name has no {self.name}: choose another hydra.sweeper.study_name")
        value = parameters[self.name]
        return f"{self.key}={value:.6g}" if isinstance(value, float) else f"{self.key}={value}"


def spaces_of(swept: Sequence[str]) -> list[Suggest]:
    """Return the space of each swept override.

    >>> [(space.low, space.high, space.log) for space in spaces_of(["algo.lr=tag(log,interval(1e-4,1e-2))"])]
    [(0.0001, 0.01, True)]
    >>> spaces_of(["policy=mlp,gru"])[0].values
    ('mlp', 'gru')
    """
    return [_space(text) for text in swept]


def _space(text: str) -> Suggest:
    override = parse_override(text)
    key = text.partition("=")[0]
    if key.lstrip("+") in ("seed", "name"):
        raise ConfigError(f"{key} is nothing to optimise: give the study one {key}, and compare seeds afterwards")
    if not override.is_interval_sweep():
        values = tuple(dict.fromkeys(value.partition("=")[2] for value in override_values(text)))
        return Suggest(key, values)
    value: Any = override.value()
    whole = isinstance(value.start, int) and isinstance(value.end, int)
    log = "log" in value.tags
    if not value.start < value.end or (log and not value.start > 0):
        raise ConfigError(f"{text}: an interval needs a smaller and a larger end, with tag(log, ...) both positive")
    low, high = (value.start, value.end) if whole else (float(value.start), float(value.end))
    return Suggest(key, low=low, high=high, log=log, whole=whole)
