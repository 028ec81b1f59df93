"""Atomic, durable files: complete or absent, even after a crash or a power loss."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from league import limits
from league.store.regular_file import read_regular, refuse_irregular

PART = ".part-"


def publish(path: Path, data: bytes | memoryview, mode: int = 0o644) -> None:
    """Write a file atomically, replacing an older one. On return the file is synced to disk.

    On a full disk this raises OSError, and the older file is unchanged.
    """
    publish_pieces(path, [data], mode)


def publish_pieces(path: Path, pieces: Iterable[bytes | memoryview], mode: int = 0o644) -> None:
    """Write a file atomically as `publish` does, from pieces that never have to be in memory together."""
    with _written_part(path, pieces, mode) as part:
        part.replace(path)
    _sync_directory(path.parent)


def publish_once(path: Path, data: bytes | memoryview, mode: int = 0o644) -> None:
    """Write a file that never changes afterwards; raise FileExistsError if it exists with other contents."""
    with _written_part(path, [data], mode) as part:
        try:
            path.hardlink_to(part)
        except FileExistsError:
            if read_regular(path, limits.STATE_FILE) != data:
                raise FileExistsError(f"{path} exists with other contents, and is never overwritten") from None
    _sync_directory(path.parent)


def open_append(path: Path) -> BinaryIO:
    """Open a file to append to it, and create it if it is missing; raise OSError if it is a link, or no file.

    Whoever made the directory may have left a link there: its target must not grow. To open a pipe would wait.
    """
    if not path.is_symlink():
        refuse_irregular(path)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, 0o666), "ab")


def sweep(directory: Path, minimum_age: float = 600.0) -> list[Path]:
    """Remove the temporary files that killed writers left behind; return their paths.

    Files younger than `minimum_age` seconds are kept: another process may be writing them.
    """
    removed = []
    for part in sorted(directory.glob(f"{PART}*")):
        with contextlib.suppress(FileNotFoundError):  # its writer has just finished
            if time.time() - part.stat().st_mtime >= minimum_age:
                part.unlink()
                removed.append(part)
    return removed


@contextlib.contextmanager
def _written_part(path: Path, pieces: Iterable[bytes | memoryview], mode: int) -> Iterator[Path]:
    descriptor, name = tempfile.mkstemp(prefix=PART, dir=path.parent)
    part = Path(name)
    try:
        _fill(descriptor, path, pieces, mode)
        yield part
    finally:
        part.unlink(missing_ok=True)


def _fill(descriptor: int, path: Path, pieces: Iterable[bytes | memoryview], mode: int) -> None:
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # name the target, not the part


def _sync_directory(directory: Path) -> None:
    """Make new names in a directory durable: syncing a file does not sync its name."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
