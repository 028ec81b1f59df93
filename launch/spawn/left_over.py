"""Processes that code of others started in this process and did not end.

before = children()
play()
end_left_over(before)                   # ends and reaps what is there now and was not before
"""

import contextlib
import os
import signal
from multiprocessing import resource_tracker
from pathlib import Path


def children() -> set[int]:
    """Return the ids of the processes that this one started, also of those that have ended and were not waited for."""
    found: set[int] = set()
    for place in Path("/proc/self/task").glob("*/children"):  # only Linux has it
        with contextlib.suppress(OSError):
            found.update(map(int, place.read_text().split()))
    return found


def end_left_over(before: set[int]) -> int:
    """End the processes that were started since, wait for them, and return how many of them still ran."""
    ran = 0
    keeper = getattr(resource_tracker._resource_tracker, "_pid", None)  # of Python itself: it ends with this process
    for pid in children() - before - {keeper}:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            ended, _ = os.waitpid(pid, os.WNOHANG)
            if not ended:
                ran += 1
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
    return ran
