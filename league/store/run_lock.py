"""The lock of a run: a second `ludus run` with the same name gets an error.

with locked(run):               # raises RunLocked if another process holds the lock
    ...                         # create or change the run directory, start its processes
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from league.store.run_directory import RunDirectory, RunError


class RunLocked(RunError):  # noqa: N818  (the condition is the name)
    """Another process holds the lock of this run."""


@contextmanager
def locked(run: RunDirectory) -> Iterator[None]:
    """Hold the lock of a run; the kernel releases it when this process ends, however it ends.

    The file is never removed: otherwise two processes could each lock a different file of the same name. Children do
    not inherit the descriptor (Python opens files close-on-exec), so no child keeps the lock of a killed parent.
    """
    run.root.mkdir(parents=True, exist_ok=True)
    descriptor = _open(run)
    try:
        _lock(descriptor, run)
        yield
    finally:
        os.close(descriptor)


def _open(run: RunDirectory) -> int:
    try:
        return os.open(run.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise RunError(f"{run.lock} is a link, and the lock of a run is never taken through one. Remove it") from error


def _lock(descriptor: int, run: RunDirectory) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RunLocked(f"another process holds {run.lock}") from error
    except OSError as error:  # ENOLCK, ENOSYS, EOPNOTSUPP: e.g. NFS mounted without locks
        raise RunError(
            f"{run.lock} cannot be locked ({error.strerror}): this file system does not support locks, and without "
            "them two leagues of one name could start. Keep runs on a file system that does: add runs=DIRECTORY"
        ) from error
