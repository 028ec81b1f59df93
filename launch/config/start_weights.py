"""Players from files: the new run keeps a copy of their snapshots, by hash.

`league.players.NAME.from` names a packed player or a snapshot of a run, and so do `promotion.reset`, `algo.magnet` and
`algo.expert`, also of a player or a kind.

found = find_weights(config, store)         # reads files, writes nothing
check_weights(found, config, spec, allow)
copy_weights(found, store)
config = with_hashes(config, found)         # from now on no file is needed
"""

import copy
import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from launch.config.config import Config, ConfigError, policies_of
from launch.config.player_files import differences_to, player_path
from league.ids import Hash
from league.player import FROZEN
from league.plugins import PluginError
from league.policies.binding import bind
from league.policies.layout import PolicyConfig, describe, policy_from
from league.promotion import names_file
from league.rulebook import LeagueConfig, PlayerConfig
from league.spec import EnvSpec
from league.store.player_file import PlayerCard, PlayerFileError, is_player, read_player
from league.store.snapshots import Manifest, Snapshot, SnapshotError, SnapshotStore, hash_in, read_snapshot
from learners.algorithms.config import PLAYER_FILES, is_player_file

PLAYERS, WEIGHTS, RESET = "league.players.", ".weights", ".promotion.reset"  # parts of keys


@dataclass(frozen=True, slots=True)
class FoundWeights:
    """The snapshot that a player of the config names; `data` is None if the store of the run has it."""

    hash: Hash
    manifest: Manifest
    arrays: Mapping[str, str]  # the dtype and shape of each, such as float32[9]
    data: bytes | None = None
    card: PlayerCard | None = None  # of a packed player


def find_weights(config: Config, store: SnapshotStore) -> dict[str, FoundWeights]:
    """Return the snapshot behind every key that names one: from its file, or, if that is gone, from the run's store."""
    named = named_files(config.league) | {f"{where}.{field}": algo[field] for where, algo, field in _in_algos(config)}
    return {key: _find(key, text, store) for key, text in named.items()}


