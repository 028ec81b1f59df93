import hashlib
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
import safetensors.numpy

from league.store.files import sweep
from league.store.snapshots import Manifest, SnapshotDamaged, SnapshotMissing, SnapshotStore

ROOT = Path(__file__).parents[3]
MANIFEST = Manifest(
    player="main", incarnation=1, version=3, decisions=1000, policy={"kind": "mlp", "hidden": [64, 64]},
    signature="0123456789abcdef", parent="ab" * 32, versions={"numpy": "2.4", "ludus": "0.1"},
)  # fmt: skip


def weights(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "flat": rng.normal(size=200).astype(np.float32),
        "mean": rng.normal(size=(3, 2)),
        "count": np.array(7, np.int64),
        "used": np.array([True, False]),
    }


@pytest.fixture
def store(tmp_path):
    return SnapshotStore(tmp_path / "snapshots")


def test_what_was_put_is_got_and_cannot_be_changed(store):
    name = store.put(weights(), MANIFEST)
    snapshot = store.get(name)
    assert snapshot.manifest == MANIFEST
    assert snapshot.arrays.keys() == weights().keys()
    for key, array in weights().items():
        np.testing.assert_array_equal(snapshot.arrays[key], array, strict=True)
        assert not snapshot.arrays[key].flags.writeable


def test_a_snapshot_is_not_an_alias_of_live_weights(store):
    live = weights()
    name = store.put(live, MANIFEST)
    live["flat"][:] = 0
    np.testing.assert_array_equal(store.get(name).arrays["flat"], weights()["flat"])


def test_the_name_is_the_hash_of_the_one_file(store):
    name = store.put(weights(), MANIFEST)
    (path,) = store.root.iterdir()
    assert path == store.path(name)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == name


def test_equal_input_gives_the_same_bytes_whatever_its_order(store):
    name = store.put(weights(), MANIFEST)
    shuffled = dict(reversed(weights().items()))
    versions = dict(reversed(MANIFEST.versions.items()))
    policy = dict(reversed(MANIFEST.policy.items()))
    again = msgspec.structs.replace(MANIFEST, versions=versions, policy=policy)
    assert store.put(shuffled, again) == name
    assert store.put({k: np.array(v, order="F") for k, v in weights().items()}, MANIFEST) == name
    assert store.hashes() == [name]


def test_the_manifest_is_covered_by_the_hash(store):
    other = msgspec.structs.replace(MANIFEST, decisions=1001)
    assert store.put(weights(), MANIFEST) != store.put(weights(), other)
    assert len(store.hashes()) == 2


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused_by_name(store, poison):
    arrays = weights()
    arrays["mean"][1, 1] = poison
    with pytest.raises(ValueError, match="'mean' holds NaN or infinity"):
        store.put(arrays, MANIFEST)
    assert store.hashes() == []


@pytest.mark.slow
def test_1000_flipped_bits_are_all_found(store):
    name = store.put(weights(), MANIFEST)
    path = store.path(name)
    good = path.read_bytes()
    found = 0
    for spot in np.random.default_rng(4).integers(0, len(good) * 8, 1000).tolist():
        bad = bytearray(good)
        bad[spot // 8] ^= 1 << spot % 8
        path.write_bytes(bad)
        try:
            store.get(name)
        except SnapshotDamaged as error:
            found += name in str(error) and hashlib.sha256(bad).hexdigest() in str(error)
    print(f"bit flips found: {found} of 1000")
    assert found == 1000


@pytest.mark.parametrize("size", [0, 5, 100])
def test_a_truncated_file_is_found(store, size):
    name = store.put(weights(), MANIFEST)
    store.path(name).write_bytes(store.path(name).read_bytes()[:size])
    assert "is damaged" in (store.verify(name) or "")


def test_putting_over_a_damaged_file_says_so_and_overwrites_nothing(store):
    name = store.put(weights(), MANIFEST)
    store.path(name).write_bytes(b"rubbish")
    with pytest.raises(SnapshotDamaged, match="Restore the file from a copy: until then nobody"):
        store.put(weights(), MANIFEST)
    assert store.path(name).read_bytes() == b"rubbish"


@pytest.mark.parametrize(
    "data",
    [
        b"no safetensors at all",
        safetensors.numpy.save({"a": np.zeros(1)}),
        safetensors.numpy.save({"a": np.zeros(1)}, metadata={"ludus": "{}"}),
        safetensors.numpy.save({"a": np.array([np.nan])}, metadata={"ludus": msgspec.json.encode(MANIFEST).decode()}),
    ],
)
def test_a_foreign_file_under_its_right_hash_is_no_snapshot(store, data):
    name = hashlib.sha256(data).hexdigest()
    store.root.mkdir()
    store.path(name).write_bytes(data)
    with pytest.raises(SnapshotDamaged, match="never a snapshot of ours"):
        store.get(name)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "ab" * 31, "AB" * 32, "ab" * 32 + "\n"])
def test_a_name_that_is_no_hash_opens_no_file(store, name):
    assert name not in store
    for ask in (store.get, store.remove, store.path):
        with pytest.raises(SnapshotMissing, match="not the hash of a snapshot"):
            ask(name)


def test_missing_and_removed(store):
    name = store.put(weights(), MANIFEST)
    assert name in store
    assert store.verify(name) is None
    store.remove(name)
    store.remove(name)
    assert name not in store
    assert store.hashes() == []
    with pytest.raises(SnapshotMissing, match="was it pruned"):
        store.get(name)


WRITER = """
import sys
from pathlib import Path
import numpy as np
from league.store.snapshots import Manifest, SnapshotStore
store, seed = SnapshotStore(Path(sys.argv[1])), int(sys.argv[2])
for version in range(1000):
    arrays = {"flat": np.full(1_000_000, seed * 1000 + version, np.float32)}
    manifest = Manifest(player="main", incarnation=0, version=version, decisions=0, policy={}, signature="s")
    print(store.put(arrays, manifest), flush=True)
"""


def test_kill_9_leaves_no_unreadable_snapshot_and_sweep_leaves_no_part(store):
    reported, orphans = [], 0
    for seed in range(6):
        command = [sys.executable, "-c", WRITER, str(store.root), str(seed)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
            reported += [writer.stdout.readline().strip() for _ in range(1 + seed % 3)]
            while writer.poll() is None and not any(store.root.glob(".part-*")):
                pass  # kill it in the middle of a put
            writer.kill()
        orphans += len(sweep(store.root, minimum_age=0))
    problems = {name: store.verify(name) for name in store.hashes()}
    print(f"6 kills: {len(problems)} snapshots listed, {orphans} orphans swept, all readable")
    assert set(reported) <= problems.keys()
    assert set(problems.values()) == {None}
    assert {path.suffix for path in store.root.iterdir()} == {".safetensors"}
