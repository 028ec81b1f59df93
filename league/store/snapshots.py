"""Snapshots: immutable weights in files named by the hash of their bytes.

    store = SnapshotStore(run.snapshots)
    name = store.put({"flat": weights}, Manifest(player="main", ...))
    snapshot = store.get(name)          # snapshot.arrays, snapshot.manifest

A snapshot is one safetensors file with its manifest inside, so one hash covers weights and manifest.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors.numpy

from league import limits
from league.errors import LudusError
from league.ids import Hash
from league.store.files import publish_once
from league.store.plain_json import decode_json
from league.store.regular_file import IrregularFile, read_regular

SUFFIX = ".safetensors"
_HASH = re.compile(r"[0-9a-f]{64}")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of a snapshot, and everything that is needed to load it."""

    player: str
    incarnation: int
    version: int
    decisions: int
    policy: dict[str, Any]
    signature: str
    parent: str | None = None
    versions: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Weights (read-only arrays) and their manifest."""

    arrays: dict[str, npt.NDArray[Any]]
    manifest: Manifest


class SnapshotError(LudusError):
    """A snapshot that cannot be loaded."""


class SnapshotMissing(SnapshotError):  # noqa: N818  (the condition is the name)
    """The store has no snapshot of this hash."""


class SnapshotDamaged(SnapshotError):  # noqa: N818
    """The file does not match its hash, or is not a snapshot."""


class SnapshotStore:
    """The snapshots in one directory, which `put` creates if it is missing."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        """Return the path of a snapshot; raise SnapshotMissing if the name, which a peer may send, is not a hash."""
        if not _HASH.fullmatch(name):
            raise SnapshotMissing(f"{name[:80]!r} is not the hash of a snapshot (64 hexadecimal digits)")
        return self.root / f"{name}{SUFFIX}"

    def put(self, arrays: Mapping[str, npt.NDArray[Any]], manifest: Manifest) -> Hash:
        """Write a snapshot and return its hash; equal input gives the same file.

        Raise ValueError if an array holds NaN or infinity.
        """
        data = snapshot_bytes(arrays, manifest)
        name = Hash(hashlib.sha256(data).hexdigest())
        self.root.mkdir(parents=True, exist_ok=True)
        try:
            publish_once(self.path(name), data)
        except FileExistsError as error:
            raise self._damaged(name, self._read(name)) from error
        return name

    def adopt(self, data: bytes) -> Hash:
        """Write the bytes of a snapshot of another store, which `read_snapshot` checked, and return its hash."""
        name = Hash(hashlib.sha256(data).hexdigest())
        self.root.mkdir(parents=True, exist_ok=True)
        publish_once(self.path(name), data)
        return name

    def get(self, name: str) -> Snapshot:
        """Return a snapshot after checking its bytes against the hash."""
        data = self._read(name)
        if hashlib.sha256(data).hexdigest() != name:
            raise self._damaged(name, data)
        try:
            snapshot = _unpack(data)
            _refuse_non_finite(snapshot.arrays)
        except Exception as error:  # the hash matches, so the file was written like this
            raise SnapshotDamaged(f"{self.path(name)} was never a snapshot of ours: {error}") from error
        return snapshot

    def verify(self, name: str) -> str | None:
        """Return the problem of a snapshot, None if it has none."""
        try:
            self.get(name)
        except SnapshotError as error:
            return str(error)
        return None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _HASH.fullmatch(name) is not None and self.path(name).exists()

    def hashes(self) -> list[Hash]:
        """Return the hashes of all snapshots, sorted."""
        names = (path.name.removesuffix(SUFFIX) for path in self.root.glob(f"*{SUFFIX}"))
        return sorted(Hash(name) for name in names if _HASH.fullmatch(name))

    def remove(self, name: str) -> None:
        """Delete a snapshot. A missing one is not an error, so that pruning can be repeated."""
        self.path(name).unlink(missing_ok=True)

    def _read(self, name: str) -> bytes:
        path = self.path(name)
        try:
            return read_regular(path, limits.WEIGHTS_FILE)
        except FileNotFoundError as error:
            raise SnapshotMissing(f"there is no snapshot {path}; was it pruned, or not copied along?") from error
        except IrregularFile as error:
            raise SnapshotDamaged(str(error)) from error

    def _damaged(self, name: str, data: bytes) -> SnapshotDamaged:
        actual = hashlib.sha256(data).hexdigest()
        return SnapshotDamaged(
            f"{self.path(name)} is damaged: its bytes have hash {actual}, expected {name}. "
            "Restore the file from a copy: until then nobody can play with these weights. "
            "ludus verify names every file that is damaged."
        )


def read_snapshot(path: Path) -> tuple[bytes, Snapshot]:
    """Return the bytes and the content of a snapshot's file, wherever it lies; a changed name is no error."""
    data = read_regular(path, limits.WEIGHTS_FILE)
    named = hash_in(path.name)
    if named is not None and hashlib.sha256(data).hexdigest() != named:
        raise SnapshotDamaged(f"{path} is damaged: its bytes do not have the hash in its name. Copy it again")
    try:
        snapshot = _unpack(data)
        _refuse_non_finite(snapshot.arrays)
    except Exception as error:
        raise SnapshotDamaged(
            f"{path} is no snapshot of Ludus ({error}). Snapshots are in the folder snapshots of a run"
        ) from error
    return data, snapshot


def hash_in(text: str) -> Hash | None:
    """Return the hash of a snapshot if a text is one, with or without the suffix of its file."""
    name = text.removesuffix(SUFFIX)
    return Hash(name) if _HASH.fullmatch(name) else None


def _refuse_non_finite(arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"the array {name!r} holds NaN or infinity and cannot become a snapshot")


def snapshot_bytes(arrays: Mapping[str, npt.NDArray[Any]], manifest: Manifest) -> bytes:
    """Return the bytes of a snapshot's file, the same for equal input; raise ValueError for NaN and infinity."""
    _refuse_non_finite(arrays)
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    text = msgspec.json.encode(manifest, order="sorted").decode()
    data: bytes = safetensors.numpy.save(ordered, metadata={"ludus": text})
    return data


def _unpack(data: bytes) -> Snapshot:
    arrays = safetensors.numpy.load(data)
    for array in arrays.values():
        array.flags.writeable = False
    return Snapshot(arrays, decode_json(metadata_of(data)["ludus"].encode(), Manifest))


class _FileHeader(msgspec.Struct, frozen=True):
    """The part of a safetensors header that is looked at; all else is skipped."""

    metadata: dict[str, str] = msgspec.field(default_factory=dict, name="__metadata__")


def metadata_of(data: bytes) -> dict[str, str]:
    """Return the metadata of a safetensors file, before anything else of it is read; raise ValueError if it is none."""
    length = int.from_bytes(data[:8], "little")
    if not 0 < length <= len(data) - 8:
        raise ValueError("its header is cut off")
    return decode_json(data[8 : 8 + length], _FileHeader).metadata
