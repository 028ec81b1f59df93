"""A packed player is whole or refused, in one line."""

import json

import msgspec
import pytest
import safetensors.numpy
from packed import packed

from league.store.player_file import KEY, PlayerFileError, is_player, read_player
from league.store.snapshots import SnapshotStore


def rewritten(path, change):
    """Change the JSON of a player file, and leave its arrays as they are."""
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    sealed = json.loads(header["__metadata__"][KEY])
    change(sealed)
    path.write_bytes(safetensors.numpy.save(safetensors.numpy.load(data), metadata={KEY: json.dumps(sealed)}))


def refusal(path):
    with pytest.raises(PlayerFileError) as caught:
        read_player(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_player_comes_back_as_it_was_and_its_snapshot_keeps_its_hash(tmp_path):
    path = packed(tmp_path / "p.safetensors", licence="MIT")
    found = read_player(path)
    assert found.card.licence == "MIT"
    assert found.card.agents == ("player_1", "player_2")
    assert SnapshotStore(tmp_path / "store").adopt(found.data) == found.hash
    assert SnapshotStore(tmp_path / "store").get(found.hash).manifest == found.snapshot.manifest
    assert path.read_bytes() == packed(tmp_path / "q.safetensors", licence="MIT").read_bytes()
    assert is_player(path)
    assert not is_player(SnapshotStore(tmp_path / "store").path(found.hash))


def test_every_truncated_file_is_refused(tmp_path):
    path = packed(tmp_path / "p.safetensors")
    data = path.read_bytes()
    for length in (0, 7, 8, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        assert "ludus pack" in refusal(path) or "no card" in refusal(path)


def test_a_changed_weight_or_card_is_refused(tmp_path):
    path = packed(tmp_path / "p.safetensors")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    assert "was altered" in refusal(path)
    packed(path)
    rewritten(path, lambda sealed: sealed["card"].update(licence="public domain"))
    assert "was altered" in refusal(path)


def test_a_newer_format_asks_for_an_update(tmp_path):
    path = packed(tmp_path / "p.safetensors")
    rewritten(path, lambda sealed: sealed["card"].update(format=2, spec="nobody knows"))
    assert "has format 2, this Ludus reads format 1. Update it: pip install" in refusal(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "p.safetensors"
    assert "there is no file" in refusal(path)
    path.mkdir()
    assert "is a directory where a file belongs" in refusal(path)
    store = SnapshotStore(tmp_path / "store")
    name = store.adopt(read_player(packed(tmp_path / "q")).data)
    assert "is no packed player" in refusal(store.path(name))


def test_a_card_that_contradicts_itself_is_refused(tmp_path):
    path = tmp_path / "p.safetensors"
    with pytest.raises(ValueError, match="role"):
        packed(path, role="queen")
    good = read_player(packed(path)).card
    with pytest.raises(ValueError, match="impossible sizes"):
        msgspec.structs.replace(good, spec=msgspec.structs.replace(good.spec, actions=1 << 40))
    with pytest.raises(ValueError, match="its agents"):
        msgspec.structs.replace(good, spaces={})
