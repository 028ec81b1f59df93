r"""Clean output: whatever a name or a reason holds, it cannot send control codes to the terminal that shows it.

    with cleaned():
        sys.stdout.write(reason)            # an escape character is shown as \u001b

Names of players and agents, reasons of void tickets, errors of environments and lines of logs come from other
processes, and run directories from anybody. What rich renders goes through `launch.terminal.console`.
"""

import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TextIO, cast

# C0, DEL and C1; marks and overrides of writing direction; separators of lines and paragraphs; halves of pairs.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_KEPT = "\n\t"


def clean(text: str) -> str:
    r"""Return a text with every control character but the newline and the tab written as JSON writes them.

    >>> clean("\x1b[2Jmain\n")
    '\\u001b[2Jmain\n'
    """
    return CONTROL.sub(lambda found: found[0] if found[0] in _KEPT else f"\\u{ord(found[0]):04x}", text)


class Clean:
    """A text stream that writes clean text only; otherwise it is the stream beneath."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text, cleaned."""
        self.stream.write(clean(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines, cleaned."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def cleaned() -> Iterator[None]:
    """Clean all that is written to standard output and standard error inside."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, Clean(beneath(stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def beneath(stream: Any) -> TextIO:
    """Return the stream beneath, for code that cleans by itself."""
    found: TextIO = stream.stream if isinstance(stream, Clean) else stream
    return found


def show_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error that nobody caught, as Python does, but clean: for `sys.excepthook`."""
    sys.stderr.write(clean("".join(traceback.format_exception(kind, error, trace))))
