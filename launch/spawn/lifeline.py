"""A child that does not outlive its parent, however that dies."""

import ctypes
import signal
import sys


def end_with_parent() -> None:
    """Have the kernel end this process, even one that hangs, when the thread that started it ends."""
    if sys.platform != "linux":
        return
    PR_SET_PDEATHSIG = 1  # noqa: N806  (its name in the manual)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
