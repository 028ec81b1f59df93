"""The commands by which players leave a run and meet elsewhere: pack, show."""

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from launch.commands.command import CliCommand, add_allow, add_json, find_run, optional_path, print_note


def _add_pack(parser: ArgumentParser) -> None:
    parser.add_argument("player", metavar="PLAYER", help="a frozen player, or a learning one: its newest candidate")
    parser.add_argument("-o", "--out", metavar="FILE", help="where to (RUN-PLAYER.safetensors, here)")
    parser.add_argument("--licence", default="", help="under which licence others may use it, for its card")
    parser.add_argument("--note", default="", help="a line for its card, such as how it was made")
    add_allow(parser)


def _pack(arguments: Namespace) -> int:
    from launch.packing.packing import pack

    path = pack(
        find_run(arguments),
        arguments.player,
        optional_path(arguments.out),
        licence=arguments.licence,
        note=arguments.note,
        allow=arguments.allow,
    )
    print_note(f"{path.stat().st_size:,} bytes; look at it: ludus show {path}")
    sys.stdout.write(f"{path}\n")
    return 0


def _add_show(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a packed player")
    add_json(parser)


def _show(arguments: Namespace) -> int:
    from launch.packing.player_cards import card_json, card_lines
    from league.store.player_file import read_player

    found = read_player(Path(arguments.file))
    lines = [json.dumps(card_json(found), indent=2)] if arguments.json else card_lines(found)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


SHARING = (
    CliCommand(
        name="pack",
        help="write a player of a run into one file that is enough to play with it anywhere",
        example="ludus pack latest main -o main.safetensors",
        handle=_pack,
        add_arguments=_add_pack,
    ),
    CliCommand(
        name="show",
        help="print the card of a packed player, after checking its hash",
        example="ludus show main.safetensors",
        handle=_show,
        add_arguments=_add_show,
        takes_run=False,
    ),
)
