"""The config of a run: one typed tree, from the parts that sit beside their components.

config = compose(["env=tic_tac_toe", "algo.lr=0.001"])     # launch.config.compose, which asks hydra
plain = to_plain(config)                                   # what the run directory keeps
from_plain(plain) == config                                # what every process reads; nobody composes again
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, make_dataclass, replace
from typing import Any, TypeVar

import msgspec

from collectors.config import CollectorConfig
from collectors.envs.config import EnvConfig
from launch.config.schema import complaint, leaves
from launch.config.slurm import SlurmConfig
from launch.config.strings import wrong_text
from launch.config.track import TrackConfig
from league.errors import InputError
from league.per_player import PerPlayer
from league.plugins import BUILTIN, PluginError, resolve
from league.policies.binding import bind, check_network
from league.policies.layout import PolicyConfig
from league.rulebook import LeagueConfig, in_roles
from league.spec import EnvSpec
from league.store.run_directory import LATEST, SWEEPS, RunDirectory
from learners.algorithms.config import AlgoConfig
from learners.algorithms.ppo_config import PPOConfig
from learners.config import LearnerConfig
from learners.player_settings import PlayerSettings

LAUNCHERS = ("local", "inline", "slurm")
TRANSPORTS = ("ipc", "tcp")


class ConfigError(InputError):
    """A config that cannot be used: a misspelt key, a wrong type, a value out of range."""


@dataclass(kw_only=True, slots=True)
class LaunchConfig:
    """How the processes of a league are started."""

    name: str = "local"  # "local": processes on this machine; "inline": all in one process, reproducible; "slurm": jobs
    collectors: int = 0  # collector processes; 0: as many as there are cores
    learners: int = 1  # learners, which share the learning players
    ranks: int = 1  # processes of each learner, which share its batches; with GPUs one for each
    transport: str = "ipc"  # "ipc": sockets that only you can reach; "tcp": encrypted, a key for each process
    drain_seconds: float = 20.0  # time to finish open tickets when the league is interrupted
    dry_run: bool = False  # "slurm" only: write the scripts into the run directory, and submit nothing
    slurm: SlurmConfig = field(default_factory=SlurmConfig)

    def __post_init__(self) -> None:
        """Refuse what cannot be started."""
        if self.name not in LAUNCHERS:
            raise InputError(f"launch.name: unknown {self.name!r}; choose one of {', '.join(LAUNCHERS)}")
        if self.transport not in TRANSPORTS:
            raise InputError(f"launch.transport: unknown {self.transport!r}; choose one of {', '.join(TRANSPORTS)}")
        if self.collectors < 0 or min(self.learners, self.ranks) < 1 or self.drain_seconds < 0:
            raise InputError("launch: collectors and drain_seconds must not be negative, learners and ranks at least 1")
        if self.name == "inline" and self.ranks > 1:
            raise InputError("launch.ranks: inline is one process, so its learners have one rank; use launch=local")
        if self.name == "slurm" and (self.transport != "tcp" or not self.collectors):
            raise InputError(
                "launch: on Slurm transport must be tcp, and collectors a number of jobs; use launch=slurm"
            )
        if self.name == "slurm" and self.ranks % self.slurm.nodes:
            raise InputError(
                f"launch.slurm.nodes: {self.ranks} ranks cannot be spread evenly over {self.slurm.nodes} nodes; "
                "launch.ranks counts those of all nodes together"
            )
        if self.dry_run and self.name != "slurm":
            raise InputError("launch.dry_run: there are scripts to look at only with launch=slurm")


@dataclass(kw_only=True, slots=True)
class Config:
    """All settings of a run."""

    name: str = "league"  # of the run; it lands in <runs>/<name>/
    runs: str = "runs"  # the directory of all runs
    seed: int = 1  # every other seed derives from it
    env: EnvConfig = field(default_factory=EnvConfig)
    league: LeagueConfig = field(default_factory=LeagueConfig)
    algo: dict[str, Any] = field(default_factory=lambda: _plain(PPOConfig()))  # how they learn: keys of algo.name
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    collector: CollectorConfig = field(default_factory=CollectorConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    launch: LaunchConfig = field(default_factory=LaunchConfig)
    track: TrackConfig = field(default_factory=TrackConfig)
    dashboard: bool = False  # serve the league in a browser while it runs; the address is printed

    def __post_init__(self) -> None:
        """Refuse a name that cannot be the name of a directory, or means something else."""
        if wrong := wrong_name(self.name):
            raise InputError(wrong)
        policies_of(self)


def wrong_name(name: str) -> str:
    """Return why a text cannot name a run; nothing if it can."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+=,@-]*", name) and name not in (LATEST, SWEEPS):
        return ""
    return (
        f"name: {name!r} cannot name a run; use letters (a to z), digits and . _ - (but not {LATEST!r} or {SWEEPS!r}), "
        "and runs=DIRECTORY to choose where runs land"
    )


