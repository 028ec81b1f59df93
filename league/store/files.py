"""Files that are there whole or not at all, also after a crash or a power loss."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PART = ".part-"


def publish(path: Path, data: bytes | memoryview, mode: int = 0o644) -> None:
    """Write a file, replacing an older one at once. When this returns the file is on the disk.

    A full disk shows as the OSError that it is, and leaves the older file as it was.
    """
    with _written_part(path, data, mode) as part:
        part.replace(path)
    _sync_directory(path.parent)


def publish_once(path: Path, data: bytes | memoryview, mode: int = 0o644) -> None:
    """Write a file that never changes afterwards; FileExistsError if it is there with other contents."""
    with _written_part(path, data, mode) as part:
        try:
            path.hardlink_to(part)
        except FileExistsError:
            if path.read_bytes() != data:
                raise FileExistsError(f"{path} exists with other contents, and is never overwritten") from None
    _sync_directory(path.parent)


def sweep(directory: Path, minimum_age: float = 600.0) -> list[Path]:
    """Remove what killed writers left behind; return what was removed.

    Files younger than `minimum_age` seconds stay: another process may be writing them right now.
    """
    removed = []
    for part in sorted(directory.glob(f"{PART}*")):
        with contextlib.suppress(FileNotFoundError):  # its writer finished meanwhile
            if time.time() - part.stat().st_mtime >= minimum_age:
                part.unlink()
                removed.append(part)
    return removed


@contextlib.contextmanager
def _written_part(path: Path, data: bytes | memoryview, mode: int) -> Iterator[Path]:
    descriptor, name = tempfile.mkstemp(prefix=PART, dir=path.parent)
    part = Path(name)
    try:
        _fill(descriptor, path, data, mode)
        yield part
    finally:
        part.unlink(missing_ok=True)


def _fill(descriptor: int, path: Path, data: bytes | memoryview, mode: int) -> None:
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # whoever reads it knows that name


def _sync_directory(directory: Path) -> None:
    """Make the new name durable: syncing a file does not sync its name."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
