"""What an environment may do wrong, and what its errors say."""

import contextlib
import traceback

LARGEST_TEXT = 2000  # characters


class BrokenError(Exception):
    """The environment broke its own rules in one slot: a wrong shape, a dead agent that came back."""


class UnfitSpaceError(Exception):
    """A space without a fixed size."""


def message_of(error: BaseException) -> str:
    """Return what an error says, on one line that can be printed and sent; it never raises (see `league.errors`)."""
    try:
        line = " ".join(str(error)[:LARGEST_TEXT].split())
        return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in line)[:LARGEST_TEXT]
    except (Exception, SystemExit) as broken:
        return f"its message cannot be read: its __str__ raised {type(broken).__name__}"


def show() -> None:
    """Print the error that is being handled; a game may have closed its output."""
    with contextlib.suppress(Exception):
        traceback.print_exc()
