"""`ludus`: the command line. It dispatches; each command imports what it needs, and only then."""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launch.arguments import build_parser, refuse_unknown_command
from launch.shadowing import ShadowedError, check_packages
from launch.spawn.interpreter import allow_local_modules
from launch.terminal.clean import cleaned, show_error
from launch.terminal.wording import TRACEBACK

if TYPE_CHECKING:
    from launch.config.config import Config
    from league.store.run_directory import RunDirectory

FAILED, REFUSED, INTERRUPTED = 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 2 and one line on stderr if the user can mend what is wrong."""
    sys.excepthook = show_error
    with cleaned():
        return _dispatch(argv)


def _dispatch(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    refuse_unknown_command(parser, sys.argv[1:] if argv is None else argv)
    arguments, rest = parser.parse_known_args(argv)
    # argparse takes overrides only in one block; they may as well stand before and after options.
    if any(text.startswith("-") for text in rest) or (rest and not hasattr(arguments, "pairs")):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        arguments.pairs += rest
    allow_local_modules(getattr(arguments, "allow", ()))
    try:
        check_packages()
        code = COMMANDS[arguments.command](arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, e.g. `head`, has seen enough; python would complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ShadowedError as error:
        say(str(error))
        return REFUSED
    except Exception as error:
        if os.environ.get(TRACEBACK) or not _expected(error):
            raise
        say(_told(error))
        return REFUSED


def say(line: str) -> None:
    """Tell the user something that is not the answer to the command."""
    sys.stderr.write(f"ludus: {line}\n")


def _expected(error: Exception) -> bool:
    """Whether the message alone tells the user what to do: bad input (always a ValueError), files, the ledger."""
    from league.store.ledger import LedgerError
    from league.store.snapshots import SnapshotError

    return isinstance(error, ValueError | OSError | LedgerError | SnapshotError)


def _told(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    ours = type(error).__module__ != "builtins"
    return str(error) if ours else f"{error} ({TRACEBACK}=1 shows where this comes from)"


# --- the commands --------------------------------------------------------------------------------------------


def _find(arguments: Namespace) -> "RunDirectory":
    from league.store.run_directory import RunDirectory

    return RunDirectory.find(arguments.run)


def _run(arguments: Namespace) -> int:
    from launch.config.compose import compose
    from launch.start import begin
    from launch.terminal.spinner import hushed

    if arguments.multirun:
        return _sweep(arguments)
    if arguments.cfg:
        return _show_config(arguments)
    config = compose(arguments.pairs, arguments.allow, _config_dir(arguments))
    if arguments.dry_run:
        return _preview([config], arguments)
    note = (lambda line: None) if arguments.quiet else say
    started = begin(config, allow=arguments.allow, accept=arguments.accept_changes, say=note)
    with hushed(arguments.quiet), started as run:
        return _launch(run, arguments, given=True)


def _config_dir(arguments: Namespace) -> Path | None:
    return None if arguments.config_dir is None else Path(arguments.config_dir)


def _show_config(arguments: Namespace) -> int:
    from launch.config.compose import compose_layers
    from launch.config.origins import as_columns, as_json, settings

    config, layers = compose_layers(arguments.pairs, arguments.allow, _config_dir(arguments))
    found = list(settings(config, layers))
    sys.stdout.write(as_json(config, found) if arguments.json else as_columns(found))
    return 0


def _preview(configs: "Sequence[Config]", arguments: Namespace) -> int:
    from launch.previewing import as_lines, preview

    found = [preview(config, allow=arguments.allow, accept=arguments.accept_changes) for config in configs]
    if arguments.json:
        sys.stdout.write("".join(f"{json.dumps(asdict(one))}\n" for one in found))
    else:
        sys.stdout.write("\n\n".join(map(as_lines, found)) + "\nnothing was started, and nothing was written\n")
    return 0


def _sweep(arguments: Namespace) -> int:
    from launch.config.config import ConfigError
    from launch.sweeps.sweeping import rehearsed, sweep

    if arguments.cfg:
        raise ConfigError("--cfg shows the config of one league: leave out -m, and choose one value of each key")
    if arguments.dry_run:
        return _preview(rehearsed(arguments.pairs, arguments.allow, _config_dir(arguments)), arguments)
    flags = ("plain", "quiet", "json", "accept_changes")
    options = [f"--{flag.replace('_', '-')}" for flag in flags if getattr(arguments, flag)]
    return sweep(arguments.pairs, options, arguments.allow, _config_dir(arguments))


def _resume(arguments: Namespace) -> int:
    from launch.config.config import stored
    from launch.start import held

    run = _find(arguments)
    if not arguments.trust:
        run.refuse_links()
    with held(run, slurm=stored(run).launch.name == "slurm"):
        return _launch(run, arguments, given=arguments.trust)


def _launch(run: "RunDirectory", arguments: Namespace, given: bool) -> int:
    from launch.start import launch

    show = {"plain": arguments.plain, "quiet": arguments.quiet, "as_json": arguments.json}
    return launch(run, allow=arguments.allow, given=given, **show)


def _record(arguments: Namespace) -> int:
    from launch.matches.recording import Film, record

    film = Film(episodes=arguments.episodes, seed=arguments.seed, kind=arguments.format, fps=arguments.fps)
    out = Path(arguments.out) if arguments.out else None
    paths = record(_find(arguments), (arguments.first, arguments.second), film, out, arguments.allow)
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


def _report(arguments: Namespace) -> int:
    from launch.viewers.reporting import write_report

    sys.stdout.write(f"{write_report(_find(arguments), Path(arguments.out) if arguments.out else None)}\n")
    return 0


def _attach(arguments: Namespace) -> int:
    from launch.operating import attach

    return attach(_find(arguments), arguments.plain, arguments.quiet, arguments.json)


def _logs(arguments: Namespace) -> int:
    from launch.operating import logs

    return logs(_find(arguments), arguments.role, arguments.follow, arguments.lines)


def _stop(arguments: Namespace) -> int:
    from launch.operating import stop

    return stop(_find(arguments))


def _scale(arguments: Namespace) -> int:
    from launch.operating import scale

    return scale(_find(arguments), arguments.pairs)


def _list_keys(arguments: Namespace) -> int:
    from launch.viewers.listing import list_runs

    return list_runs(Path(arguments.runs), arguments.json)


def _keys(arguments: Namespace) -> int:
    from launch.operating import keys

    return keys(_find(arguments), arguments.action, arguments.name, arguments.json)


def _status(arguments: Namespace) -> int:
    from launch.viewers.reading import status

    return status(_find(arguments), arguments.json)


def _standings(arguments: Namespace) -> int:
    from launch.viewers.reading import standings

    return standings(_find(arguments), arguments.json)


def _payoff(arguments: Namespace) -> int:
    from launch.viewers.reading import payoff

    return payoff(_find(arguments), arguments.json)


def _matches(arguments: Namespace) -> int:
    from launch.viewers.reading import matches

    return matches(_find(arguments), arguments.player, arguments.limit, arguments.json)


def _explain(arguments: Namespace) -> int:
    from launch.viewers.reading import explain

    return explain(_find(arguments), arguments.player)


def _export(arguments: Namespace) -> int:
    from launch.trackers.exporting import export

    out = Path(arguments.out) if arguments.out else None
    export(_find(arguments), arguments.to, out, say, arguments.allow)
    return 0


def _verify(arguments: Namespace) -> int:
    from launch.verify.verify import verify

    return verify(_find(arguments))


def _watch(arguments: Namespace) -> int:
    from launch.matches.playing import watch

    run, seats = _find(arguments), (arguments.first, arguments.second)
    return watch(run, *seats, arguments.seed, arguments.delay, arguments.allow)


def _duel(arguments: Namespace) -> int:
    from launch.matches.dueling import duel

    if arguments.games < 1:
        raise ValueError(f"--games must be at least 1, got {arguments.games}")
    seats = (arguments.first, arguments.second)
    return duel(_find(arguments), *seats, arguments.games, arguments.seed, arguments.json, arguments.allow)


def _play(arguments: Namespace) -> int:
    from launch.matches.human import play_human

    who = (arguments.player, arguments.name, arguments.role, arguments.games)
    return play_human(_find(arguments), *who, arguments.allow)


def _replay(arguments: Namespace) -> int:
    from launch.matches.playing import replay

    return replay(_find(arguments), arguments.match, arguments.delay, arguments.allow)


def _check_env(arguments: Namespace) -> int:
    from collectors.config import CollectorConfig
    from launch.sandbox.apart import check_apart
    from launch.sandbox.trial import Check
    from launch.terminal.spinner import Spinner

    order = Check(env=arguments.env, options=dict(map(_pair, arguments.pairs)), allow=tuple(arguments.allow))
    seconds = CollectorConfig().hang_seconds if arguments.hang_seconds is None else arguments.hang_seconds
    if not seconds > 0:
        raise ValueError(f"--hang-seconds must be more than 0, got {seconds:g}")
    with Spinner(f"playing {arguments.env} at random") as progress:
        found = check_apart(order, seconds, progress.tell)
    sys.stdout.write("\n".join(found.lines) + "\n")
    return 0 if found.fit else FAILED


def _pair(text: str) -> tuple[str, Any]:
    """Return key and value; a value that is no JSON is text."""
    key, found, value = text.partition("=")
    if not key or not found:
        raise ValueError(f"cannot read {text!r}: write KEY=VALUE, e.g. board_size=9")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


COMMANDS: dict[str, Callable[[Namespace], int]] = {
    "run": _run,
    "resume": _resume,
    "attach": _attach,
    "logs": _logs,
    "stop": _stop,
    "scale": _scale,
    "list": _list_keys,
    "keys": _keys,
    "status": _status,
    "standings": _standings,
    "payoff": _payoff,
    "matches": _matches,
    "explain": _explain,
    "watch": _watch,
    "duel": _duel,
    "play": _play,
    "replay": _replay,
    "record": _record,
    "report": _report,
    "export": _export,
    "verify": _verify,
    "check-env": _check_env,
}
