"""Where a player file lies, and whether it fits the environment of a league.

path = player_path("zoo:connect_four/strong")           # or the path of a file
for line in differences_to(card, config.env, spec): ...
"""

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from collectors.envs.config import EnvConfig
from launch.config.config import ConfigError
from league.player import FROZEN
from league.rulebook import PlayerConfig
from league.spec import EnvSpec
from league.store.player_file import PlayerCard, read_player

ZOO, PREFIX = Path(__file__).resolve().parents[1] / "zoo", "zoo:"
SEEN = ("name", "id", "kwargs", "wrappers")  # settings of an environment that change what a player sees and does
UNSEEN = ("render_mode",)  # arguments that do not


def player_path(text: str) -> Path:
    """Return the file that a text names; raise ConfigError, with the nearest name, if the zoo has no such player."""
    if not text.startswith(PREFIX):
        return Path(text)
    known = zoo_files()
    if text not in known:
        close = difflib.get_close_matches(text, known, n=1)
        hint = f"did you mean {close[0]}?" if close else "ludus zoo lists them"
        raise ConfigError(f"there is no {text} in the zoo; {hint}")
    return known[text]


def zoo_files() -> dict[str, Path]:
    """Return the players that come with Ludus, by name such as zoo:connect_four/strong."""
    paths = sorted(ZOO.glob("*/*.safetensors"))
    return {f"{PREFIX}{path.parent.name}/{path.stem}": path for path in paths}


def zoo_anchors(env: EnvConfig) -> dict[str, PlayerConfig]:
    """Return the players of the zoo for an environment as anchors; raise ConfigError if it has none.

    By return there are no points of Elo to pin: the first anchor is at 0, and the others are rated.
    """
    here, rows = msgspec.to_builtins(env), {}
    for name, path in zoo_files().items():
        card = read_player(path).card
        rating = card.provenance.rating
        if rating is None or list(unlike_environments(card.env, here, "", "")):
            continue
        pinned = {"pin": True} if rating.by == "outcome" else {"anchor": 0.0}
        rows[f"zoo_{path.stem}"] = PlayerConfig(kind=FROZEN, weights=name, role=card.role, **pinned)
    if not rows:
        games = ", ".join(sorted({path.parent.name for path in zoo_files().values()}))
        raise ConfigError(f"anchors=zoo: the zoo has no players of {env.id or env.name}; it has players of {games}")
    return rows


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
