"""A watcher beside a process that plays strangers' environments: it ends what they started, however that process ends.

    with descendants_end():
        play()                              # kill -9 ends the children of environments, too

A process that is killed cannot end its children, and the kernel hands them to another parent. So this file is also a
program: it looks at the descendants of its parent a few times a second, and ends those when the parent is gone. It ends
nothing else: those that were there before it do not count, and a process is known by its id and the time of its start.
What began after its last look, a moment before the kill, it does not know.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOOK_SECONDS = 0.25
Processes = dict[int, str]  # an id, and when the process began

PROC = Path("/proc")


@contextmanager
def descendants_end() -> Iterator[None]:
    """End the descendants of this process when it ends; where there is no /proc, nothing is done."""
    if not (PROC / "self" / "stat").exists():
        yield
        return
    parent_and_earlier = map(str, [os.getpid(), *descendants(os.getpid())])
    words = [sys.executable, "-I", "-S", __file__, *parent_and_earlier]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, start_new_session=True) as watcher:
        try:
            assert watcher.stdout is not None
            watcher.stdout.read(1)  # it looks now
            yield
        finally:
            watcher.kill()


def descendants(pid: int, without: Container[int] = ()) -> Processes:
    """Return the processes that a process started, and those that these started."""
    found: Processes = {}
    with suppress(OSError):
        for children in (PROC / str(pid) / "task").glob("*/children"):
            for child in map(int, children.read_text().split()):
                if child not in without and (began := began_at(child)):
                    found |= {child: began} | descendants(child)
    return found


def began_at(pid: int) -> str:
    """Return when a process began, in ticks since the start of the machine; "" if it has ended."""
    try:
        words = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if words[0] in "ZX" else words[19]


def watch(parent: int, earlier: Container[int]) -> None:
    """Wait for the end of the parent, which holds the other end of standard input; then end what it started since.

    A parent that has ended before the first look is no longer this process's parent, and nothing is ended: whoever
    adopted this process has other children.
    """
    known: Processes = {}
    lifeline = [0]
    with suppress(BrokenPipeError):
        os.write(1, b".")
    while os.getppid() == parent:
        if seen := descendants(parent, earlier):  # when its files close, they are still its own
            known = {pid: began for pid, began in (known | seen).items() if began_at(pid) == began}
        if select.select(lifeline, [], [], LOOK_SECONDS)[0]:
            lifeline = []  # closed: the parent is ending, or an environment closes files that are not its own
    for pid, began in known.items():
        for one, since in ({pid: began} | descendants(pid)).items():
            if began_at(one) == since:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(one, signal.SIGKILL)


if __name__ == "__main__":
    parent, *earlier = map(int, sys.argv[1:])
    watch(parent, {os.getpid(), *earlier})
