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

from league.errors import LudusError
from league.ids import Hash
from league.store.files import publish_once

SUFFIX = ".safetensors"
_HASH = re.compile(r"[0-9a-f]{64}")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to load a snapshot and to say where it comes from."""

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
    """A snapshot that cannot be had."""


class SnapshotMissing(SnapshotError):  # noqa: N818  (the condition is the name)
    """There is no such snapshot."""


class SnapshotDamaged(SnapshotError):  # noqa: N818
    """The file is not what was put."""


class SnapshotStore:
    """The snapshots in one directory, which put() makes if need be."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        """Return where the snapshot of this hash lies. What is no hash is refused: it may come from a peer."""
        if not _HASH.fullmatch(name):
            raise SnapshotMissing(f"{name[:80]!r} is not the hash of a snapshot (64 hexadecimal digits)")
        return self.root / f"{name}{SUFFIX}"

    def put(self, arrays: Mapping[str, npt.NDArray[Any]], manifest: Manifest) -> Hash:
        """Write a snapshot and return its hash; equal input gives the same file. ValueError if not finite."""
        _refuse_non_finite(arrays)
        data = _pack(arrays, manifest)
        name = Hash(hashlib.sha256(data).hexdigest())
        self.root.mkdir(parents=True, exist_ok=True)
        try:
            publish_once(self.path(name), data)
        except FileExistsError as error:
            raise self._damaged(name, self.path(name).read_bytes()) from error
        return name

    def get(self, name: str) -> Snapshot:
        """Return a snapshot after checking every byte against its hash."""
        data = self._read(name)
        if hashlib.sha256(data).hexdigest() != name:
            raise self._damaged(name, data)
        try:
            snapshot = _unpack(data)
            _refuse_non_finite(snapshot.arrays)
        except Exception as error:  # the hash is right, so whoever wrote it did not write a snapshot
            raise SnapshotDamaged(f"{self.path(name)} was never a snapshot of ours: {error}") from error
        return snapshot

    def verify(self, name: str) -> str | None:
        """Return what is wrong with a snapshot, None if nothing is."""
        try:
            self.get(name)
        except SnapshotError as error:
            return str(error)
        return None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _HASH.fullmatch(name) is not None and self.path(name).exists()

    def hashes(self) -> list[Hash]:
        """Return the hash of every snapshot, sorted."""
        names = (path.name.removesuffix(SUFFIX) for path in self.root.glob(f"*{SUFFIX}"))
        return sorted(Hash(name) for name in names if _HASH.fullmatch(name))

    def remove(self, name: str) -> None:
        """Delete a snapshot; one that is gone already is no error, so that pruning can be repeated."""
        self.path(name).unlink(missing_ok=True)

    def _read(self, name: str) -> bytes:
        path = self.path(name)
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise SnapshotMissing(f"there is no snapshot {path}; was it pruned, or not copied along?") from error

    def _damaged(self, name: str, data: bytes) -> SnapshotDamaged:
        actual = hashlib.sha256(data).hexdigest()
        return SnapshotDamaged(
            f"{self.path(name)} is damaged: its bytes have hash {actual}, expected {name}. "
            "Restore the file from a copy: until then nobody can play with these weights. "
            "ludus verify names every file that is damaged."
        )


def _refuse_non_finite(arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"the array {name!r} holds NaN or infinity and cannot become a snapshot")


def _pack(arrays: Mapping[str, npt.NDArray[Any]], manifest: Manifest) -> bytes:
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    text = msgspec.json.encode(manifest, order="sorted").decode()
    data: bytes = safetensors.numpy.save(ordered, metadata={"ludus": text})
    return data


def _unpack(data: bytes) -> Snapshot:
    arrays = safetensors.numpy.load(data)
    for array in arrays.values():
        array.flags.writeable = False
    header = msgspec.json.decode(data[8 : 8 + int.from_bytes(data[:8], "little")])
    manifest = msgspec.json.decode(header["__metadata__"]["ludus"], type=Manifest)
    return Snapshot(arrays, manifest)
