"""The commands by which players leave a run and meet elsewhere: pack, show, tournament, zoo."""

import json
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from launch.commands.command import CliCommand, add_allow, add_json, find_run, optional_path, print_note

if TYPE_CHECKING:
    from league.store.run_directory import RunDirectory


def _add_pack(parser: ArgumentParser) -> None:
    parser.add_argument("player", metavar="PLAYER", help="a frozen player, or a learning one: its newest candidate")
    parser.add_argument("-o", "--out", metavar="FILE", help="where to (RUN-PLAYER.safetensors, here)")
    parser.add_argument("--licence", help="under which licence others may use it, for its card")
    parser.add_argument("--note", help="a line for its card, such as how it was made")
    parser.add_argument("--onnx", action="store_true", help="also write its network as FILE.onnx (ludus-league[onnx])")
    add_allow(parser)


def _pack(arguments: Namespace) -> int:
    from launch.packing.packing import pack
    from league.errors import InputError

    if arguments.onnx and str(arguments.out).endswith(".onnx"):
        raise InputError(f"{arguments.out} is the name of the ONNX file: give the player another one with -o")
    path = pack(
        find_run(arguments),
        arguments.player,
        optional_path(arguments.out),
        licence=arguments.licence,
        note=arguments.note,
        allow=arguments.allow,
    )
    if arguments.onnx:
        from launch.packing.onnx_export import CHECKED, export_onnx
        from league.store.player_file import read_player

        graph = path.with_suffix(".onnx")
        apart = export_onnx(read_player(path), graph, arguments.allow)
        print_note(f"{graph}: equals the player on {CHECKED:,} observations within {apart:.1g}")
    print_note(f"{path.stat().st_size:,} bytes; look at it: ludus show {path}")
    sys.stdout.write(f"{path}\n")
    return 0


def _add_show(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a packed player, or zoo:GAME/NAME")
    add_json(parser)


def _show(arguments: Namespace) -> int:
    from launch.config.player_files import player_path
    from launch.packing.player_cards import card_json, card_lines
    from league.store.player_file import read_player

    found = read_player(player_path(arguments.file))
    lines = [json.dumps(card_json(found), indent=2)] if arguments.json else card_lines(found)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _add_tournament(parser: ArgumentParser) -> None:
    help = "a packed player (FILE), a player of a run (RUN/PLAYER), or a bot; all of the same game"
    parser.add_argument("entrants", metavar="PLAYER", nargs="+", help=help)
    parser.add_argument("--env", help="the game, if only bots play: connect_four, classic/go_v5 ...")
    parser.add_argument("--rounds", metavar="N", type=int, help="of each pair, both have every seat in one (50)")
    help = "play on until the 95 %% interval of every rating reaches at most this far to each side"
    parser.add_argument("--until", metavar="ELO", type=float, help=help)
    help = "a gauntlet: all others meet only this player, which takes part; may be repeated"
    parser.add_argument("--against", metavar="PLAYER", action="append", default=[], help=help)
    help = "pin the rating of a player; may be repeated (the first player at 0)"
    parser.add_argument("--anchor", metavar="PLAYER=ELO", action="append", default=[], help=help)
    parser.add_argument("--name", default="", help="of its run (made of its players)")
    parser.add_argument("--runs", metavar="DIR", default="runs", help="where its run lands (runs)")
    parser.add_argument(
        "--collectors", metavar="N", type=int, default=0, help="processes that play (one for each core)"
    )
    parser.add_argument("--inline", action="store_true", help="play in this process, reproducibly")
    parser.add_argument("--seed", type=int, default=1, help="another seed is another tournament (1)")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    add_json(parser)
    add_allow(parser)


def _tournament(arguments: Namespace) -> int:
    from launch.config.env_words import compose_environment
    from launch.terminal.spinner import hushed
    from launch.tournaments.entrants import find_entrants
    from launch.tournaments.holding import TournamentOrder, tournament

    order = TournamentOrder(
        rounds=arguments.rounds,
        until=arguments.until,
        against=arguments.against,
        anchors=tuple(map(_anchor, arguments.anchor)),
        name=arguments.name,
        runs=arguments.runs,
        seed=arguments.seed,
        collectors=arguments.collectors,
        inline=arguments.inline,
    )
    env = compose_environment(arguments.env, allow=arguments.allow) if arguments.env else None
    given = list(dict.fromkeys([*arguments.entrants, *arguments.against]))
    with hushed(arguments.quiet):
        run = tournament(find_entrants(given), order, env=env, allow=arguments.allow)
        if not arguments.quiet:
            _print_tournament(run, arguments.json)
    return 0


def _print_tournament(run: "RunDirectory", as_json: bool) -> None:
    from launch.terminal.console import Console
    from launch.viewers.payoff_matrix import payoff_json, payoff_matrix
    from launch.viewers.reporting import write_report
    from launch.viewers.tables import standings_json, standings_table
    from launch.viewers.view import open_view

    state, report = open_view(run).state, write_report(run)
    if as_json:
        rows, cells = standings_json(state), payoff_json(state)["evaluate"]
        plain = {"run": str(run.root), "report": str(report), "standings": rows, "payoff": cells}
        sys.stdout.write(json.dumps(plain, indent=2, allow_nan=False) + "\n")
        return
    console = Console()
    console.print(standings_table(state))
    console.print(payoff_matrix(state, state.evaluation, "Who beats whom", console.width))
    print_note(f"the report, to look at or to send: {report}")


def _zoo(arguments: Namespace) -> int:
    from launch.config.player_files import zoo_files
    from launch.packing.player_cards import card_json, zoo_lines
    from league.store.player_file import read_player

    found = {name: read_player(path) for name, path in zoo_files().items()}
    plain = {name: card_json(file) for name, file in found.items()}
    sys.stdout.write((json.dumps(plain, indent=2) if arguments.json else "\n".join(zoo_lines(found))) + "\n")
    return 0


def _anchor(text: str) -> tuple[str, float]:
    from league.errors import InputError

    name, equals, rating = text.rpartition("=")
    try:
        return name if equals else text, float(rating)
    except ValueError as error:
        raise InputError(f"--anchor {text}: write PLAYER=ELO, such as random=0") from error


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
    CliCommand(
        name="tournament",
        help="let packed players, players of runs and bots play each other, and print their standings",
        example="ludus tournament main.safetensors first/main random --until 20",
        handle=_tournament,
        add_arguments=_add_tournament,
        takes_run=False,
    ),
    CliCommand(
        name="zoo",
        help="list the reference players that come with Ludus",
        example="ludus zoo",
        handle=_zoo,
        add_arguments=add_json,
        takes_run=False,
    ),
)
