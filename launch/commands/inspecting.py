"""The commands that read runs.

list, dashboard, status, standings, payoff, matches, explain, report, export, verify
"""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from launch.commands.command import RUN_HELP, CliCommand, add_allow, add_json, find_run, optional_path, print_note


def _add_list(parser: ArgumentParser) -> None:
    parser.add_argument("runs", metavar="DIR", nargs="?", default="runs", help="where they are (runs)")
    add_json(parser)


def _list(arguments: Namespace) -> int:
    from launch.viewers.listing import list_runs

    return list_runs(Path(arguments.runs), arguments.json)


def _add_dashboard(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help=f"{RUN_HELP} (all runs of --runs)")
    parser.add_argument("--runs", metavar="DIR", default="runs", help="where all runs are (runs)")
    help = "where to listen; with another address than this machine's own, others can read your runs (127.0.0.1)"
    parser.add_argument("--host", default="127.0.0.1", help=help)
    parser.add_argument("--port", type=int, help="at which port (8420, or a free one if that is taken)")
    add_allow(parser)


def _dashboard(arguments: Namespace) -> int:
    from launch.dashboard.dashboard_runs import Runs
    from launch.dashboard.serving import ServerPlace, serve
    from league.errors import InputError

    if arguments.port is not None and not 0 < arguments.port < 65536:
        raise InputError(f"--port must be between 1 and 65535, got {arguments.port}")
    folder = Path(arguments.runs)
    if arguments.run is None and not folder.is_dir():
        raise InputError(f"there is no directory {str(folder)!r}: name that of the runs with --runs, or give a run")
    only = find_run(arguments) if arguments.run is not None else None
    place = ServerPlace(host=arguments.host, port=arguments.port)
    serve(Runs(folder, only, tuple(arguments.allow)), place, lambda line: print(line, flush=True))  # noqa: T201
    return 0


def _status(arguments: Namespace) -> int:
    from launch.viewers.reading import status

    return status(find_run(arguments), arguments.json)


def _add_variant(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.add_argument("--variant", metavar="NAME", help="only games in this variant of the environment")


def _add_standings(parser: ArgumentParser) -> None:
    _add_variant(parser)
    parser.add_argument(
        "--cost", action="store_true", help="learning players with their algorithms, and what was spent on each"
    )


def _standings(arguments: Namespace) -> int:
    from launch.viewers.reading import standings, standings_with_costs
    from league.errors import InputError

    run = find_run(arguments)
    if arguments.cost and arguments.variant is not None:
        raise InputError("--cost counts all training, so --variant does not go with it: leave one of them out")
    if arguments.cost:
        return standings_with_costs(run, arguments.json)
    return standings(run, arguments.json, arguments.variant)


def _payoff(arguments: Namespace) -> int:
    from launch.viewers.reading import payoff

    return payoff(find_run(arguments), arguments.json, arguments.variant)


def _add_matches(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.add_argument("--player", help="only matches of this player")
    parser.add_argument("--limit", metavar="N", type=int, default=20, help="how many (20)")


def _matches(arguments: Namespace) -> int:
    from launch.viewers.reading import matches

    return matches(find_run(arguments), arguments.player, arguments.limit, arguments.json)


def _add_explain(parser: ArgumentParser) -> None:
    add_json(parser)
    add_allow(parser)
    parser.add_argument("player", metavar="PLAYER")


def _explain(arguments: Namespace) -> int:
    from launch.viewers.reading import explain

    return explain(find_run(arguments), arguments.player, arguments.allow, arguments.json)


def _add_report(parser: ArgumentParser) -> None:
    parser.add_argument("--out", metavar="DIR", help="where to (RUN/report)")


def _report(arguments: Namespace) -> int:
    from launch.viewers.reporting import write_report

    sys.stdout.write(f"{write_report(find_run(arguments), optional_path(arguments.out))}\n")
    return 0


def _add_export(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--to",
        required=True,
        choices=("csv", "tensorboard", "wandb", "games"),
        help="who draws them; or games: episodes",
    )
    parser.add_argument("--out", metavar="DIR", help="where to (RUN/export/TO)")
    add_allow(parser)


def _export(arguments: Namespace) -> int:
    if arguments.to == "games":
        from launch.packing.game_export import export_games

        folder, episodes = export_games(find_run(arguments), optional_path(arguments.out), arguments.allow)
        print_note(f"{episodes:,} episodes in {folder}")
        return 0
    from launch.trackers.exporting import export

    export(find_run(arguments), arguments.to, optional_path(arguments.out), print_note, arguments.allow)
    return 0


def _verify(arguments: Namespace) -> int:
    from launch.verify.verify import verify

    return verify(find_run(arguments), arguments.json)


INSPECTING = (
    CliCommand(
        name="list",
        help="list the runs here, with their states and best players",
        example="ludus list",
        handle=_list,
        add_arguments=_add_list,
        takes_run=False,
    ),
    CliCommand(
        name="dashboard",
        help="show runs in a browser: live while they run, and afterwards",
        example="ludus dashboard latest",
        handle=_dashboard,
        add_arguments=_add_dashboard,
        takes_run=False,
    ),
    CliCommand(
        name="status",
        help="show how far a run is, and which processes work on it",
        example="ludus status latest",
        handle=_status,
        add_arguments=add_json,
    ),
    CliCommand(
        name="standings",
        help="show the ratings with their intervals",
        example="ludus standings first --json",
        handle=_standings,
        add_arguments=_add_standings,
    ),
    CliCommand(
        name="payoff",
        help="show who beats whom",
        example="ludus payoff runs/first",
        handle=_payoff,
        add_arguments=_add_variant,
    ),
    CliCommand(
        name="matches",
        help="list the newest matches",
        example="ludus matches latest --player main --limit 50",
        handle=_matches,
        add_arguments=_add_matches,
    ),
    CliCommand(
        name="explain",
        help="show whom a player is matched with, and why",
        example="ludus explain latest main_exploiter",
        handle=_explain,
        add_arguments=_add_explain,
    ),
    CliCommand(
        name="report",
        help="write all of a run into one HTML file, with its plots beside it",
        example="ludus report latest",
        handle=_report,
        add_arguments=_add_report,
    ),
    CliCommand(
        name="export",
        help="rebuild all curves of a run from its ledger, or its recorded games",
        example="ludus export latest --to csv --out curves",
        handle=_export,
        add_arguments=_add_export,
    ),
    CliCommand(
        name="verify",
        help="check every promise that a run directory can break",
        example="ludus verify latest",
        handle=_verify,
        add_arguments=add_json,
    ),
)
