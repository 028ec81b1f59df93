"""Where a player file lies, and whether it fits the environment of a league.

path = player_path("zoo:connect_four/strong")           # or the path of a file
for line in differences_to(card, config.env, spec): ...
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from collectors.envs.config import EnvConfig
from league.spec import EnvSpec
from league.store.player_file import PlayerCard

SEEN = ("name", "id", "kwargs", "wrappers")  # settings of an environment that change what a player sees and does
UNSEEN = ("render_mode",)  # arguments that do not


def player_path(text: str) -> Path:
    """Return the file that a text names."""
    return Path(text)


def differences_to(card: PlayerCard, env: EnvConfig, spec: EnvSpec) -> Iterator[str]:
    """Yield how the environment of a packed player differs from another one; nothing if it fits."""
    yield from unlike_environments(card.env, msgspec.to_builtins(env), "in the file", "here")
    for key in ("observation", "actions", "heads", "continuous"):
        packed, here = getattr(card.spec, key), getattr(spec, key)
        if packed != here:
            yield f"{key} is {_shown(packed)} in the file and {_shown(here)} here"
    if card.role is not None and card.role not in spec.roles:
        yield f"it plays as {card.role}, but the roles here are {sorted(set(spec.roles))}"


def unlike_environments(own: Mapping[str, Any], other: Mapping[str, Any], mine: str, yours: str) -> Iterator[str]:
    """Yield the settings in which two environments differ for a player; `mine` and `yours` say whose they are."""
    for key in SEEN:
        first, second = _seen(own.get(key)), _seen(other.get(key))
        if first != second:
            yield f"env.{key} is {_text(first)} {mine} and {_text(second)} {yours}"


def _seen(value: Any) -> Any:
    """Return a setting without what changes nothing for a player; what was left out is as if empty."""
    if isinstance(value, Mapping):
        value = {key: one for key, one in value.items() if key not in UNSEEN}
    return value or None


def _text(value: Any) -> str:
    return json.dumps(value, default=str)[:200]


def _shown(value: Any) -> str:
    return f"{value.dtype} {value.shape}" if hasattr(value, "dtype") else str(value)
