"""Players from files: `league.players.NAME.weights` names the snapshot of a run, whose copy the new run keeps by hash.

found = find_weights(config, store)         # reads files, writes nothing
check_weights(found, config, spec, allow)
copy_weights(found, store)
config = with_hashes(config, found)         # from now on no file is needed
"""

import copy
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from launch.config.config import Config, ConfigError, policies_of
from league.ids import Hash
from league.player import FROZEN
from league.plugins import PluginError
from league.policies.binding import bind
from league.policies.layout import PolicyConfig, describe, policy_from
from league.spec import EnvSpec
from league.store.snapshots import Manifest, Snapshot, SnapshotError, SnapshotStore, hash_in, read_snapshot


@dataclass(frozen=True, slots=True)
class FoundWeights:
    """The snapshot that a player of the config names; `data` is None if the store of the run has it."""

    hash: Hash
    manifest: Manifest
    arrays: Mapping[str, str]  # the dtype and shape of each, such as float32[9]
    data: bytes | None = None


def find_weights(config: Config, store: SnapshotStore) -> dict[str, FoundWeights]:
    """Return the snapshot of every player with `weights`: from its file, or, if that is gone, from the run's store."""
    named = {name: player.weights for name, player in config.league.players.items() if player.weights}
    return {name: _find(name, text, store) for name, text in named.items()}


def _find(name: str, text: str, store: SnapshotStore) -> FoundWeights:
    path, key = Path(text), f"league.players.{name}.weights"
    known = hash_in(path.name)
    try:
        if known is not None and known in store:
            snapshot = store.get(known)
            return FoundWeights(known, snapshot.manifest, _kinds(snapshot))
        data, snapshot = read_snapshot(path)
    except FileNotFoundError as error:
        raise ConfigError(f"{key}: there is no file {text}. Name a file in the folder snapshots of a run") from error
    except (SnapshotError, OSError) as error:
        raise ConfigError(f"{key}: {error}") from error
    return FoundWeights(Hash(hashlib.sha256(data).hexdigest()), snapshot.manifest, _kinds(snapshot), data)


def _kinds(snapshot: Snapshot) -> dict[str, str]:
    return {name: f"{array.dtype}{list(array.shape)}" for name, array in snapshot.arrays.items()}


def check_weights(
    found: Mapping[str, FoundWeights], config: Config, spec: EnvSpec, allow: Collection[str] = ()
) -> None:
    """Refuse weights of another environment, and those that do not fit the network of a player that learns."""
    policies = policies_of(config)
    for name, weights in found.items():
        manifest, key = weights.manifest, f"league.players.{name}.weights"
        if manifest.signature != spec.signature:
            raise ConfigError(
                f"{key}: these weights of {manifest.player!r} are for another environment than {spec.name}, or for "
                "other options of it: observations or actions differ"
            )
        own = _network(weights, spec, key, allow)
        if config.league.players[name].kind != FROZEN and own != policies[name]:
            raise ConfigError(
                f"{key}: these weights have another network ({own}) than the config says ({policies[name]}); "
                "set policy as in the run that they come from"
            )


def _network(weights: FoundWeights, spec: EnvSpec, key: str, allow: Collection[str]) -> PolicyConfig:
    """Return the network of weights; raise ConfigError if there is none of this kind, or they are not of its size."""
    try:
        own = bind(policy_from(weights.manifest.policy), spec, allow)
        needed = {"flat": f"float32[{describe(own, spec).size}]"}
    except (PluginError, ValueError) as error:
        raise ConfigError(f"{key}: these weights have a network that Ludus cannot make: {error}") from error
    if dict(weights.arrays) != needed:
        found = ", ".join(f"{name} {kind}" for name, kind in list(weights.arrays.items())[:5])
        raise ConfigError(f"{key}: these weights are {found[:200]}, but their network needs flat {needed['flat']}")
    return own


def copy_weights(found: Mapping[str, FoundWeights], store: SnapshotStore) -> None:
    """Copy the snapshots into the store of the run, before its league is founded."""
    for weights in found.values():
        if weights.data is not None:
            store.adopt(weights.data)


def with_hashes(config: Config, found: Mapping[str, FoundWeights]) -> Config:
    """Return the config with the hashes of snapshots in place of their paths."""
    if not found:
        return config
    hashed = copy.deepcopy(config)
    for name, weights in found.items():
        hashed.league.players[name].weights = weights.hash
    return hashed
