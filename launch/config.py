"""The config of a run: one typed tree, from the parts that sit beside their components.

config = compose(["env=tic_tac_toe", "algo.lr=0.001"])     # launch.compose: the only door to hydra
plain = to_plain(config)                                   # what the run directory keeps
from_plain(plain) == config                                # what every process reads; nobody composes again
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from collectors.collector import CollectorConfig
from collectors.envs.config import EnvConfig
from launch.schema import complaint, leaves
from launch.slurm.config import SlurmConfig
from launch.trackers.config import TrackConfig
from league.policies.layout import PolicyConfig
from league.rulebook import LeagueConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.config import LearnerConfig

LAUNCHERS = ("local", "inline", "slurm")
TRANSPORTS = ("ipc", "tcp")


class ConfigError(ValueError):
    """A config that cannot be: a misspelt key, a wrong type, a value out of range."""


@dataclass(kw_only=True, slots=True)
class LaunchConfig:
    """How the processes of a league are started."""

    name: str = "local"  # "local": processes on this machine; "inline": all in one process, reproducible; "slurm": jobs
    collectors: int = 0  # collector processes; 0: as many as there are cores
    learners: int = 1  # learners, which share the learning players
    ranks: int = 1  # processes of each learner, which share its batches; with GPUs one for each
    transport: str = "ipc"  # "ipc": sockets that only you can reach; "tcp": encrypted, a key for each role
    drain_seconds: float = 20.0  # time to finish open tickets when the league is interrupted
    dry_run: bool = False  # "slurm" only: write the scripts into the run directory, and submit nothing
    slurm: SlurmConfig = field(default_factory=SlurmConfig)

    def __post_init__(self) -> None:
        """Refuse what cannot be started."""
        if self.name not in LAUNCHERS:
            raise ValueError(f"launch.name: unknown {self.name!r}; choose one of {', '.join(LAUNCHERS)}")
        if self.transport not in TRANSPORTS:
            raise ValueError(f"launch.transport: unknown {self.transport!r}; choose one of {', '.join(TRANSPORTS)}")
        if self.collectors < 0 or min(self.learners, self.ranks) < 1 or self.drain_seconds < 0:
            raise ValueError("launch: collectors and drain_seconds must not be negative, learners and ranks at least 1")
        if self.name == "inline" and self.ranks > 1:
            raise ValueError("launch.ranks: inline is one process, so its learners have one rank; use launch=local")
        if self.name == "slurm" and (self.transport != "tcp" or not self.collectors):
            raise ValueError(
                "launch: on Slurm transport must be tcp, and collectors a number of jobs; use launch=slurm"
            )
        if self.name == "slurm" and self.ranks % self.slurm.nodes:
            raise ValueError(
                f"launch.slurm.nodes: {self.ranks} ranks cannot be spread evenly over {self.slurm.nodes} nodes; "
                "launch.ranks counts those of all nodes together"
            )
        if self.dry_run and self.name != "slurm":
            raise ValueError("launch.dry_run: there are scripts to look at only with launch=slurm")


@dataclass(kw_only=True, slots=True)
class Config:
    """All settings of a run."""

    name: str = "league"  # of the run; it lands in <runs>/<name>/
    runs: str = "runs"  # the directory of all runs
    seed: int = 1  # every other seed derives from it
    env: EnvConfig = field(default_factory=EnvConfig)
    league: LeagueConfig = field(default_factory=LeagueConfig)
    algo: PPOConfig = field(default_factory=PPOConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    collector: CollectorConfig = field(default_factory=CollectorConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    launch: LaunchConfig = field(default_factory=LaunchConfig)
    track: TrackConfig = field(default_factory=TrackConfig)

    def __post_init__(self) -> None:
        """Refuse a name that cannot be the name of a directory, or means something else."""
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+=,@-]*", self.name) or self.name == "latest":
            raise ValueError(
                f"name: {self.name!r} cannot name a run; use letters, digits and . _ - (but not 'latest'), "
                "and runs=DIRECTORY to choose where runs land"
            )
        own_policies(self)
        own_algos(self)


def own_policies(config: Config) -> dict[str, PolicyConfig]:
    """Return the networks of players that have their own: what they do not say is as in `policy`."""
    players = {name: player.policy for name, player in config.league.players.items() if player.policy}
    return {name: _own(PolicyConfig, config.policy, own, f"{name}.policy") for name, own in players.items()}


def own_algos(config: Config) -> dict[str, PPOConfig]:
    """Return how players learn that have their own way: what they do not say is as in `algo`."""
    players = {name: player.algo for name, player in config.league.players.items() if player.algo}
    return {name: _own(PPOConfig, config.algo, own, f"{name}.algo") for name, own in players.items()}


T = TypeVar("T")


def _own(kind: type[T], common: T, own: Mapping[str, Any], key: str) -> T:
    unknown = [wrong for name in own if (wrong := complaint(kind, name))]
    if unknown:
        raise ValueError(f"league.players.{key}: {unknown[0]}")
    try:
        return msgspec.convert({**msgspec.to_builtins(common), **own}, kind)
    except msgspec.ValidationError as error:
        message, _, field = str(error).partition(" - at `$")
        raise ValueError(f"league.players.{key}{field.rstrip('`')}: {message}") from error


def to_plain(config: Config) -> dict[str, Any]:
    """Return the config as dicts, lists and scalars that JSON can hold."""
    plain: dict[str, Any] = msgspec.to_builtins(config)
    return plain


def from_plain(plain: Mapping[str, Any]) -> Config:
    """Return the config that `to_plain` took apart; raise ConfigError if it is none. What is missing is default."""
    try:
        config = msgspec.convert(dict(plain), Config)
    except msgspec.ValidationError as error:
        raise ConfigError(_readable(error)) from error
    for key, value in leaves(plain):
        unknown = complaint(Config, key)
        if unknown:
            raise ConfigError(unknown)
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{key}={value}: expected a finite number")
    return config


def _readable(error: msgspec.ValidationError) -> str:
    """Return msgspec's complaint with the whole key in front; what a part says of itself begins with its own name."""
    message, _, path = str(error).partition(" - at `$")
    above, _, own = path.strip("`").removeprefix(".").rpartition(".")
    named = re.match(rf"{re.escape(own)}\b", message) if own else None
    prefix = f"{above}." if above else ""
    return f"{prefix}{message}" if named or not own else f"{prefix}{own}: {message}"


def config_hash(plain: Mapping[str, Any]) -> str:
    """Return the hash that the run directory and the ledger know this config by."""
    data = json.dumps(plain, indent=2, sort_keys=True, allow_nan=False).encode() + b"\n"
    return hashlib.sha256(data).hexdigest()
