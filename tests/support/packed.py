"""Player files that nobody trained: any network, any environment, any role."""

import hashlib
from dataclasses import asdict

import msgspec

from collectors.envs.config import EnvConfig
from launch.packing.packing import read_spaces
from league.ids import Hash
from league.policies.layout import PolicyConfig, initial
from league.store.player_file import PlayerCard, Provenance, read_player, write_player
from league.store.snapshots import Manifest, Snapshot, snapshot_bytes


def packed(path, env="tic_tac_toe", policy=None, role=None, seed=0, allow=(), **changes):
    """Write a player with random weights, and return the path of its file."""
    env = EnvConfig(name=env) if isinstance(env, str) else env
    policy = policy or PolicyConfig(hidden=[8])
    spec, spaces = read_spaces(env, allow)
    manifest = Manifest(
        player="main", incarnation=0, version=3, decisions=1000, policy=asdict(policy), signature=spec.signature
    )
    snapshot = Snapshot({"flat": initial(policy, spec, seed) * 3}, manifest)
    origin = Provenance(run="elsewhere", event=12, config="c0ffee", seed=1, env_steps=5000)
    card = PlayerCard(
        player="main",
        role=role,
        snapshot=hash_of(snapshot),
        env=msgspec.to_builtins(env),
        spec=spec,
        spaces=spaces,
        provenance=origin,
    )
    write_player(path, snapshot, msgspec.structs.replace(card, **changes))
    return path


def hash_of(snapshot):
    return Hash(hashlib.sha256(snapshot_bytes(snapshot.arrays, snapshot.manifest)).hexdigest())


def rewritten(path, manifest, **changes):
    """Seal a player file again with another manifest: what a stranger can do."""
    found = read_player(path)
    snapshot = Snapshot(found.snapshot.arrays, manifest)
    write_player(path, snapshot, msgspec.structs.replace(found.card, snapshot=hash_of(snapshot), **changes))
