"""The parser of the command line, made from the table of commands. It imports only what parsing needs."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from launch.commands.command import RUN_HELP, CliCommand
from launch.commands.contesting import CONTESTING
from launch.commands.inspecting import INSPECTING
from launch.commands.measuring import MEASURING
from launch.commands.sharing import SHARING
from launch.commands.solving import SOLVING
from launch.commands.starting import STARTING
from launch.commands.steering import STEERING
from launch.terminal.wording import TRACEBACK

_FAMILIES = (STARTING, STEERING, INSPECTING, CONTESTING, MEASURING, SOLVING, SHARING)
COMMANDS = {command.name: command for family in _FAMILIES for command in family}


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=28)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    examples = "\n".join(f"  {command.example}" for command in COMMANDS.values())
    parser = argparse.ArgumentParser(
        prog="ludus",
        description="Train a league of players by self-play, and see who is really better.",
        epilog=f"examples:\n{examples}\n\n{TRACEBACK}=1 shows where an error comes from.",
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    parsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command in COMMANDS.values():
        _add(parsers, command)
    return parser


def _add(parsers: Any, command: CliCommand) -> None:  # argparse keeps the type of its sub-parsers to itself
    parser: argparse.ArgumentParser = parsers.add_parser(
        command.name,
        help=command.help,
        description=f"{command.help[0].upper()}{command.help[1:]}.",
        epilog=f"example:\n  {command.example}",
        formatter_class=_formatter,
    )
    if command.takes_run:
        parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    command.add_arguments(parser)
    parser.set_defaults(parser=parser)


class Version(argparse.Action):
    """Print the version; the metadata of packages is read only when somebody asks."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print and exit."""
        sys.stdout.write(f"ludus {version()}\n")
        parser.exit()


def version() -> str:
    """Return the version that is installed; 0+source where Ludus runs from its source."""
    from importlib import metadata

    try:
        return metadata.version("ludus-league")
    except metadata.PackageNotFoundError:
        return "0+source"


def refuse_unknown_command(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    """Exit with the nearest command if there is none of this name; argparse would only list them all."""
    if not argv or argv[0].startswith("-") or argv[0] in COMMANDS:
        return
    import difflib

    close = difflib.get_close_matches(argv[0], COMMANDS, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(COMMANDS)}"
    parser.error(f"there is no command {argv[0]!r}; {hint}")


def refuse_unrecognized(arguments: argparse.Namespace, rest: Sequence[str]) -> None:
    """Exit with the usage of the command; overrides belong to `ludus run`."""
    told, words = arguments.parser, " ".join(rest)
    if hasattr(arguments, "run") and all("=" in text and not text.startswith("-") for text in rest):
        start = f"ludus run name={arguments.run} ... {words}"
        told.error(f"unrecognized arguments: {words}; to change a config, repeat the command of its start: {start}")
    told.error(f"unrecognized arguments: {words}")
