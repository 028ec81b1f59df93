"""Progress of what may take longer than two seconds: nothing for what is quick, nothing where nobody looks on.

with Progress("export") as progress:
    for i in range(1000):
        progress.tell(f"{i} of 1000")
"""

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.status import Status

QUIET = 2.0  # seconds that anything may take without a word
OFTEN = 0.2  # seconds between two words


class Progress:
    """A line on a terminal's standard error, that comes after two seconds and goes when all is done."""

    def __init__(self, what: str, console: Console | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._console, self._clock = what, console or Console(stderr=True), clock
        self._begun = self._told = 0.0
        self._status: Status | None = None

    def __enter__(self) -> Self:
        self._begun = self._clock()
        return self

    def tell(self, how_far: str) -> None:
        """Say how far it is; cheap enough for an inner loop."""
        now = self._clock()
        if now - self._begun < QUIET or now - self._told < OFTEN or not self._console.is_terminal:
            return
        self._told = now
        if self._status is None:
            self._status = self._console.status("")
            self._status.start()
        self._status.update(f"{self._what}: {how_far}, {now - self._begun:.0f} s")

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
