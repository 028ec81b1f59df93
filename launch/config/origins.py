"""Where the values of a config come from: a default of the code, a file, or the command line.

config, layers = compose_layers(["league=pfsp", "algo.lr=0.01"])       # launch.config.compose
for setting in settings(config, layers):
    print(setting.key, setting.value, setting.source)                  # algo.lr 0.01 command line
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from launch.config.config import Config, to_plain
from launch.config.schema import leaves

DEFAULT, COMMAND_LINE = "default", "command line"
WIDEST = 48  # characters of a value beyond which the next column moves


@dataclass(frozen=True, slots=True)
class Layer:
    """A file or the command line, and the keys that it sets."""

    source: str
    keys: frozenset[str]

    def sets(self, key: str) -> bool:
        """Whether it sets this key, all of a group that has it, or something inside it."""
        return key in self.keys or any(_inside(key, mine) or _inside(mine, key) for mine in self.keys)

    def only(self, group: str) -> "Layer":
        """Return what it sets inside a group."""
        return Layer(self.source, frozenset(key for key in self.keys if _inside(key, group)))

    def without(self, group: str) -> "Layer":
        """Return what it sets elsewhere."""
        return Layer(self.source, self.keys - self.only(group).keys)


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of a config, and where it comes from."""

    key: str
    value: Any
    source: str


def _inside(key: str, group: str) -> bool:
    return key.startswith(f"{group}.")


def below(package: str, content: Any) -> frozenset[str]:
    """Return the keys that some content sets, in its place.

    >>> sorted(below("algo", {"lr": 0.1, "name": "ppo"})), sorted(below("algo.lr", 0.1)), sorted(below("", {"seed": 1}))
    (['algo.lr', 'algo.name'], ['algo.lr'], ['seed'])
    """
    return frozenset(key for key, _ in leaves(content, package) if key)


def origin(key: str, layers: Sequence[Layer]) -> str | None:
    """Return the last source that sets a key; None if none does."""
    return next((layer.source for layer in reversed(layers) if layer.sets(key)), None)


def settings(config: Config, layers: Sequence[Layer]) -> Iterator[Setting]:
    """Yield every value of a config with its source, in the order of the config."""
    for key, value in leaves(to_plain(config)):
        yield Setting(key, value, origin(key, layers) or DEFAULT)


def as_columns(found: Sequence[Setting]) -> str:
    """Return settings as lines of three columns: key, value, source."""
    rows = [(one.key, value_text(one.value), one.source) for one in found]
    first = max(len(key) for key, _, _ in rows)
    second = max((len(value) for _, value, _ in rows if len(value) <= WIDEST), default=0)
    return "".join(f"{key:<{first}}  {value:<{second}}  {source}\n" for key, value, source in rows)


def as_json(config: Config, found: Sequence[Setting]) -> str:
    """Return the config as it is kept in a run directory, and the source of each key, as JSON."""
    plain = {"config": to_plain(config), "sources": {one.key: one.source for one in found}}
    return json.dumps(plain, indent=2, allow_nan=False) + "\n"


def value_text(value: Any) -> str:
    """Return a value as one would write it in an override.

    >>> value_text("ppo"), value_text([64, 64]), value_text(None), value_text("")
    ('ppo', '[64, 64]', 'null', "''")
    """
    return (value or "''") if isinstance(value, str) else json.dumps(value)
