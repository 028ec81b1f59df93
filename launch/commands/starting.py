"""The commands that start a league: run, resume."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from launch.commands.command import CliCommand, add_allow, add_display, find_run, optional_path, print_note

if TYPE_CHECKING:
    from launch.config.config import Config
    from league.store.run_directory import RunDirectory


def _add_run(parser: ArgumentParser) -> None:
    help = "a group (env=tic_tac_toe) or key (algo.lr=0.001) of the config; + adds a key, ~ removes one"
    parser.add_argument("pairs", metavar="OVERRIDE", nargs="*", default=[], help=help)
    parser.add_argument("-m", "--multirun", action="store_true", help="sweep: a league for each of seed=1,2,3")
    parser.add_argument("--accept-changes", action="store_true", help="go on with a run under another config")
    parser.add_argument("--config-dir", metavar="DIR", help="add options to groups: DIR/experiment/mine.yaml")
    parser.add_argument("--cfg", action="store_true", help="print the config and where each value comes from, and end")
    parser.add_argument("--dry-run", action="store_true", help="try the environment, print what would start, and end")
    add_allow(parser)
    add_display(parser, quiet="print errors only")


def _run(arguments: Namespace) -> int:
    from launch.config.approvals import remember, with_given
    from launch.config.compose import compose
    from launch.start import begin
    from launch.terminal.spinner import hushed

    if arguments.multirun:
        return _sweep(arguments)
    if arguments.cfg:
        return _show_config(arguments)
    config = compose(arguments.pairs, arguments.allow, optional_path(arguments.config_dir))
    if arguments.dry_run:
        return _preview([config], arguments)
    arguments.allow = with_given(config.env, arguments.allow)
    notify = (lambda line: None) if arguments.quiet else print_note
    started = begin(config, allow=arguments.allow, accept=arguments.accept_changes, notify=notify)
    with hushed(arguments.quiet), started as run:
        remember(config.env)
        return _launch(run, arguments, given=True)


def _show_config(arguments: Namespace) -> int:
    from launch.config.compose import compose_layers
    from launch.config.origins import as_columns, as_json, settings

    config, layers = compose_layers(arguments.pairs, arguments.allow, optional_path(arguments.config_dir))
    found = list(settings(config, layers))
    sys.stdout.write(as_json(config, found) if arguments.json else as_columns(found))
    return 0


def _preview(configs: "Sequence[Config]", arguments: Namespace) -> int:
    from launch.config.approvals import with_given
    from launch.previewing import as_lines, preview

    allow, accept = arguments.allow, arguments.accept_changes
    found = [preview(config, allow=with_given(config.env, allow), accept=accept) for config in configs]
    if arguments.json:
        sys.stdout.write("".join(f"{json.dumps(asdict(one))}\n" for one in found))
    else:
        sys.stdout.write("\n\n".join(map(as_lines, found)) + "\nnothing was started, and nothing was written\n")
    return 0


def _sweep(arguments: Namespace) -> int:
    from launch.config.config import ConfigError
    from launch.sweeps.studying import is_study, study
    from launch.sweeps.sweeping import rehearsed, sweep

    if arguments.cfg:
        raise ConfigError("--cfg shows the config of one league: leave out -m, and choose one value of each key")
    config_dir = optional_path(arguments.config_dir)
    if arguments.dry_run:
        return _preview(rehearsed(arguments.pairs, arguments.allow, config_dir), arguments)
    flags = ("plain", "quiet", "json", "accept_changes")
    options = [f"--{flag.replace('_', '-')}" for flag in flags if getattr(arguments, flag)]
    begin = study if is_study(arguments.pairs) else sweep
    return begin(arguments.pairs, options, arguments.allow, config_dir)


def _add_resume(parser: ArgumentParser) -> None:
    help = "go on though the run brings shell for Slurm jobs, a program (env.python), keys, or links not put by you"
    parser.add_argument("--trust", action="store_true", help=help)
    add_allow(parser)
    add_display(parser, quiet="print errors only")


def _resume(arguments: Namespace) -> int:
    from launch.config.approvals import remember, with_given
    from launch.config.config import stored
    from launch.start import held

    run = find_run(arguments)
    if not arguments.trust:
        run.refuse_links()
    else:
        remember(env := stored(run).env)
        arguments.allow = with_given(env, arguments.allow)
    with held(run, slurm=stored(run).launch.name == "slurm"):
        return _launch(run, arguments, given=arguments.trust)


def _launch(run: "RunDirectory", arguments: Namespace, given: bool) -> int:
    from launch.probes.after_league import conclude
    from launch.start import launch

    show = {"quiet": arguments.quiet, "as_json": arguments.json, "allow": arguments.allow}
    return conclude(run, launch(run, plain=arguments.plain, given=given, **show), **show)


STARTING = (
    CliCommand(
        name="run",
        help="start a league, or go on with it if its run exists",
        example="ludus run env=tic_tac_toe league=pfsp name=first algo.lr=0.001",
        handle=_run,
        add_arguments=_add_run,
        takes_run=False,
    ),
    CliCommand(
        name="resume",
        help="go on with a run as it was configured",
        example="ludus resume latest",
        handle=_resume,
        add_arguments=_add_resume,
    ),
)
