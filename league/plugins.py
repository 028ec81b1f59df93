"""Resolves a name in a config to code. No other module does.

A name is one of ours (`connect_four`), one that an installed package registered in an entry point group
(`ludus.environments`, `ludus.wrappers`, `ludus.bots`, `ludus.algorithms`, `ludus.policies`, `ludus.outcomes`,
`ludus.matchmakers`, `ludus.freeze_rules`), or `package.module:Class` of a package that the user allowed for this call
(`--allow PACKAGE`).
This is checked before anything is imported, and no file in a run directory can allow a package.
`collectors.envs.known` lists what else a config may name of known environment packages.
"""

import difflib
import re
import sys
from collections.abc import Collection
from functools import lru_cache
from importlib import import_module, metadata
from typing import Any

from league.errors import InputError

GROUPS = (
    "ludus.environments",
    "ludus.wrappers",
    "ludus.bots",
    "ludus.algorithms",
    "ludus.policies",
    "ludus.outcomes",
    "ludus.matchmakers",
    "ludus.freeze_rules",
)

BUILTIN: dict[str, dict[str, str]] = {
    "ludus.environments": {
        "connect_four": "collectors.envs.native.connect_four:ConnectFour",
        "tic_tac_toe": "collectors.envs.native.tic_tac_toe:TicTacToe",
        "recall": "collectors.envs.native.recall:Recall",
        "disc": "collectors.envs.native.disc:DiscGame",
        "two_step": "collectors.envs.native.two_step:TwoStep",
        "rock_paper_scissors": "collectors.envs.native.rock_paper_scissors:RockPaperScissors",
        "simple_spread": "collectors.envs.native.particles:SimpleSpread",
        "simple_tag": "collectors.envs.native.particles:SimpleTag",
        "pettingzoo": "collectors.envs.adapters.pettingzoo:make",
        "openspiel": "collectors.envs.adapters.openspiel:make",
        "gymnasium": "collectors.envs.adapters.gymnasium:make",
        "gymnasium_multi": "collectors.envs.adapters.gymnasium_multi:make",
        "atari": "collectors.envs.adapters.atari:make",
        "pgx": "collectors.envs.adapters.pgx:make",
    },
    "ludus.wrappers": {},
    "ludus.bots": {
        "random": "collectors.players.bots:RandomBot",
        "one_ply": "collectors.players.bots:OnePlyBot",
    },
    "ludus.algorithms": {
        "a2c": "learners.algorithms.a2c_config:A2CConfig",
        "appo": "learners.algorithms.appo_config:APPOConfig",
        "bc": "learners.algorithms.bc_config:BCConfig",
        "dagger": "learners.algorithms.dagger_config:DAggerConfig",
        "happo": "learners.algorithms.happo_config:HAPPOConfig",
        "impala": "learners.algorithms.impala_config:IMPALAConfig",
        "mmd": "learners.algorithms.mmd_config:MMDConfig",
        "ppo": "learners.algorithms.ppo_config:PPOConfig",
        "rnad": "learners.algorithms.rnad_config:RNADConfig",
        "ddpg": "learners.algorithms.ddpg_config:DDPGConfig",
        "td3": "learners.algorithms.td3_config:TD3Config",
        "sac": "learners.algorithms.sac_config:SACConfig",
        "discrete_sac": "learners.algorithms.discrete_sac_config:DiscreteSACConfig",
        "upgo": "learners.algorithms.upgo_config:UPGOConfig",
        "vpg": "learners.algorithms.vpg_config:VPGConfig",
        "dqn": "learners.algorithms.dqn_config:DQNConfig",
        "c51": "learners.algorithms.c51_config:C51Config",
        "qr_dqn": "learners.algorithms.qr_dqn_config:QRDQNConfig",
        "rainbow": "learners.algorithms.rainbow_config:RainbowConfig",
        "es": "learners.algorithms.es_config:ESConfig",
        "vdn": "learners.algorithms.vdn_config:VDNConfig",
        "qmix": "learners.algorithms.qmix_config:QMIXConfig",
        "qplex": "learners.algorithms.qplex_config:QPLEXConfig",
    },
    "ludus.policies": {
        "entities": "league.policies.entities_network:Entities",
        "structured": "league.policies.structured_network:Structured",
    },
    "ludus.outcomes": {},
    "ludus.matchmakers": {
        "alphastar": "league.matchmaking.alphastar:alphastar",
        "exploiter": "league.matchmaking.alphastar:exploiter",
        "pfsp": "league.matchmaking.pfsp:pfsp",
        "fsp": "league.matchmaking.selfplay:fsp",
        "selfplay": "league.matchmaking.selfplay:selfplay",
    },
    "ludus.freeze_rules": {
        "score": "league.promotion:by_score",
        "decisions": "league.promotion:by_decisions",
    },
}

OURS = frozenset({"league", "coordinator", "collectors", "learners", "launch", "conf", "ludus"})
TARGET = re.compile(r"(?P<module>(?P<package>[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*):(?P<attribute>[A-Za-z_]\w*)", re.ASCII)


class PluginError(InputError):
    """A name that cannot be resolved, or that is not allowed."""


def _entry_points(group: str) -> dict[str, str]:
    return _registered(tuple(sys.path))[group]


@lru_cache(maxsize=1)
def _registered(path: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return the entry points of installed packages by group; cached for the path, because reading them is slow."""
    found = metadata.entry_points()
    return {group: {point.name: point.value for point in found.select(group=group)} for group in GROUPS}


def names(group: str) -> list[str]:
    """Return every built-in and registered name of this group."""
    return sorted({*BUILTIN[group], *_entry_points(group)})


def package_of(target: str) -> str:
    """Return the package of `package.module:name`; raise PluginError if the target has another form.

    >>> package_of("my_games.words:Env")
    'my_games'
    """
    found = TARGET.fullmatch(target)
    if found is None:
        raise PluginError(f"cannot read {target!r}: write package.module:name, with one name after the colon")
    return found["package"]


def foreign_package(text: str) -> str:
    """Return the package that must be allowed before this text is resolved; nothing if it names no such code.

    >>> foreign_package("my_games.words:Env"), foreign_package("connect_four")
    ('my_games', '')
    """
    found = TARGET.fullmatch(text)
    if found is None or found["package"] in OURS or any(text in _entry_points(group).values() for group in GROUPS):
        return ""
    return found["package"]


def resolve(group: str, name: str, allow: Collection[str] = ()) -> Any:
    """Return the object of a name; raise PluginError, with the remedy, if the name is unknown or not allowed.

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
            f"{name!r} is code of Ludus itself: a config can name only what Ludus registers. "
            f"The {_kind(group)}s of Ludus: {', '.join(BUILTIN[group]) or 'none'}."
        )
    if package not in allow:
        raise PluginError(
            f"{name!r}: the package {package!r} is not allowed. If you trust it, add --allow {package} "
            f"to the command (in Python: allow=[{package!r}]), or give it an entry point in the group {group!r}."
        )
    return load(name)


def _kind(group: str) -> str:
    return group.split(".")[1][:-1].replace("_", " ")


def load(target: str) -> Any:
    """Import the object `package.module:name`, a target from trusted code. Use `resolve` for text from a config."""
    package_of(target)
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"cannot load {target!r}: {error}") from error
