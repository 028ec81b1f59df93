"""The one place where a name in a config becomes code.

A name is one of ours (`connect_four`), one that an installed package registered under an entry point group
(`ludus.environments`, `ludus.wrappers`, `ludus.bots`, `ludus.algorithms`, `ludus.outcomes`), or `package.module:Class`
of a package that the user allowed in this very call (`--allow PACKAGE`). Nothing is imported before that is decided,
and a file in a run directory allows nothing. What a config may name of known environment packages besides is in
`collectors.envs.known`.
"""

import difflib
import re
import sys
from collections.abc import Collection
from functools import lru_cache
from importlib import import_module, metadata
from typing import Any

from league.errors import InputError

GROUPS = ("ludus.environments", "ludus.wrappers", "ludus.bots", "ludus.algorithms", "ludus.outcomes")

BUILTIN: dict[str, dict[str, str]] = {
    "ludus.environments": {
        "connect_four": "collectors.envs.native.connect_four:ConnectFour",
        "tic_tac_toe": "collectors.envs.native.tic_tac_toe:TicTacToe",
        "recall": "collectors.envs.native.recall:Recall",
        "two_step": "collectors.envs.native.two_step:TwoStep",
        "rock_paper_scissors": "collectors.envs.native.rock_paper_scissors:RockPaperScissors",
        "simple_spread": "collectors.envs.native.particles:SimpleSpread",
        "simple_tag": "collectors.envs.native.particles:SimpleTag",
        "pettingzoo": "collectors.envs.adapters.pettingzoo:make",
        "openspiel": "collectors.envs.adapters.openspiel:make",
        "gymnasium": "collectors.envs.adapters.gymnasium:make",
        "atari": "collectors.envs.adapters.atari:make",
    },
    "ludus.wrappers": {},
    "ludus.bots": {
        "random": "collectors.players.bots:RandomBot",
        "one_ply": "collectors.players.bots:OnePlyBot",
    },
    "ludus.algorithms": {
        "a2c": "learners.algorithms.a2c_config:A2CConfig",
        "appo": "learners.algorithms.appo_config:APPOConfig",
        "impala": "learners.algorithms.impala_config:IMPALAConfig",
        "ppo": "learners.algorithms.ppo_config:PPOConfig",
        "dqn": "learners.algorithms.dqn_config:DQNConfig",
        "vdn": "learners.algorithms.vdn_config:VDNConfig",
        "qmix": "learners.algorithms.qmix_config:QMIXConfig",
    },
    "ludus.outcomes": {},
}

OURS = frozenset({"league", "coordinator", "collectors", "learners", "launch", "conf", "ludus"})
TARGET = re.compile(r"(?P<module>(?P<package>[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*):(?P<attribute>[A-Za-z_]\w*)", re.ASCII)


class PluginError(InputError):
    """A name that leads nowhere, or that nobody allowed."""


def _entry_points(group: str) -> dict[str, str]:
    return _registered(tuple(sys.path))[group]


@lru_cache(maxsize=1)
def _registered(path: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return what installed packages register in each group: read once for each path, as reading takes a while."""
    found = metadata.entry_points()
    return {group: {point.name: point.value for point in found.select(group=group)} for group in GROUPS}


def names(group: str) -> list[str]:
    """Return every name that can be resolved in this group."""
    return sorted({*BUILTIN[group], *_entry_points(group)})


def package_of(target: str) -> str:
    """Return the package of `package.module:name`; raise PluginError if it is not written like that.

    >>> package_of("my_games.words:Env")
    'my_games'
    """
    found = TARGET.fullmatch(target)
    if found is None:
        raise PluginError(f"cannot read {target!r}: write package.module:name, with one name behind the colon")
    return found["package"]


def resolve(group: str, name: str, allow: Collection[str] = ()) -> Any:
    """Return what a name stands for; raise PluginError with the remedy if it stands for nothing, or nobody allowed it.

    >>> resolve("ludus.bots", "random").__name__
    'RandomBot'
    """
    registered = _entry_points(group)
    target = BUILTIN[group].get(name) or registered.get(name)
    if target is not None or name in registered.values():
        return load(target or name)
    if ":" not in name:
        known = names(group)
        close = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise PluginError(f"unknown {_kind(group)} {name!r}.{hint} Known: {', '.join(known)}.")
    package = package_of(name)
    if package in OURS:
        raise PluginError(
            f"{name!r} is code of Ludus itself, of which a config names only what is registered. "
            f"The {_kind(group)}s of Ludus: {', '.join(BUILTIN[group]) or 'none'}."
        )
    if package not in allow:
        raise PluginError(
            f"{name!r}: the package {package!r} is not allowed. If you trust it, add --allow {package} "
            f"to the command, or give it an entry point in the group {group!r}."
        )
    return load(name)


def _kind(group: str) -> str:
    return group.split(".")[1][:-1]


def load(target: str) -> Any:
    """Import what trusted code names by `package.module:name`. Text from a config goes through `resolve`."""
    package_of(target)
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"cannot load {target!r}: {error}") from error
