"""The keys of a tree of dataclasses: which there are, of which type, and which one a misspelt key meant.

type_at(Config, "algo.lr")                     # float
complaint(Config, "algo.leraning_rate")        # "unknown key 'algo.leraning_rate'; did you mean 'algo.lr'?"
"""

import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

UNKNOWN = object()
_ROW = "each kind of player has its own: write"
MOVED = {  # keys of earlier versions, and what to write instead
    "league.matchmaking.live_main_above": f"{_ROW} league.kinds.main.matchmaking.live_above",
    "league.matchmaking.live_target_above": f"{_ROW} league.kinds.main_exploiter.matchmaking.live_above",
    "league.matchmaking.target_past": f"{_ROW} league.kinds.main_exploiter.matchmaking.rival_past",
    "league.promotion.reset_main": f"{_ROW} league.kinds.main.promotion.reset and reset_chance",
    "league.promotion.reset_main_exploiter": f"{_ROW} league.kinds.main_exploiter.promotion.reset and reset_chance",
    "league.promotion.reset_league_exploiter": f"{_ROW} league.kinds.league_exploiter.promotion.reset and reset_chance",
}
GONE = {  # keys of older versions, and what to do without them
    "league.evaluation.carry": "a rating is that of the newest candidate alone, so older games are not carried over: "
    "leave it out",
}
WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "null"}


@lru_cache(maxsize=256)
def children(kind: Any) -> Mapping[str, Any]:
    """Return the fields of a dataclass and their types, nothing for other types."""
    if not is_dataclass(kind):
        return {}
    hints = typing.get_type_hints(kind)
    return types.MappingProxyType({item.name: hints[item.name] for item in fields(kind)})


def type_at(kind: Any, key: str) -> Any:
    """Return the type that a dotted key has, UNKNOWN if there is no such key."""
    for part in key.split("."):
        if kind is Any:
            return Any
        inside = typing.get_args(kind)[1] if typing.get_origin(kind) is dict else UNKNOWN
        kind = children(kind).get(part, inside)
    return kind


def keys(kind: Any, prefix: str = "") -> Iterator[str]:
    """Yield every dotted key that is known by name."""
    for name, inner in children(kind).items():
        yield prefix + name
        yield from keys(inner, f"{prefix}{name}.")


def leaves(plain: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every dotted key of nested dicts with its value; an empty dict is a value.

    >>> list(leaves({"a": {"b": 1}, "c": {}}))
    [('a.b', 1), ('c', {})]
    """
    if not isinstance(plain, Mapping) or (key and not plain):
        yield key, plain
        return
    for name, inner in plain.items():
        yield from leaves(inner, f"{key}.{name}" if key else str(name))


def complaint(kind: Any, key: str) -> str | None:
    """Return what is wrong with a key, and which one it may have meant; None if it is right."""
    if type_at(kind, key) is not UNKNOWN:
        return None
    if key in MOVED:
        return f"{key} has moved: {MOVED[key]}"
    if key in GONE:
        return f"{key} is gone: {GONE[key]}"
    parent, name = _known_part(kind, key)
    prefix = f"{parent}." if parent else ""
    siblings = list(children(type_at(kind, parent) if parent else kind))
    guess = nearest(name, siblings)
    if guess:
        return f"unknown key {key!r}; did you mean {prefix + guess!r}?"
    elsewhere = [known for known in keys(kind) if known.split(".")[-1] == key.split(".")[-1]]
    if elsewhere:
        return f"unknown key {key!r}; did you mean {elsewhere[0]!r}?"
    if siblings:
        return f"unknown key {key!r}; {parent or 'the config'} has {', '.join(siblings)}"
    return f"unknown key {key!r}; {parent!r} is {type_name(type_at(kind, parent))} and has no keys"


def _known_part(kind: Any, key: str) -> tuple[str, str]:
    """Split a key into the longest part that exists and the first name that does not."""
    parts = key.split(".")
    count = next(n for n in range(1, len(parts) + 1) if type_at(kind, ".".join(parts[:n])) is UNKNOWN)
    return ".".join(parts[: count - 1]), parts[count - 1]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt or spelt-out one meant.

    >>> nearest("lerning_rate", ["batch", "lr"]), nearest("epoch", ["epochs", "batch"])
    ('lr', 'epochs')
    """
    known = list(known)
    initials = "".join(part[:1] for part in word.split("_"))
    if "_" in word and initials in known:
        return initials
    close = difflib.get_close_matches(word, known, n=1)
    return close[0] if close else None


def type_name(kind: Any) -> str:
    """Describe a type to a user.

    >>> type_name(float | None), type_name(list[int]), type_name(list[Any])
    ('a number or null', 'a list of whole numbers', 'a list of any values')
    """
    if kind in WORDS:
        return WORDS[kind]
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(type_name(part) for part in inner)
    if origin is list:
        return f"a list of {_plural(inner[0])}"
    if origin is dict or is_dataclass(kind):
        return "a group of keys"
    return str(kind)


def _plural(kind: Any) -> str:
    plurals = {str: "texts", int: "whole numbers", float: "numbers", Any: "any values"}
    return plurals.get(kind) or type_name(kind).replace("a list", "lists")
