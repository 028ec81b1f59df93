"""The commands that play outside the league's schedule: watch, duel, play, replay, record, and check-env."""

import json
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from launch.commands.command import CliCommand, add_allow, find_run, optional_path
from launch.spawn.exit_code import FAILED


def _add_pair(parser: ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="a player of the league, a bot, or your own: package.module:Bot")
    parser.add_argument("second", metavar="B", help="its opponent")


def _add_delay(parser: ArgumentParser) -> None:
    parser.add_argument("--delay", metavar="SECONDS", type=float, default=0.5, help="between two moves (0.5)")
    add_allow(parser)


def _add_watch(parser: ArgumentParser) -> None:
    _add_pair(parser)
    parser.add_argument("--seed", type=int, default=0, help="another seed is another game (0)")
    _add_delay(parser)


def _watch(arguments: Namespace) -> int:
    from launch.matches.playing import watch

    run, seats = find_run(arguments), (arguments.first, arguments.second)
    return watch(run, *seats, arguments.seed, arguments.delay, arguments.allow)


def _add_duel(parser: ArgumentParser) -> None:
    _add_pair(parser)
    parser.add_argument("--games", metavar="N", type=int, default=200, help="how many, from all seats in turn (200)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is other games (0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a line")
    add_allow(parser)


def _duel(arguments: Namespace) -> int:
    from launch.matches.dueling import duel
    from league.errors import InputError

    if arguments.games < 1:
        raise InputError(f"--games must be at least 1, got {arguments.games}")
    seats = (arguments.first, arguments.second)
    return duel(find_run(arguments), *seats, arguments.games, arguments.seed, arguments.json, arguments.allow)


def _add_play(parser: ArgumentParser) -> None:
    parser.add_argument("player", metavar="PLAYER", help="whom you challenge")
    parser.add_argument("--name", default="human", help="what you are called in the league (human)")
    parser.add_argument("--role", help="the role that you take, if there are several")
    parser.add_argument("--games", metavar="N", type=int, default=1, help="how many, a seat further each time (1)")
    add_allow(parser)


def _play(arguments: Namespace) -> int:
    from launch.matches.human import play_human

    who = (arguments.player, arguments.name, arguments.role, arguments.games)
    return play_human(find_run(arguments), *who, arguments.allow)


def _add_replay(parser: ArgumentParser) -> None:
    parser.add_argument("match", metavar="MATCH", help="TICKET or TICKET.EPISODE, as `ludus matches` lists them")
    _add_delay(parser)


def _replay(arguments: Namespace) -> int:
    from launch.matches.playing import replay

    return replay(find_run(arguments), arguments.match, arguments.delay, arguments.allow)


def _add_record(parser: ArgumentParser) -> None:
    _add_pair(parser)
    parser.add_argument("--episodes", metavar="N", type=int, default=1, help="how many, one file each (1)")
    parser.add_argument("--format", choices=("gif", "mp4"), default="gif", help="mp4 needs 'ludus[video]' (gif)")
    parser.add_argument("--out", metavar="DIR", help="where to (RUN/videos)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another game (0)")
    parser.add_argument("--fps", type=float, default=2.0, help="pictures per second (2)")
    add_allow(parser)


def _record(arguments: Namespace) -> int:
    from launch.matches.recording import Film, record

    film = Film(episodes=arguments.episodes, seed=arguments.seed, kind=arguments.format, fps=arguments.fps)
    out = optional_path(arguments.out)
    paths = record(find_run(arguments), (arguments.first, arguments.second), film, out, arguments.allow)
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


def _add_check_env(parser: ArgumentParser) -> None:
    parser.add_argument("env", metavar="ENV", help="connect_four, classic/go_v5, or package.module:function")
    parser.add_argument("pairs", metavar="KEY=VALUE", nargs="*", default=[], help="options of the environment")
    help = "a step that takes longer is a hang (as collector.hang_seconds)"
    parser.add_argument("--hang-seconds", metavar="N", type=float, help=help)
    add_allow(parser)


def _check_env(arguments: Namespace) -> int:
    from collectors.config import CollectorConfig
    from launch.sandbox.apart import check_apart
    from launch.sandbox.trial import Check
    from launch.terminal.spinner import Spinner
    from league.errors import InputError

    order = Check(env=arguments.env, options=dict(map(_option, arguments.pairs)), allow=tuple(arguments.allow))
    seconds = CollectorConfig().hang_seconds if arguments.hang_seconds is None else arguments.hang_seconds
    if not seconds > 0:
        raise InputError(f"--hang-seconds must be more than 0, got {seconds:g}")
    with Spinner(f"playing {arguments.env} at random") as progress:
        found = check_apart(order, seconds, progress.update)
    sys.stdout.write("\n".join(found.lines) + "\n")
    return 0 if found.fit else FAILED


def _option(text: str) -> tuple[str, Any]:
    """Return key and value of an option; a value that is no JSON is text."""
    from league.errors import InputError

    key, found, value = text.partition("=")
    if not key or not found:
        raise InputError(f"cannot read {text!r}: write KEY=VALUE, e.g. board_size=9")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


CONTESTING = (
    CliCommand(
        name="watch",
        help="let two players play, and look on",
        example="ludus watch latest main one_ply --delay 0.5",
        handle=_watch,
        add_arguments=_add_watch,
    ),
    CliCommand(
        name="duel",
        help="let two players play many games, and print the score with its interval",
        example="ludus duel latest main main.0 --games 400",
        handle=_duel,
        add_arguments=_add_duel,
    ),
    CliCommand(
        name="play",
        help="play against a player yourself, for a rating",
        example="ludus play latest main --name ada --games 2",
        handle=_play,
        add_arguments=_add_play,
    ),
    CliCommand(
        name="replay",
        help="play a recorded match again, and check that it ends the same",
        example="ludus replay latest 812.3",
        handle=_replay,
        add_arguments=_add_replay,
    ),
    CliCommand(
        name="record",
        help="write episodes between two players as videos",
        example="ludus record latest main one_ply --episodes 2",
        handle=_record,
        add_arguments=_add_record,
    ),
    CliCommand(
        name="check-env",
        help="check whether an environment is fit for a league",
        example="ludus check-env classic/go_v5 board_size=9",
        handle=_check_env,
        add_arguments=_add_check_env,
        takes_run=False,
    ),
)
