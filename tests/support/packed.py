"""Player files that nobody trained: any network, any environment, any role."""

import hashlib
from contextlib import closing
from dataclasses import asdict

import msgspec

from collectors.envs.config import EnvConfig, make_environment
from launch.packing.packing import spaces_of
from league.ids import Hash
from league.policies.binding import bind
from league.policies.layout import PolicyConfig, initial
from league.store.player_file import PlayerCard, Provenance, read_player, write_player
from league.store.snapshots import Manifest, Snapshot, snapshot_bytes


def packed(path, env="tic_tac_toe", policy=None, role=None, seed=0, allow=(), scale=3, **changes):
    """Write a player with random weights (initial ones times `scale`), and return the path of its file."""
    env = EnvConfig(name=env) if isinstance(env, str) else env
    policy = policy or PolicyConfig(hidden=[8])
    with closing(make_environment(env, 1, allow)) as made:
        spec, spaces = made.spec, spaces_of(made)
    manifest = Manifest(
        player="main", incarnation=0, version=3, decisions=1000, policy=asdict(policy), signature=spec.signature
    )
    snapshot = Snapshot({"flat": initial(bind(policy, spec, allow), spec, seed) * scale}, manifest)
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
