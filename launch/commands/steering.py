"""The commands that work on a run that is under way: attach, logs, pause, unpause, stop, scale, keys."""

from argparse import ArgumentParser, Namespace

from launch.commands.command import CliCommand, add_display, add_json, find_run


def _add_attach(parser: ArgumentParser) -> None:
    add_display(parser, quiet="print only how it ends")


def _attach(arguments: Namespace) -> int:
    from launch.operating import attach

    return attach(find_run(arguments), arguments.plain, arguments.quiet, arguments.json)


def _add_logs(parser: ArgumentParser) -> None:
    parser.add_argument("role", metavar="ROLE", nargs="?", help="coordinator, learner, collector, or one: collector-3")
    parser.add_argument("-f", "--follow", action="store_true", help="go on as they write more")
    parser.add_argument("-n", "--lines", metavar="N", type=int, default=20, help="how many of each (20)")


def _logs(arguments: Namespace) -> int:
    from launch.operating import logs

    return logs(find_run(arguments), arguments.role, arguments.follow, arguments.lines)


def _pause(arguments: Namespace) -> int:
    from launch.operating import pause

    return pause(find_run(arguments))


def _unpause(arguments: Namespace) -> int:
    from launch.operating import unpause

    return unpause(find_run(arguments))


def _stop(arguments: Namespace) -> int:
    from launch.operating import stop

    return stop(find_run(arguments))


def _add_scale(parser: ArgumentParser) -> None:
    parser.add_argument("pairs", metavar="collectors=N", nargs="+")


def _scale(arguments: Namespace) -> int:
    from launch.operating import scale

    return scale(find_run(arguments), arguments.pairs)


def _add_keys(parser: ArgumentParser) -> None:
    help = "revoke: shut its key out; new: shut it out and make another one"
    parser.add_argument("action", metavar="revoke|new", nargs="?", choices=("revoke", "new"), help=help)
    parser.add_argument("name", metavar="NAME", nargs="?", help="of a process, as the list has it: collector-3")
    add_json(parser)


def _keys(arguments: Namespace) -> int:
    from launch.operating import keys

    return keys(find_run(arguments), arguments.action, arguments.name, arguments.json)


STEERING = (
    CliCommand(
        name="attach",
        help="show the live table of a run that is under way",
        example="ludus attach latest",
        handle=_attach,
        add_arguments=_add_attach,
    ),
    CliCommand(
        name="logs",
        help="show what the processes of a run wrote",
        example="ludus logs latest learner -f",
        handle=_logs,
        add_arguments=_add_logs,
    ),
    CliCommand(
        name="pause",
        help="let a run rest while its processes stay: no new matches, and its budget's clock stands",
        example="ludus pause latest",
        handle=_pause,
    ),
    CliCommand(
        name="unpause",
        help="let a paused run go on",
        example="ludus unpause latest",
        handle=_unpause,
    ),
    CliCommand(
        name="stop",
        help="let everybody finish and end a run; it can be resumed",
        example="ludus stop latest",
        handle=_stop,
    ),
    CliCommand(
        name="scale",
        help="change the number of collectors while a run is under way on Slurm",
        example="ludus scale latest collectors=64",
        handle=_scale,
        add_arguments=_add_scale,
    ),
    CliCommand(
        name="keys",
        help="list the keys of a run, shut one out, or replace it, also while the run is under way",
        example="ludus keys latest revoke collector-3",
        handle=_keys,
        add_arguments=_add_keys,
    ),
)
