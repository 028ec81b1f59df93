"""One command of `ludus`, declared once: its help, example, arguments and handler.

    STOP = CliCommand("stop", "end a run", "ludus stop latest", handle=_stop)

Handlers import what they need when they run, so that `ludus --help` imports almost nothing.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from league.store.run_directory import RunDirectory

RUN_HELP = "the name of a run, its path, or 'latest'"
LINES_HELP = "print a line of JSON now and then, and one with the standings at the end"


def no_arguments(parser: ArgumentParser) -> None:
    """Add nothing: the command takes a run at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CliCommand:
    """A command: `handle` gets the parsed arguments and returns the exit code."""

    name: str
    help: str
    example: str
    handle: Callable[[Namespace], int]
    add_arguments: Callable[[ArgumentParser], None] = no_arguments
    takes_run: bool = True  # its first argument names a run


# --- arguments that several commands take --------------------------------------------------------------------


def add_allow(parser: ArgumentParser) -> None:
    """Add `--allow`."""
    help = "let the config name code of this package, also in the current directory; may be repeated"
    parser.add_argument("--allow", metavar="PACKAGE", action="append", default=[], help=help)


def add_display(parser: ArgumentParser, quiet: str) -> None:
    """Add the options that choose how a league is shown."""
    parser.add_argument("--plain", action="store_true", help="print lines instead of a live table")
    parser.add_argument("--quiet", action="store_true", help=quiet)
    parser.add_argument("--json", action="store_true", help=LINES_HELP)


def add_json(parser: ArgumentParser) -> None:
    """Add `--json` to a command that prints a table."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


# --- what handlers share -------------------------------------------------------------------------------------


def find_run(arguments: Namespace) -> "RunDirectory":
    """Return the run that the first argument names."""
    from league.store.run_directory import RunDirectory

    return RunDirectory.find(arguments.run)


def optional_path(text: str | None) -> Path | None:
    """Return the path that an option names; None if it was left out."""
    return Path(text) if text else None


def print_note(line: str) -> None:
    """Print a line that is not the answer to the command, to standard error."""
    sys.stderr.write(f"ludus: {line}\n")