def policies_of(config: Config, roles: Sequence[str] = ()) -> PerPlayer[PolicyConfig]:
    """Return the network of every player; what a player and its kind leave open is as in `policy`."""
    overrides, common = _overrides(config, "policy", roles), _plain(config.policy)
    own = {name: _own_policy(common, keys, where) for name, (keys, where) in overrides.items()}
    return PerPlayer(config.policy, own)


def _own_policy(common: Mapping[str, Any], own: Mapping[str, Any], key: str) -> PolicyConfig:
    """Return the network of a player; the settings of another network than its own mean nothing to it."""
    other = own.get("name", common["name"]) != common["name"]
    return _own(PolicyConfig, {**common, "kwargs": {}} if other else common, own, key)


def _overrides(config: Config, part: str, roles: Sequence[str]) -> dict[str, tuple[dict[str, Any], str]]:
    """Return the keys of `policy` or `algo` that a player or its kind sets, and where they are set."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for name, player in config.league.players.items():
        row = config.league.kinds.get(player.kind)
        common, own = getattr(row, part, {}), getattr(player, part)
        if common or own:
            where = f"league.players.{name}" if own else f"league.kinds.{player.kind}"
            for one, _ in in_roles(name, player.role, roles):
                found[one] = {**common, **own}, f"{where}.{part}"
    return found


def settings_of(config: Config, allow: Collection[str] = (), roles: Sequence[str] = ()) -> PerPlayer[PlayerSettings]:
    """Return the network and the algorithm of every player.

    What a player and its kind leave open is as in `algo`, or as the default of its algorithm if that is another one.
    """
    policies, algo = policies_of(config, roles), _own(algo_class(config.algo["name"], allow), {}, config.algo, "algo")
    for policy in policies:
        check_network(policy, allow)
    overrides = _overrides(config, "algo", roles)
    algos = {name: _own_algo(config.algo, own, where, allow) for name, (own, where) in overrides.items()}
    names = dict.fromkeys([*policies.own, *algos])
    own = {name: PlayerSettings(policies[name], algos.get(name, algo)) for name in names}
    return PerPlayer(PlayerSettings(policies.default, algo), own)


def algorithm_names(config: Config, roles: Sequence[str] = ()) -> PerPlayer[str]:
    """Return the name of every player's algorithm; none of them is loaded."""
    common = str(config.algo["name"])
    own = {name: str(keys.get("name", common)) for name, (keys, _) in _overrides(config, "algo", roles).items()}
    return PerPlayer(common, own)


def bound_settings(config: Config, spec: EnvSpec, allow: Collection[str]) -> PerPlayer[PlayerSettings]:
    """Return the settings of every player with the code of its network; raise if that cannot be made for this game."""
    found = settings_of(config, allow, spec.roles)
    return found.map(lambda player: replace(player, policy=bind(player.policy, spec, allow)))


def algo_class(name: str, allow: Collection[str] = ()) -> type[AlgoConfig]:
    """Return the config class of an algorithm; raise PluginError if there is none, or it is not allowed."""
    found = resolve("ludus.algorithms", name, allow)
    if not (isinstance(found, type) and issubclass(found, AlgoConfig) and is_dataclass(found) and found.algorithm):
        raise PluginError(
            f"algo.name={name}: {found!r} is not the config of an algorithm; it must be a dataclass that derives "
            "from learners.algorithms.config.AlgoConfig and names its `algorithm`"
        )
    return found


