"""The console: styles are its own, text is shown as it is."""

import ast
import io
from pathlib import Path

import pytest
from evil_text import EVIL
from rich.table import Table

from launch.terminal.console import Console
from launch.terminal.spinner import Spinner

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_console_paints_but_its_texts_do_not(terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=200, color_system="standard" if terminal else None)
    table = Table(EVIL, title=EVIL)
    table.add_row(EVIL)
    console.print(EVIL, style="red")
    console.print(table)
    with Spinner(EVIL, console, quiet=0.0) as progress:
        progress.update(EVIL)
    text = out.getvalue()
    for theirs in ("\x1b]0;", "\x1b[2J", "\x07", "\x9b", "\u202e", "\x1b]8;"):
        assert theirs not in text
    assert "[link=https://evil]x[/link][bold]" in text, "markup is text, too"
    assert terminal == ("\x1b[31m" in text)


def test_nobody_else_makes_a_console():
    """The doors stay few: rich's own Console would let escape codes through."""
    makers = []
    for path in sorted((ROOT / "launch").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich"):
                makers += [str(path.relative_to(ROOT)) for alias in node.names if alias.name in ("Console", "print")]
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("rich.console.Console", "rich.print"):
                makers.append(str(path.relative_to(ROOT)))
    assert makers == []
