"""The commands that play outside the league's schedule.

watch, duel, calibrate, exploit, play, replay, record, check-env
"""

import json
import math
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from launch.commands.command import CliCommand, add_allow, add_json, find_run, optional_path
from launch.spawn.exit_code import FAILED

if TYPE_CHECKING:
    from launch.matches.stopping import StopRule

PLAY_PORT = 8421  # of the page to play at
MOST_GAMES = 20_000  # of a duel that stops by itself


def _add_pair(parser: ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="a player of the league, a bot, or your own: package.module:Bot")
    parser.add_argument("second", metavar="B", help="its opponent")


def _add_delay(parser: ArgumentParser) -> None:
    parser.add_argument("--delay", metavar="SECONDS", type=float, default=0.5, help="between two moves (0.5)")
    add_allow(parser)


def _delay(arguments: Namespace) -> float:
    from league.errors import InputError

    if not 0 <= arguments.delay < math.inf:
        raise InputError(f"--delay must be 0 or more seconds, got {arguments.delay:g}")
    return float(arguments.delay)


def _add_watch(parser: ArgumentParser) -> None:
    _add_pair(parser)
    parser.add_argument("--seed", type=int, default=0, help="another seed is another game (0)")
    _add_delay(parser)


def _watch(arguments: Namespace) -> int:
    from launch.matches.playing import watch

    run, seats = find_run(arguments), (arguments.first, arguments.second)
    return watch(run, *seats, arguments.seed, _delay(arguments), arguments.allow)


def _add_duel(parser: ArgumentParser) -> None:
    _add_pair(parser)
    help = f"how many, from all seats in turn (200; with --until at most {MOST_GAMES})"
    parser.add_argument("--games", metavar="N", type=int, help=help)
    parser.add_argument("--until", choices=("sure",), help="stop when a sequential test on pairs has decided")
    help = "stop when the 95 %% interval of the score reaches this far to each side, e.g. 0.02"
    parser.add_argument("--until-width", metavar="W", type=float, help=help)
    parser.add_argument("--alpha", type=float, default=0.05, help="how often it may find A too strong (0.05)")
    parser.add_argument("--beta", type=float, default=0.05, help="how often it may find A too weak (0.05)")
    for i, usual in enumerate((0, 20)):
        help = f"the {('lower', 'higher')[i]} of the two ratings above B to tell apart ({usual})"
        parser.add_argument(f"--elo{i}", metavar="ELO", type=float, help=help)
    for i in range(2):
        parser.add_argument(f"--score{i}", metavar="S", type=float, help=f"the same as a score, instead of --elo{i}")
    parser.add_argument("--seed", type=int, default=0, help="another seed is other games (0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a line")
    add_allow(parser)


def _duel(arguments: Namespace) -> int:
    from launch.matches.dueling import duel
    from league.errors import InputError

    rule = _stop_rule(arguments)
    games = arguments.games if arguments.games is not None else 200 if rule is None else MOST_GAMES
    if games < 1:
        raise InputError(f"--games must be at least 1, got {games}")
    pair = (arguments.first, arguments.second)
    return duel(find_run(arguments), pair, games, arguments.seed, arguments.json, arguments.allow, rule)


def _stop_rule(arguments: Namespace) -> "StopRule | None":
    """Return what ends a duel; None: the number of games."""
    from launch.matches.stopping import UntilSure, UntilWidth
    from league.errors import InputError
    from league.sequential import PairTest

    if arguments.until_width is not None:
        if arguments.until:
            raise InputError("give either --until sure or --until-width, not both")
        return UntilWidth(arguments.until_width)
    given = [f"--{key}" for key in ("elo0", "elo1", "score0", "score1") if getattr(arguments, key) is not None]
    if not arguments.until:
        if given:
            raise InputError(f"{given[0]} is for the test of --until sure: add it")
        return None
    try:
        return UntilSure(PairTest(*_hypotheses(arguments), arguments.alpha, arguments.beta))
    except ValueError as error:
        raise InputError(f"--until sure: {error}") from error


def _hypotheses(arguments: Namespace) -> tuple[float, float]:
    """Return the two scores to tell apart."""
    from launch.matches.stopping import score_of
    from league.errors import InputError

    elos, scores = (arguments.elo0, arguments.elo1), (arguments.score0, arguments.score1)
    if any(score is not None for score in scores):
        if None in scores or any(elo is not None for elo in elos):
            raise InputError("give both --score0 and --score1, or --elo0 and --elo1 instead")
        return scores
    low, high = (usual if elo is None else elo for elo, usual in zip(elos, (0.0, 20.0), strict=True))
    return score_of(low), score_of(high)


def _add_calibrate(parser: ArgumentParser) -> None:
    parser.add_argument("env", metavar="ENV", help="connect_four, classic/go_v5, or package.module:function")
    help = "the bots, the weakest first; and KEY=VALUE, options of the environment"
    parser.add_argument("words", metavar="BOT", nargs="+", help=help)
    help = "Elo to each side of the 95 %% interval (5)"
    parser.add_argument("--half-width", metavar="ELO", type=float, default=5.0, help=help)
    parser.add_argument("--games", metavar="N", type=int, default=2_000_000, help="between two bots, at most (2000000)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is other games (0)")
    parser.add_argument("--out", metavar="FILE", help="write the table there, as JSON")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_allow(parser)


