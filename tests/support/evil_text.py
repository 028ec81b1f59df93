"""Text that steers a terminal, and what of it would reach one."""

from launch.terminal.clean import CONTROL

EVIL = "evil\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e[link=https://evil]x[/link][bold]"


def shown(text):
    """The control characters of an output that a terminal would obey; rich's own colours are none of a text."""
    return [found[0] for found in CONTROL.finditer(text) if found[0] not in "\n\t"]
