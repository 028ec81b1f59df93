"""Replays on disk, by choice (`learner.keep_replay`): off-policy players go on after a restart with what they had.

    files = ReplayFiles(run.replays_of, rank=0)
    files.save(kept, replay, rng)               # atomic, and durable when it returns; the older file is still there
    files.forget_all_but(kept)                  # once the checkpoint of this version is written
    version = files.load(kept, replay, rng)     # of the newest file up to this version; None: there is none

A file holds the cells of the ring that are in use, their priorities, the counters of the rate limit and the state of
the generator, so that the next minibatch is the one that would have come. It is a safetensors file, written piece by
piece, without a copy of the ring in memory: plain arrays, and nothing is executed when it is loaded.
"""

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from league import limits
from league.ids import PlayerId
from league.store.files import publish_pieces
from league.store.regular_file import open_regular
from learners.replay import LocalReplay
from learners.steps import Arrays

log = logging.getLogger("ludus.learner")

KEY, DIGEST = "ludus", "sha256"
NAMES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
FILE = re.compile(r"(\d+)-(\d+)-(\d+)\.safetensors")  # rank, incarnation, version


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReplay:
    """Whose replay it is, and what it fits."""

    player: PlayerId
    incarnation: int
    version: int  # of the weights
    settings: dict[str, Any]  # a replay made under others is of no use


class _Header(msgspec.Struct, frozen=True):
    player: str
    incarnation: int
    version: int
    settings: dict[str, Any]
    rng: dict[str, Any]  # state of the bit generator


@dataclass(frozen=True, slots=True)
class ReplayFiles:
    """The replays that one rank of a learner keeps: one file for each player, and two while the newer is written."""

    directory: Callable[[str], Path]  # of a player
    rank: int = 0

    def save(self, kept: KeptReplay, replay: LocalReplay, rng: np.random.Generator) -> int:
        """Write the replay; return the size of the file in bytes. On a full disk the older file is unchanged."""
        arrays = replay.arrays()
        text = json.dumps({**asdict(kept), "rng": rng.bit_generator.state}, sort_keys=True)
        header = _safetensors_header(arrays, {KEY: text, DIGEST: _digest(text, arrays)})
        size = len(header) + sum(array.nbytes for array in arrays.values())
        if size > limits.REPLAY_FILE:
            raise OSError(
                f"a replay of {size:,} bytes is not kept: at most {limits.REPLAY_FILE:,} are. Lower algo.replay"
            )
        path = self._path(kept)
        path.parent.mkdir(parents=True, exist_ok=True)
        publish_pieces(path, _pieces(header, arrays))
        return size

    def forget_all_but(self, kept: KeptReplay) -> None:
        """Remove every other file of this player and rank, if this one is there."""
        for path in self._found(kept.player) if self._path(kept).exists() else ():
            if path != self._path(kept):
                path.unlink(missing_ok=True)

    def load(self, wanted: KeptReplay, replay: LocalReplay, rng: np.random.Generator) -> int | None:
        """Fill a replay from the newest usable file of this incarnation, up to a version; return that of the file.

        None: there is none. A file that is damaged, or of other settings, is not used, and the log says why.
        """
        found = {path: tuple(map(int, FILE.fullmatch(path.name).groups())) for path in self._found(wanted.player)}  # type: ignore[union-attr]
        usable = [path for path, (_, *which) in found.items() if which[0] == wanted.incarnation]
        for path in sorted(usable, key=lambda path: -found[path][2]):
            if found[path][2] > wanted.version:
                continue
            try:
                return _fill(path, wanted, replay, rng)
            except Exception as error:  # a torn or foreign file can raise anything
                log.warning("player %s: the kept replay %s is not used: %s", wanted.player, path, error)
        return None

    def _path(self, kept: KeptReplay) -> Path:
        return self.directory(kept.player) / f"{self.rank}-{kept.incarnation}-{kept.version}.safetensors"

    def _found(self, player: PlayerId) -> list[Path]:
        every = self.directory(player).glob(f"{self.rank}-*.safetensors")
        return [path for path in every if FILE.fullmatch(path.name)]


def told_size(size: int, replay: LocalReplay) -> str:
    """Return how large a kept replay is, and how large it can become; an empty one does not show that."""
    used, capacity = replay.replay.used, replay.replay.capacity
    full = f", when it is full in {size * capacity / used / 1e6:.1f} MB" if used else ""
    return f"its replay is kept in {size / 1e6:.1f} MB{full}"


def _fill(path: Path, wanted: KeptReplay, replay: LocalReplay, rng: np.random.Generator) -> int:
    open_regular(path, limits.REPLAY_FILE).close()
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (it is no mapping)
    if metadata.get(DIGEST) != _digest(metadata.get(KEY, ""), arrays):
        raise ValueError("its bytes are not those that were written")
    header = msgspec.json.decode(metadata[KEY], type=_Header)
    if (header.player, header.incarnation) != (wanted.player, wanted.incarnation):
        raise ValueError(f"it is of player {header.player!r}, incarnation {header.incarnation}")
    for name, value in wanted.settings.items():
        if header.settings.get(name) != value:
            raise ValueError(f"it was made under {name} {header.settings.get(name)}, and the config says {value}")
    replay.restore(arrays)
    rng.bit_generator.state = header.rng
    return header.version


def _safetensors_header(arrays: Arrays, metadata: Mapping[str, str]) -> bytes:
    """Return the beginning of a safetensors file: the length of a JSON text, and the text, which says where what is."""
    about: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        about[name] = {"dtype": NAMES[array.dtype.name], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(about).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _pieces(header: bytes, arrays: Arrays) -> Iterator[bytes | memoryview]:
    yield header
    for array in arrays.values():
        yield _bytes_of(array)


def _digest(text: str, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        digest.update(f"{name}/{arrays[name].dtype}/{arrays[name].shape}".encode())
        digest.update(_bytes_of(arrays[name]))
    return digest.hexdigest()


def _bytes_of(array: npt.NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
