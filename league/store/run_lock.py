"""The lock of a run: of two `ludus run` with one name, one has it, and the other gets an error.

with locked(run):               # RunLocked if another process has it
    ...                         # create or change what is in the run directory, start its processes
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from league.store.run_directory import RunDirectory, RunError


class RunLocked(RunError):  # noqa: N818  (the condition is the name)
    """Another process has this run."""


@contextmanager
def locked(run: RunDirectory) -> Iterator[None]:
    """Hold the lock of a run; the kernel releases it when this process ends, however it ends.

    The file stays: whoever removed it would let two processes lock two files of one name. Children do not inherit the
    descriptor (Python opens files close-on-exec), so none of them keeps the lock of a parent that was killed.
    """
    run.root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(run.lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(descriptor, run)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, run: RunDirectory) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RunLocked(f"another process holds {run.lock}") from error
    except OSError as error:  # ENOLCK, ENOSYS, EOPNOTSUPP: e.g. NFS mounted without locks
        raise RunError(
            f"{run.lock} cannot be locked ({error.strerror}): this file system has no locks, and without them two "
            "leagues of one name could start. Put the runs on one that has: add runs=DIRECTORY"
        ) from error
