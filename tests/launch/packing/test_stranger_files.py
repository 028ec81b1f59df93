"""A packed player of a stranger executes nothing, and takes no more memory than a real one."""

import importlib
from contextlib import suppress

import msgspec
import pytest
from packed import packed, rewritten

from collectors.players.loaded_player import load_player
from launch.cli import main
from launch.config.compose import compose
from launch.config.config import ConfigError
from launch.start import begin
from league.errors import LudusError
from league.store.player_file import PlayerFileError, read_player
from league.store.snapshots import SnapshotStore

PLANTED = "canary_in_a_file"


@pytest.fixture
def sign(tmp_path, monkeypatch):
    """Plant a module on the path that leaves a file when it is imported; return that file."""
    file = tmp_path / "sung"
    (tmp_path / "path" / PLANTED).mkdir(parents=True)
    (tmp_path / "path" / PLANTED / "__init__.py").write_text(f"open({str(file)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    importlib.invalidate_caches()
    return file


def hostile(path, target):
    """Yield files that name a target wherever a file can name anything."""
    found = read_player(packed(path))
    card, manifest = found.card, found.snapshot.manifest
    for policy in ({"name": target}, {"activation": target}, {"name": "mlp", "hidden": [8], "memory": target}):
        rewritten(path, msgspec.structs.replace(manifest, policy={**manifest.policy, **policy}))
        yield path
    package = target.partition(":")[0].partition(".")[0]
    rewritten(path, msgspec.structs.replace(manifest, policy={"name": target}), requires={package: target})
    yield path
    for env in ({"name": target}, {"name": "pettingzoo", "id": target}, {"name": "tic_tac_toe", "outcome": target}):
        rewritten(path, manifest, env={**card.env, **env}, note=target, licence=target)
        yield path


@pytest.mark.slow
def test_no_name_in_a_file_is_imported(sign, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in hostile(tmp_path / "p.safetensors", f"{PLANTED}.sub:Thing"):
        main(["show", str(path)])
        with suppress(PlayerFileError):
            load_player(path)
        main(["tournament", str(path), "random", "--rounds", "1", "--inline", "--quiet"])
        with suppress(LudusError):
            config = compose(["env=tic_tac_toe", f"league.players.main.from={path}", "name=x"])
            with begin(config, allow=(), accept=False, notify=lambda line: None):
                pass
    assert not sign.exists()


def test_claims_of_impossible_sizes_are_refused_before_anything_is_allocated(tmp_path):
    path = packed(tmp_path / "p")
    card = read_player(path).card
    manifest = read_player(path).snapshot.manifest
    huge = msgspec.structs.replace(card.spec.observation, shape=(1 << 12, 1 << 12))
    rewritten(path, manifest, spec=msgspec.structs.replace(card.spec, observation=huge))
    with pytest.raises(PlayerFileError, match="cannot play"):
        load_player(path)
    config = compose(["env=tic_tac_toe", f"league.players.main.from={path}", "name=x"])
    with (
        pytest.raises(ConfigError, match="another environment"),
        begin(config, allow=(), accept=False, notify=lambda line: None),
    ):
        pass
    assert not list(SnapshotStore(tmp_path / "runs" / "x" / "snapshots").hashes())
