"""The one place where a name in a config becomes code.

A name is one of ours (`connect_four`), one that an installed package registered under an entry point group
(`ludus.environments`, `ludus.wrappers`, `ludus.bots`, `ludus.algorithms`), or `package.module:Class`. The last
form is allowed only for packages that are ours, known environment packages, packages with a `ludus.*` entry point,
and those that the user allowed on the command line; never because a file in a run directory says so.
"""

import difflib
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module, metadata
from typing import Any

GROUPS = ("ludus.environments", "ludus.wrappers", "ludus.bots", "ludus.algorithms", "ludus.outcomes")

BUILTIN: dict[str, dict[str, str]] = {
    "ludus.environments": {
        "connect_four": "collectors.envs.connect_four:ConnectFour",
        "tic_tac_toe": "collectors.envs.tic_tac_toe:TicTacToe",
        "recall": "collectors.envs.recall:Recall",
        "two_step": "collectors.envs.two_step:TwoStep",
        "rock_paper_scissors": "collectors.envs.rock_paper_scissors:RockPaperScissors",
        "simple_spread": "collectors.envs.particles:SimpleSpread",
        "simple_tag": "collectors.envs.particles:SimpleTag",
        "pettingzoo": "collectors.envs.pettingzoo:make",
        "openspiel": "collectors.envs.openspiel:make",
        "gymnasium": "collectors.envs.gymnasium:make",
        "atari": "collectors.envs.atari:make",
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

OURS = ("league", "coordinator", "collectors", "learners", "launch")
TRUSTED = frozenset({*OURS, "pettingzoo", "mpe2", "gymnasium", "supersuit", "ale_py"})


class PluginError(ValueError):
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


def allowed_packages(extra: Iterable[str] = ()) -> frozenset[str]:
    """Return the top-level packages whose code a config may name."""
    plugged = {value.split(":")[0].split(".")[0] for group in GROUPS for value in _entry_points(group).values()}
    return TRUSTED | plugged | frozenset(extra)


def resolve(group: str, name: str, allow: Iterable[str] = ()) -> Any:
    """Return what a name stands for; raise PluginError with the remedy if it stands for nothing.

    >>> resolve("ludus.bots", "random").__name__
    'RandomBot'
    """
    target = BUILTIN[group].get(name) or _entry_points(group).get(name) or name
    if ":" not in target:
        known = names(group)
        close = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise PluginError(f"unknown {group.split('.')[1][:-1]} {name!r}.{hint} Known: {', '.join(known)}.")
    module, _, attribute = target.partition(":")
    package = module.split(".")[0]
    if package not in allowed_packages(allow):
        raise PluginError(
            f"{target!r}: the package {package!r} is not allowed. If you trust it, add --allow {package} "
            f"to the command, or give it an entry point in the group {group!r}."
        )
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"cannot load {target!r}: {error}") from error
