"""The only maker of rich consoles: rich may send control codes, the text that it shows may not.

Console().print(standings_table(state))         # a name with an escape code, or with markup, is shown as it is written
"""

import sys
from collections.abc import Iterable
from typing import Any

import rich.console
from rich.segment import Segment

from launch.terminal.clean import CONTROL, beneath, clean


class Console(rich.console.Console):
    """A console that shows text as it is: no markup, no escape codes. Styles are arguments."""

    def __init__(self, **options: Any) -> None:
        stream = sys.stderr if options.get("stderr") else sys.stdout
        super().__init__(**{"file": beneath(stream), "markup": False, "emoji": False, **options})

    def render(
        self, renderable: rich.console.RenderableType, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render with clean text; control codes of rich itself are no text, and stay."""
        for segment in super().render(renderable, options):
            if segment.control is None and CONTROL.search(segment.text):
                yield Segment(clean(segment.text), segment.style)
            else:
                yield segment
