"""Reads files that anybody may have made: a pipe, a device or a file of any size in place of one hangs nothing.

    data = read_regular(run.config, limits.SMALL_FILE)      # raises FileNotFoundError, or IrregularFile

Every file of a run and every player file is read through here. A run directory may come from elsewhere, and a plain
`open` waits for ever on a pipe, and reads for ever from a device.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from league import limits
from league.errors import InputError

KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class IrregularFile(InputError):  # noqa: N818  (the condition is the name)
    """Something else is where a file belongs, or the file is larger than any that Ludus writes."""


def read_regular(path: Path, limit: int) -> bytes:
    """Return what a file holds now; raise IrregularFile if it is no file, or has more than `limit` bytes.

    A missing file raises FileNotFoundError, and one that may not be read PermissionError.
    """
    with open_regular(path, limit) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def read_text_of(path: Path, limit: int = limits.SMALL_FILE) -> str:
    """Return the text of a small file."""
    return read_regular(path, limit).decode(errors="replace")


def read_end(path: Path, limit: int) -> bytes:
    """Return the last bytes of a file of any size."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - limit))
        return file.read(min(size, limit))


def open_regular(path: Path, limit: int | None = None) -> BinaryIO:
    """Open a file to read it, without waiting; raise IrregularFile as `read_regular` does."""
    _refuse(path, path.stat(), limit)  # before it is opened: to open a device may have an effect
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse(path, os.fstat(descriptor), limit)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def refuse_irregular(path: Path) -> None:
    """Raise IrregularFile if something else is where a file belongs, which may be missing."""
    with suppress(FileNotFoundError):
        _refuse(path, path.stat(), None)


def _refuse(path: Path, about: os.stat_result, limit: int | None) -> None:
    if not stat.S_ISREG(about.st_mode):
        kind = KINDS.get(stat.S_IFMT(about.st_mode), "something else")
        raise IrregularFile(f"{path} is {kind} where a file belongs: remove it, or restore the file from a copy")
    if limit is not None and about.st_size > limit:
        raise IrregularFile(
            f"{path} has {about.st_size:,} bytes, and such a file has at most {limit:,}: remove it, or restore it from "
            "a copy"
        )