def _calibrate(arguments: Namespace) -> int:
    from launch.config.approvals import with_given
    from launch.config.env_words import compose_environment
    from launch.matches.calibrating import Precision, calibrate, show_calibration

    words = [word for word in arguments.words if "=" in word]
    bots = [word for word in arguments.words if "=" not in word]
    precision = Precision(half_width=arguments.half_width, games=arguments.games, seed=arguments.seed)
    env = compose_environment(arguments.env, words, arguments.allow)
    found = calibrate(env, bots, precision, with_given(env, arguments.allow))
    show_calibration(found, arguments.json, optional_path(arguments.out))
    return 0


def _add_exploit(parser: ArgumentParser) -> None:
    parser.add_argument("player", metavar="PLAYER", nargs="?", help="a player, or pool, or nash (the first main)")
    parser.add_argument("--rounds", metavar="N", type=int, help="only the first rounds of a repeated game (all)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    add_allow(parser)


def _exploit(arguments: Namespace) -> int:
    from launch.matches.exploiting import exploit, print_exploit

    found = exploit(find_run(arguments), arguments.player, arguments.rounds, arguments.allow)
    return print_exploit(found, arguments.json)


def _add_play(parser: ArgumentParser) -> None:
    parser.add_argument("player", metavar="PLAYER", help="whom you challenge")
    parser.add_argument("--name", default="human", help="what you are called in the league (human)")
    parser.add_argument("--role", help="the role that you take, if there are several")
    parser.add_argument("--games", metavar="N", type=int, default=1, help="how many, a seat further each time (1)")
    parser.add_argument("--browser", action="store_true", help="play in a browser, where a game is rated on request")
    parser.add_argument("--port", type=int, help="of that page (8421, or a free one if that is taken)")
    add_allow(parser)


def _play(arguments: Namespace) -> int:
    if arguments.browser:
        return _play_in_browser(arguments)
    from launch.matches.human import play_human

    who = (arguments.player, arguments.name, arguments.role, arguments.games)
    return play_human(find_run(arguments), *who, arguments.allow)


def _play_in_browser(arguments: Namespace) -> int:
    from launch.dashboard.play_table import PlayTable
    from launch.dashboard.serving import ServerPlace, serve_table
    from launch.viewers.view import find_player, open_view

    run = find_run(arguments)
    find_player(open_view(run).state, arguments.player)
    place, table = ServerPlace(port=arguments.port, usual=PLAY_PORT), PlayTable(run, arguments.allow)
    serve_table(table, arguments.player, arguments.name, place, lambda line: print(line, flush=True))  # noqa: T201
    return 0


def _add_replay(parser: ArgumentParser) -> None:
    parser.add_argument("match", metavar="MATCH", help="TICKET or TICKET.EPISODE, as `ludus matches` lists them")
    _add_delay(parser)


def _replay(arguments: Namespace) -> int:
    from launch.matches.playing import replay

    return replay(find_run(arguments), arguments.match, _delay(arguments), arguments.allow)


def _add_record(parser: ArgumentParser) -> None:
    _add_pair(parser)
    parser.add_argument("--episodes", metavar="N", type=int, default=1, help="how many, one file each (1)")
    parser.add_argument("--format", choices=("gif", "mp4"), default="gif", help="mp4 needs 'ludus-league[video]' (gif)")
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
    parser.add_argument("--episodes", metavar="N", type=int, help="how many are played, if there is time (16)")
    help = "the time for the whole check; with less, fewer episodes are played (20)"
    parser.add_argument("--seconds", metavar="N", type=float, help=help)
    help = "a step that takes longer is a hang (as collector.hang_seconds)"
    parser.add_argument("--hang-seconds", metavar="N", type=float, help=help)
    add_json(parser)
    add_allow(parser)


def _check_env(arguments: Namespace) -> int:
    from collectors.config import CollectorConfig
    from launch.sandbox.apart import check_apart
    from launch.sandbox.trial import Check
    from launch.terminal.spinner import Spinner
    from league.errors import InputError

    asked = {key: given for key in ("episodes", "seconds") if (given := getattr(arguments, key)) is not None}
    seconds = CollectorConfig().hang_seconds if arguments.hang_seconds is None else arguments.hang_seconds
    for key, number in (*asked.items(), ("hang-seconds", seconds)):
        if not number > 0:
            raise InputError(f"--{key} must be more than 0, got {number:g}")
    order = Check(env=arguments.env, words=tuple(arguments.pairs), allow=tuple(arguments.allow), **asked)
    with Spinner(f"checking {arguments.env}") as progress:
        found = check_apart(order, seconds, progress.update)
    sys.stdout.write((json.dumps(found.plain, indent=2) if arguments.json else "\n".join(found.lines)) + "\n")
    return 0 if found.fit else FAILED


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
        example="ludus duel latest main main.0 --until sure",
        handle=_duel,
        add_arguments=_add_duel,
    ),
    CliCommand(
        name="calibrate",
        help="let bots play each other until their ratings as anchors are known",
        example="ludus calibrate connect_four random one_ply --half-width 5",
        handle=_calibrate,
        add_arguments=_add_calibrate,
        takes_run=False,
    ),
    CliCommand(
        name="exploit",
        help="compute exactly what a best response gains against a player, in small games",
        example="ludus exploit latest main",
        handle=_exploit,
        add_arguments=_add_exploit,
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
