"""The words of the command line: commands, arguments, help. Nothing is imported here that is not needed to parse."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from launch.terminal.wording import TRACEBACK

EXAMPLES = {
    "run": "ludus run env=tic_tac_toe league=pfsp name=first algo.lr=0.001",
    "resume": "ludus resume latest",
    "attach": "ludus attach latest",
    "logs": "ludus logs latest learner -f",
    "stop": "ludus stop latest",
    "scale": "ludus scale latest collectors=64",
    "list": "ludus list",
    "keys": "ludus keys latest revoke collector-3",
    "status": "ludus status latest",
    "standings": "ludus standings first --json",
    "payoff": "ludus payoff runs/first",
    "matches": "ludus matches latest --player main --limit 50",
    "explain": "ludus explain latest main_exploiter",
    "watch": "ludus watch latest main one_ply --delay 0.5",
    "duel": "ludus duel latest main main.0 --games 400",
    "play": "ludus play latest main --name ada --games 2",
    "replay": "ludus replay latest 812.3",
    "record": "ludus record latest main one_ply --episodes 2",
    "report": "ludus report latest",
    "export": "ludus export latest --to csv --out curves",
    "verify": "ludus verify latest",
    "check-env": "ludus check-env classic/go_v5 board_size=9",
}
RUN_HELP = "the name of a run, its path, or 'latest'"
LINES_HELP = "print a line of JSON now and then, and one with the standings at the end"

Commands = Any  # argparse keeps the type of its sub-parsers to itself


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=28)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    examples = "\n".join(f"  {line}" for line in EXAMPLES.values())
    parser = argparse.ArgumentParser(
        prog="ludus",
        description="Train a league of players by self-play, and see who is really better.",
        epilog=f"examples:\n{examples}\n\n{TRACEBACK}=1 shows where an error comes from.",
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    _add_starting(commands)
    _add_operating(commands)
    _add_reading(commands)
    _add_playing(commands)
    return parser


class Version(argparse.Action):
    """Print the version; the metadata is only read when somebody asks."""

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
    """End with the nearest command if there is none of this name; argparse would only list them all."""
    if not argv or argv[0].startswith("-") or argv[0] in EXAMPLES:
        return
    import difflib

    close = difflib.get_close_matches(argv[0], EXAMPLES, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(EXAMPLES)}"
    parser.error(f"there is no command {argv[0]!r}; {hint}")


def _add(commands: Commands, name: str, help: str, run: bool = True) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=f"example:\n  {EXAMPLES[name]}",
        formatter_class=_formatter,
    )
    if run:
        command.add_argument("run", metavar="RUN", help=RUN_HELP)
    return command


def _add_allow(command: argparse.ArgumentParser) -> None:
    help = "let the config name code of this package, also in the current directory; may be repeated"
    command.add_argument("--allow", metavar="PACKAGE", action="append", default=[], help=help)


def _add_starting(commands: Commands) -> None:
    run = _add(commands, "run", "start a league, or go on with it if its run exists", run=False)
    resume = _add(commands, "resume", "go on with a run as it was configured")
    help = "a group (env=tic_tac_toe) or key (algo.lr=0.001) of the config; + adds a key, ~ removes one"
    run.add_argument("pairs", metavar="OVERRIDE", nargs="*", default=[], help=help)
    run.add_argument("-m", "--multirun", action="store_true", help="sweep: a league for each of seed=1,2,3")
    run.add_argument("--accept-changes", action="store_true", help="go on with a run under another config")
    run.add_argument("--config-dir", metavar="DIR", help="add options to groups: DIR/experiment/mine.yaml")
    run.add_argument("--cfg", action="store_true", help="print the config and where each value comes from, and end")
    run.add_argument("--dry-run", action="store_true", help="try the environment, print what would start, and end")
    help = "go on though the run brings shell for Slurm jobs, keys, or links that you did not put there yourself"
    resume.add_argument("--trust", action="store_true", help=help)
    for command in (run, resume):
        _add_allow(command)
        command.add_argument("--plain", action="store_true", help="print lines instead of a live table")
        command.add_argument("--quiet", action="store_true", help="print errors only")
        command.add_argument("--json", action="store_true", help=LINES_HELP)


def _add_operating(commands: Commands) -> None:
    attach = _add(commands, "attach", "show the live table of a run that is under way")
    attach.add_argument("--plain", action="store_true", help="print lines instead of a live table")
    attach.add_argument("--quiet", action="store_true", help="print only how it ends")
    attach.add_argument("--json", action="store_true", help=LINES_HELP)
    logs = _add(commands, "logs", "show what the processes of a run wrote")
    logs.add_argument("role", metavar="ROLE", nargs="?", help="coordinator, learner, collector, or one: collector-3")
    logs.add_argument("-f", "--follow", action="store_true", help="go on as they write more")
    logs.add_argument("-n", "--lines", metavar="N", type=int, default=20, help="how many of each (20)")
    _add(commands, "stop", "let everybody finish and end a run; it can be resumed")
    scale = _add(commands, "scale", "change the number of collectors while a run is under way on Slurm")
    scale.add_argument("pairs", metavar="collectors=N", nargs="+")
    keys = _add(
        commands, "keys", "list the keys of a run, shut one out, or replace it, also while the run is under way"
    )
    help = "revoke: shut its key out; new: shut it out and make another one"
    keys.add_argument("action", metavar="revoke|new", nargs="?", choices=("revoke", "new"), help=help)
    keys.add_argument("name", metavar="NAME", nargs="?", help="of a process, as the list has it: collector-3")
    keys.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _add_reading(commands: Commands) -> None:
    runs = _add(commands, "list", "list the runs here, with their states and best players", run=False)
    runs.add_argument("runs", metavar="DIR", nargs="?", default="runs", help="where they are (runs)")
    tables = [
        _add(commands, "status", "show how far a run is, and which processes work on it"),
        _add(commands, "standings", "show the ratings with their intervals"),
        _add(commands, "payoff", "show who beats whom"),
        _add(commands, "matches", "list the newest matches"),
    ]
    for command in (runs, *tables):
        command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    tables[-1].add_argument("--player", help="only matches of this player")
    tables[-1].add_argument("--limit", metavar="N", type=int, default=20, help="how many (20)")
    explain = _add(commands, "explain", "show whom a player is matched with, and why")
    explain.add_argument("player", metavar="PLAYER")
    report = _add(commands, "report", "write all of a run into one HTML file, with its plots beside it")
    report.add_argument("--out", metavar="DIR", help="where to (RUN/report)")
    export = _add(commands, "export", "rebuild all curves of a run from its ledger")
    export.add_argument("--to", required=True, choices=("csv", "tensorboard", "wandb"), help="who draws them")
    export.add_argument("--out", metavar="DIR", help="where to (RUN/export/TO)")
    _add_allow(export)
    _add(commands, "verify", "check every promise that a run directory can break")


def _add_playing(commands: Commands) -> None:
    watch = _add(commands, "watch", "let two players play, and look on")
    watch.add_argument("first", metavar="A", help="a player of the league, a bot, or your own: package.module:Bot")
    watch.add_argument("second", metavar="B", help="its opponent")
    watch.add_argument("--seed", type=int, default=0, help="another seed is another game (0)")
    duel = _add(commands, "duel", "let two players play many games, and print the score with its interval")
    duel.add_argument("first", metavar="A", help="a player of the league, a bot, or your own: package.module:Bot")
    duel.add_argument("second", metavar="B", help="its opponent")
    duel.add_argument("--games", metavar="N", type=int, default=200, help="how many, from all seats in turn (200)")
    duel.add_argument("--seed", type=int, default=0, help="another seed is other games (0)")
    duel.add_argument("--json", action="store_true", help="print JSON instead of a line")
    _add_allow(duel)
    play = _add(commands, "play", "play against a player yourself, for a rating")
    play.add_argument("player", metavar="PLAYER", help="whom you challenge")
    play.add_argument("--name", default="human", help="what you are called in the league (human)")
    play.add_argument("--role", help="the role that you take, if there are several")
    play.add_argument("--games", metavar="N", type=int, default=1, help="how many, a seat further each time (1)")
    _add_allow(play)
    replay = _add(commands, "replay", "play a recorded match again, and check that it ends the same")
    replay.add_argument("match", metavar="MATCH", help="TICKET or TICKET.EPISODE, as `ludus matches` lists them")
    for command in (watch, replay):
        command.add_argument("--delay", metavar="SECONDS", type=float, default=0.5, help="between two moves (0.5)")
        _add_allow(command)
    record = _add(commands, "record", "write episodes between two players as videos")
    record.add_argument("first", metavar="A", help="a player of the league, a bot, or your own: package.module:Bot")
    record.add_argument("second", metavar="B", help="its opponent")
    record.add_argument("--episodes", metavar="N", type=int, default=1, help="how many, one file each (1)")
    record.add_argument("--format", choices=("gif", "mp4"), default="gif", help="mp4 needs 'ludus-league[video]' (gif)")
    record.add_argument("--out", metavar="DIR", help="where to (RUN/videos)")
    record.add_argument("--seed", type=int, default=0, help="another seed is another game (0)")
    record.add_argument("--fps", type=float, default=2.0, help="pictures per second (2)")
    _add_allow(record)
    check = _add(commands, "check-env", "check whether an environment is fit for a league", run=False)
    check.add_argument("env", metavar="ENV", help="connect_four, classic/go_v5, or package.module:function")
    check.add_argument("pairs", metavar="KEY=VALUE", nargs="*", default=[], help="options of the environment")
    help = "a step that takes longer is a hang (as collector.hang_seconds)"
    check.add_argument("--hang-seconds", metavar="N", type=float, help=help)
    _add_allow(check)
