"""Child processes that can be stopped for a while, and whose CPU time can be read."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def cpu_of(pids: Iterable[int]) -> float:
    """Return the CPU seconds of processes, all their threads included: Linux has a clock for each process."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)


def pause(pids: Iterable[int]) -> None:
    """Stop processes where they are."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


def go_on(pids: Iterable[int]) -> None:
    """Let stopped processes go on."""
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


class Child:
    """A process of this Python.

    with Child(["-m", "launch.processes", "--role", "collector", ...], log) as child:
        child.pid
    """

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self._arguments, self._log_path = arguments, log
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self._log = self._log_path.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, *self._arguments],
            stdin=subprocess.PIPE,  # its end tells the child that we are gone
            stdout=self._log,
            stderr=self._log,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,
        )
        return self

    @property
    def pid(self) -> int:
        """Its process id; raise if it has ended."""
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"a child ended with {self._process.returncode}: see {self._log_path}")
        return self._process.pid

    def stop(self) -> None:
        """Ask it to end, and wait for it."""
        assert self._process is not None
        if self._process.poll() is None:
            go_on([self._process.pid])
            self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._log is not None
        self._process.stdin.close()
        self._log.close()
