r"""What native code and child processes print: the descriptors 1 and 2 lead to a file while an environment runs.

    native = NativeOutput()
    native.catch()
    libc.printf(b"a board\n")
    native.release()
    native.take()                           # ("a board\n", 0)

A file, not a pipe: whoever writes never waits, even if nobody reads. Children that were forked inside keep the file as
their output, and it is emptied whenever somebody looks.
"""

import ctypes
import fcntl
import os
import sys
import tempfile
import threading
from contextlib import suppress
from typing import Any

OUT, ERR = 1, 2
READ = 1 << 20  # bytes that are read to count lines; of the rest only the number is known
CAME_BACK = 70  # exit code of a process that an environment forked and that came back from the environment's call
FORKED = (
    b"ludus: the environment forked a process that came back from its call; it ends here. Let it end in the "
    b"environment, with os._exit()\n"
)
_flush = ctypes.CDLL(None).fflush if sys.platform != "win32" else None


class NativeOutput:
    """The descriptors 1 and 2 of this process, led into a file and back."""

    def __init__(self) -> None:
        self._file = -1
        self._saved: tuple[int, int] | None = None
        self._owner = 0  # the process that called `catch`
        self._lock = threading.Lock()  # nobody writes to a saved descriptor while it is closed

    def catch(self) -> None:
        """Lead both descriptors to the file. Nobody may flush a stream on them before `release`."""
        if self._file < 0:
            self._file = _unnamed_file()
        try:
            self._saved = os.dup(OUT), os.dup(ERR)
        except OSError:  # one of both is closed: nobody sees what is printed there
            self._saved = None
            return
        self._owner = os.getpid()
        os.dup2(self._file, OUT)
        os.dup2(self._file, ERR)

    def release(self) -> None:
        """Lead both back. A process that was forked in between and came back from its call ends here."""
        if self._saved is None:
            return
        if _flush is not None:
            _flush(None)  # what C has buffered was printed inside
        if os.getpid() != self._owner:
            with suppress(OSError):
                os.write(self._saved[1], FORKED)
            os._exit(CAME_BACK)
        with self._lock:
            for saved, descriptor in zip(self._saved, (OUT, ERR), strict=True):
                os.dup2(saved, descriptor)
                os.close(saved)
            self._saved = None

    def take(self) -> tuple[str, int]:
        """Return what was printed, and how many bytes followed that were too many to read; empty the file."""
        size = os.fstat(self._file).st_size if self._file >= 0 else 0
        if not size:
            return "", 0
        begin = os.pread(self._file, READ, 0)
        os.ftruncate(self._file, 0)  # everybody appends to it
        return begin.decode(errors="replace"), size - len(begin)

    def pass_on(self, stream: Any, text: str) -> int:
        """Print a text of somebody else where the stream leads when nothing is caught."""
        number = _descriptor(stream)
        data = text.encode(getattr(stream, "encoding", None) or "utf-8", errors="replace")
        with self._lock:
            if self._saved is not None and number in (OUT, ERR):
                with suppress(OSError):
                    os.write(self._saved[number - 1], data)
                return len(text)
        return int(stream.write(text))

    def __del__(self) -> None:
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)


def _descriptor(stream: Any) -> int:
    try:
        return int(stream.fileno())
    except (OSError, ValueError, AttributeError, TypeError):
        return -1


def _unnamed_file() -> int:
    """Return the descriptor of a file without a name, to which everybody appends: it can be emptied at any time."""
    with tempfile.TemporaryFile() as file:
        descriptor = os.dup(file.fileno())
    append_to(descriptor)
    return descriptor


def append_to(descriptor: int) -> None:
    """Let everybody who has this file append to it, wherever its end is."""
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_APPEND)