def _own_algo(common: Mapping[str, Any], own: Mapping[str, Any], key: str, allow: Collection[str]) -> AlgoConfig:
    name = own.get("name", common["name"])
    return _own(algo_class(str(name), allow), common if name == common["name"] else {}, own, key)


T = TypeVar("T")


def _own(kind: type[T], common: Mapping[str, Any], own: Mapping[str, Any], key: str) -> T:
    unknown = [wrong for name in own if (wrong := complaint(kind, name))]
    if unknown:
        raise ConfigError(f"{key}: {unknown[0]}")
    try:
        return msgspec.convert({**common, **own}, kind)
    except msgspec.ValidationError as error:
        message, _, field = str(error).partition(" - at `$")
        raise ConfigError(f"{key}{field.rstrip('`')}: {message}") from error


def to_plain(config: Config) -> dict[str, Any]:
    """Return the config as dicts, lists and scalars that JSON can hold."""
    return _plain(config)


def _plain(config: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(config)
    return plain


def with_algo(algo: type[AlgoConfig]) -> type[Config]:
    """Return a class of configs in which `algo` is not a dict, but has the keys of this algorithm."""
    return make_dataclass("Config", [("algo", algo, field(default_factory=algo))], bases=(Config,), kw_only=True)


def from_plain(plain: Mapping[str, Any], allow: Collection[str] | None = None) -> Config:
    """Return the config that `to_plain` took apart; raise ConfigError if it is none. What is missing is default.

    An algorithm of another package is loaded and checked only by `compose`, which knows what is allowed, and by
    learners. Everybody else takes it as it is, and needs neither that package nor torch.
    """
    wrong = wrong_text(plain)
    if wrong:
        raise ConfigError(wrong)
    kind = _class_of(plain, allow)
    try:
        config = msgspec.convert(dict(plain), kind)
    except msgspec.ValidationError as error:
        raise ConfigError(_readable(error)) from error
    for key, value in leaves(plain):
        unknown = complaint(kind, key)
        if unknown:
            raise ConfigError(unknown)
        if not _finite(value):
            raise ConfigError(f"{key}={value}: expected finite numbers")
    parts = {item.name: getattr(config, item.name) for item in fields(Config)}
    algo: Any = config.algo
    # asdict, because msgspec drops what a dataclass without slots adds to one with them
    return Config(**{**parts, "algo": algo if kind is Config else _plain(asdict(algo))})


def _finite(value: Any) -> bool:
    """Return whether a value has no number that JSON cannot hold, in lists as by itself."""
    if isinstance(value, list | tuple | dict):
        return all(_finite(one) for one in (value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def _class_of(plain: Mapping[str, Any], allow: Collection[str] | None) -> type[Config]:
    algo = plain.get("algo", {})
    name = str(algo.get("name", PPOConfig().name)) if isinstance(algo, Mapping) else ""
    if allow is None and name not in BUILTIN["ludus.algorithms"]:
        return Config
    try:
        return with_algo(algo_class(name, allow or ()))
    except PluginError as error:
        raise ConfigError(str(error)) from error


def _readable(error: msgspec.ValidationError) -> str:
    """Return msgspec's message with the whole key in front; that of a part begins with its own name."""
    message, _, path = str(error).partition(" - at `$")
    above, _, own = path.strip("`").removeprefix(".").rpartition(".")
    named = re.match(rf"{re.escape(own)}\b", message) if own else None
    prefix = f"{above}." if above else ""
    return f"{prefix}{message}" if named or not own else f"{prefix}{own}: {message}"


def stored(run: RunDirectory) -> Config:
    """Return the config that a run was started with last."""
    try:
        return from_plain(run.read_config())
    except ConfigError as error:
        raise ConfigError(f"{run.config} was written by another version of Ludus, or by hand: {error}") from error
