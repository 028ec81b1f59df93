"""Progress of what may take longer than two seconds: nothing for what is quick, nothing where nobody looks on.

with Progress("export") as progress:
    for i in range(1000):
        progress.tell(f"{i} of 1000")
"""

import threading
import time
from typing import ClassVar, Self

from rich.console import Console
from rich.status import Status

QUIET = 2.0  # seconds that anything may take without a word
OFTEN = 0.2  # seconds between two words


class Progress:
    """A line on a terminal's standard error, that comes after two seconds and goes when all is done.

    It comes by itself, also if nobody tells how far it is. Inside another one it is silent: a terminal has one line.
    """

    _outermost: ClassVar["Progress | None"] = None

    def __init__(self, what: str, console: Console | None = None, quiet: float = QUIET) -> None:
        self._what, self._console, self._quiet = what, console or Console(stderr=True), quiet
        self._begun = self._told = 0.0
        self._status: Status | None = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        if self._console.is_terminal and Progress._outermost is None:
            Progress._outermost = self
            self._status = self._console.status(f"{self._what} ...")
            self._timer = threading.Timer(self._quiet, self._status.start)
            self._timer.daemon = True
            self._timer.start()
        return self

    def tell(self, how_far: str) -> None:
        """Say how far it is; cheap enough for an inner loop."""
        now = time.monotonic()
        if self._status is not None and now - self._told >= OFTEN:
            self._told = now
            self._status.update(f"{self._what}: {how_far}, {now - self._begun:.0f} s")

    def __exit__(self, *_: object) -> None:
        if self._status is not None and self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._status.stop()
            Progress._outermost = None
