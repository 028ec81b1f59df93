"""A child process that runs code which may hang or crash: it is watched, and gone when the block ends.

with child_process(python("launch.matches.filming", "--out", path), env=environment()) as child:
    reason = wait_for(child, give_up=lambda: "it took too long" if time.monotonic() > deadline else "")
"""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO

POLL_SECONDS = 0.05  # between two checks of a child
INTERRUPT_SECONDS = 2.0  # that a child has to close what it opened when Ctrl-C reaches it, too

Child = subprocess.Popen[bytes]
Stream = IO[bytes] | int | None


@contextmanager
def child_process(
    command: Sequence[str],
    group: bool = False,
    /,
    *,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[Child]:
    """Start a child; kill it when the block ends, if it still runs; with `group` also all that it started."""
    own = 0 if group else None
    child = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=env, process_group=own)
    try:
        yield child
    except KeyboardInterrupt:
        with suppress(subprocess.TimeoutExpired, ProcessLookupError):
            if group:  # the terminal did not reach it
                os.killpg(child.pid, signal.SIGINT)
            child.wait(INTERRUPT_SECONDS)
        raise
    finally:
        if group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
        child.kill()
        child.wait()


def wait_for(child: Child, give_up: Callable[[], str]) -> str:
    """Wait for a child to end; `give_up` is called at each check, and ends the wait by returning a reason."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            child.wait(POLL_SECONDS)
            return ""
        if reason := give_up():
            return reason
