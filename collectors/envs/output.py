"""What an environment prints is caught: the beginning is kept, everything is counted, nothing reaches a terminal.

output = EnvOutput()
with output:
    env.step(action)                    # prints a board
output.text, output.lines, output.characters

Games that print at every step would fill logs by megabytes a second, and break the output of commands. Python's
`sys.stdout` and `sys.stderr` are replaced, and the descriptors 1 and 2 lead to a file, for native code and for
processes that the environment starts. With LUDUS_PRINT=1 nothing is caught, for those who debug their environment.
"""

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from collectors.envs.native_output import NativeOutput

T = TypeVar("T")
KEPT = 2_000  # characters
PRINT = "LUDUS_PRINT"
_EVER: list[Any] = []  # streams that took another's place: print() of a thread may use one after it is gone, and crash


class EnvOutput:
    """Catches what is printed inside its block, by the thread that entered it; with `everybody` by all threads."""

    def __init__(self, everybody: bool = False) -> None:
        self.text = ""  # the beginning
        self.lines = self.characters = 0
        self._noted = 0  # lines when somebody was last told
        self._depth = 0
        self._streams: tuple[Any, Any] = (None, None)
        self._owner = 0
        self._everybody = everybody
        self._native = NativeOutput()
        self._catching: tuple[_Catching, _Catching] | None = None

    def __enter__(self) -> "EnvOutput":
        self._depth += 1
        if self._depth == 1 and not os.environ.get(PRINT):
            self._owner = threading.get_ident()
            self._streams = sys.stdout, sys.stderr
            sys.stdout, sys.stderr = self._catchers()
            self._native.catch()
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._streams[1] is not None:
            (sys.stdout, sys.stderr), self._streams = self._streams, (None, None)
            self._native.release()
            self.add(*self._native.take())

    def _catchers(self) -> "tuple[_Catching, _Catching]":
        """Return what takes the place of both streams, the same as long as they are the same."""
        out, err = self._streams
        if self._catching is None or (self._catching[0].stream, self._catching[1].stream) != (out, err):
            self._catching = _Catching(self, out), _Catching(self, err)
            _EVER.append(self._catching)
        return self._catching

    def catches(self) -> bool:
        """Whether this thread is inside the block; what others print goes where it should."""
        return self._everybody or threading.get_ident() == self._owner

    def pass_on(self, stream: Any, text: str) -> int:
        """Print what another thread printed, past the file that descriptors lead to now."""
        return self._native.pass_on(stream, text)

    def add(self, text: str, more: int = 0) -> None:
        """Count what was printed, and keep it if it is among the first; `more` characters followed."""
        self.characters += len(text) + more
        self.lines += text.count("\n")
        if len(self.text) < KEPT:
            self.text += text[: KEPT - len(self.text)]

    def around(self, work: Callable[..., T]) -> Callable[..., T]:
        """Return the same function, caught."""

        def caught(*arguments: Any, **options: Any) -> T:
            with self:
                return work(*arguments, **options)

        return caught

    def news(self) -> str:
        """Return a line for the log when something was printed first, and when that has grown tenfold; else ""."""
        if self._everybody and self._depth:
            self.add(*self._native.take())
        if not self.characters or self.lines < 10 * self._noted:
            return ""
        self._noted = max(self.lines, 1)
        return str(self)

    def __str__(self) -> str:
        first = next((line.strip() for line in self.text.splitlines() if line.strip()), "")
        lines = f"{self.lines:,} line{'' if self.lines == 1 else 's'}"
        return f"it printed {lines} ({self.characters:,} characters), which are not shown; the first: {first[:120]!r}"


class _Catching:
    """A stream that belongs to an `EnvOutput`; in all else it is the stream that it stands for."""

    def __init__(self, output: EnvOutput, stream: Any) -> None:
        self._output, self.stream = output, stream

    def write(self, text: str) -> int:
        """Catch a text, or pass it on if another thread printed it."""
        if not self._output.catches():
            return self._output.pass_on(self.stream, text)
        self._output.add(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Catch several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing: what the stream holds was printed before, and must not go where descriptors lead now.

        Nor is it safe: to flush a stream to which another thread writes crashes Python 3.11.
        """

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