def _in_algos(config: Config) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield where settings of algorithms name the file of a player: the key and the settings, and the field."""
    players, kinds = config.league.players, config.league.kinds
    rows = {"algo": config.algo} | {f"{PLAYERS}{name}.algo": player.algo for name, player in players.items()}
    rows |= {f"league.kinds.{kind}.algo": row.algo for kind, row in kinds.items()}
    for where, algo in rows.items():
        for field in PLAYER_FILES:
            if is_player_file(str(algo.get(field, ""))):
                yield where, algo, field


def named_files(league: LeagueConfig) -> dict[str, str]:
    """Return the files that a league names, by key: weights of players, and what they are reset to.

    >>> from league.kinds import KindConfig
    >>> named_files(LeagueConfig(kinds={"main": KindConfig(promotion={"reset": "old.safetensors"})}))
    {'league.kinds.main.promotion.reset': 'old.safetensors'}
    """
    players = {f"{PLAYERS}{name}{WEIGHTS}": player.weights for name, player in league.players.items()}
    kinds = {f"league.kinds.{kind}{RESET}": row.promotion.get("reset") for kind, row in league.kinds.items()}
    resets = {f"league{RESET}": league.promotion.reset, **kinds}
    files = {key: text for key, text in resets.items() if text and names_file(str(text))}
    return {key: text for key, text in players.items() if text} | files


def _find(key: str, text: str, store: SnapshotStore) -> FoundWeights:
    path = player_path(text)
    known = hash_in(path.name)
    try:
        if known is not None and known in store:
            snapshot = store.get(known)
            return FoundWeights(known, snapshot.manifest, _kinds(snapshot))
        if is_player(path):
            packed = read_player(path)
            return FoundWeights(
                packed.hash, packed.snapshot.manifest, _kinds(packed.snapshot), packed.data, packed.card
            )
        data, snapshot = read_snapshot(path)
    except FileNotFoundError as error:
        raise ConfigError(f"{key}: there is no file {text}. Name a packed player, or a snapshot of a run") from error
    except (SnapshotError, PlayerFileError, OSError) as error:
        raise ConfigError(f"{key}: {error}") from error
    return FoundWeights(Hash(hashlib.sha256(data).hexdigest()), snapshot.manifest, _kinds(snapshot), data)


def _kinds(snapshot: Snapshot) -> dict[str, str]:
    return {name: f"{array.dtype}{list(array.shape)}" for name, array in snapshot.arrays.items()}


def check_weights(
    found: Mapping[str, FoundWeights], config: Config, spec: EnvSpec, allow: Collection[str] = ()
) -> None:
    """Refuse weights of another environment, and those that do not fit the network of a player that learns."""
    policies = policies_of(config)
    for key, weights in found.items():
        manifest, card = weights.manifest, weights.card
        if card is not None and (unlike := list(differences_to(card, config.env, spec))):
            raise ConfigError(f"{key}: this player is for another environment: {'; '.join(unlike)}")
        if manifest.signature != spec.signature:
            raise ConfigError(
                f"{key}: these weights of {manifest.player!r} are for another environment than {spec.name}, or for "
                "other options of it: observations or actions differ"
            )
        own = _network(weights, spec, key, allow)
        if key.rpartition(".")[2] in PLAYER_FILES:
            continue  # an expert may have any network, and a magnet is checked by its algorithm
        for name in _learners(key, config):
            if own != policies[name]:
                raise ConfigError(
                    f"{key}: these weights have another network ({own}) than the config says for {name} "
                    f"({policies[name]}); set policy as in the run that they come from"
                )
        _check_role(key, config, card)


def _learners(key: str, config: Config) -> list[str]:
    """Return the learning players that may begin with the weights behind a key."""
    players = config.league.players
    if key.startswith(PLAYERS):
        name = _player(key)
        return [] if players[name].kind == FROZEN else [name]
    kinds = config.league.kinds
    kind = key.removeprefix("league.kinds.").removesuffix(RESET)
    own = [kind] if kind in kinds else [one for one, row in kinds.items() if "reset" not in row.promotion]
    return [name for name, player in players.items() if player.kind in own]


def _player(key: str) -> str:
    return key.removeprefix(PLAYERS).removesuffix(WEIGHTS)


def _check_role(key: str, config: Config, card: PlayerCard | None) -> None:
    """Refuse a packed player in another role than its own, and a pin without a rating."""
    if not key.startswith(PLAYERS):
        return
    player = config.league.players[_player(key)]
    if card is not None and card.role is not None and player.role not in (None, card.role):
        raise ConfigError(f"{key}: this player plays as {card.role}, but the config binds it to {player.role}")
    if player.pin and player.anchor is None and (card is None or card.provenance.rating is None):
        raise ConfigError(f"{key}: pin=true needs a packed player with a rating; write anchor=NUMBER instead")
    if player.pin and player.kind != FROZEN:
        raise ConfigError(f"{key}: only a frozen player can be an anchor; use kind: frozen, or leave out pin")


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
    for where, algo, field in _in_algos(hashed):
        algo[field] = found[f"{where}.{field}"].hash
    for key, weights in found.items():
        if key.rpartition(".")[2] in PLAYER_FILES:
            continue
        if key.startswith(PLAYERS):
            _settle(hashed.league.players[_player(key)], weights)
        elif key == f"league{RESET}":
            hashed.league.promotion.reset = weights.hash
        else:
            hashed.league.kinds[key.removeprefix("league.kinds.").removesuffix(RESET)].promotion["reset"] = weights.hash
    return hashed


def _settle(player: PlayerConfig, weights: FoundWeights) -> None:
    """Write into a player of the config what its file says: the hash, the role, and the rating to be pinned."""
    player.weights = weights.hash
    if weights.card is None:
        return
    player.role = player.role or weights.card.role
    rating = weights.card.provenance.rating
    if player.pin and player.anchor is None and rating is not None:
        player.anchor = round(rating.rating, 1)
