"""A progress line for what may take longer than two seconds; nothing for what is quick.

with Spinner("export") as progress:
    for i in range(1000):
        progress.update(f"{i} of 1000", share=i / 1000)

On a terminal it is one line that changes, and disappears in the end. Elsewhere, as in the log of a job, it is a plain
line now and then, at growing intervals. Both end with an estimate if it is known which share is done.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Self

import rich.console
from rich.status import Status
from rich.text import Text

from launch.terminal.console import Console

QUIET = 2.0  # seconds before anything is shown on a terminal
OFTEN = 0.2  # seconds between two updates on a terminal
FIRST, LONGEST = 5.0, 300.0  # seconds before the first plain line, and between two at most; each wait is twice the last


class Spinner:
    """A line on standard error: what is being done, how far it is, and how long it may still take.

    It appears by itself, even if `update` is never called. Inside another one it is silent: a terminal has one line.
    """

    _outermost: ClassVar["Spinner | None"] = None

    def __init__(
        self, what: str, console: rich.console.Console | None = None, quiet: float = QUIET, first: float = FIRST
    ) -> None:
        self._what, self._console, self._quiet, self._first = what, console or Console(stderr=True), quiet, first
        self._begun = self._updated = 0.0
        self._how_far, self._share = "", 0.0
        self._status: Status | None = None
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        if Spinner._outermost is None:
            Spinner._outermost = self
            terminal = self._console.is_terminal
            self._status = self._console.status(Text(f"{self._what} ...")) if terminal else None
            self._thread = threading.Thread(target=self._paint if terminal else self._write, daemon=True)
            self._thread.start()
        return self

    @property
    def due(self) -> bool:
        """Whether it is time for another update: check it before you compute one that is expensive."""
        return self._thread is not None and time.monotonic() - self._updated >= OFTEN

    def update(self, how_far: str, share: float = 0.0) -> None:
        """Set how far it is, and which share is done, if that is known; cheap enough for an inner loop."""
        if self.due:
            self._updated = time.monotonic()
            self._how_far, self._share = how_far, share
            if self._status is not None:
                self._status.update(Text(self._line()))

    def _line(self) -> str:
        return line(self._what, self._how_far, time.monotonic() - self._begun, self._share)

    def _paint(self) -> None:
        """Show the line of a terminal, unless all is done soon."""
        if not self._over.wait(self._quiet) and self._status is not None:
            self._status.start()

    def _write(self) -> None:
        """Write plain lines at growing intervals until all is done."""
        wait = self._first
        while not self._over.wait(wait):
            wait = min(2 * wait, LONGEST)
            self._console.print(f"ludus: {self._line()}", markup=False, highlight=False, soft_wrap=True)

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            if self._status is not None:
                self._status.stop()
            Spinner._outermost = None


@contextmanager
def hushed(quiet: bool = True) -> Iterator[None]:
    """Show no progress inside, if quiet.

    with hushed(arguments.quiet):
        begin(config)
    """
    if not quiet or Spinner._outermost is not None:
        yield
        return
    Spinner._outermost = Spinner("")  # all others are inside it, and it shows nothing
    try:
        yield
    finally:
        Spinner._outermost = None


def line(what: str, how_far: str, seconds: float, share: float = 0.0) -> str:
    """Return what is being done, how far it is, and how long it may still take.

    >>> line("export", "", 5), line("export", "1 of 4", 30, share=0.25)
    ('export ..., 5 s', 'export: 1 of 4, 30 s, about 90 s left')
    """
    left = f", about {seconds * (1 / share - 1):.0f} s left" if 0 < share <= 1 else ""
    return f"{what}: {how_far}, {seconds:.0f} s{left}" if how_far else f"{what} ..., {seconds:.0f} s"
