"""One process of a league: `python -m launch.processes --run RUN --role collector --index 3`.

It reads the resolved config from the run directory, and runs its role until a signal or the end of the league stops
it. It ends when its parent does: the parent holds the other end of its standard input. With `--lone` there is no
parent, but a batch system: the coordinator ends by itself when the league is over. On TERM and USR1 a process writes
its checkpoint and ends.
"""

import argparse
import faulthandler
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from launch.config.config import from_plain
from launch.processes.context import ProcessContext, StopFlag, die_with_parent
from launch.spawn.interpreter import prepare_child
from launch.topology.roles import ROLES, ProcessRole
from league.plugins import load
from league.store.run_directory import RunDirectory
from league.wire.keys import KeysError

log = logging.getLogger("ludus.process")

Runner = Callable[[ProcessContext], int]


def load_runner(name: str) -> Runner:
    """Import the function that runs a role, by the name `module:function` of the table of roles."""
    runner: Runner = load(name)
    return runner


def main(argv: Sequence[str] | None = None) -> None:
    """Run one role and exit with its code; a key that is missing or revoked ends it with one line in its log."""
    try:
        sys.exit(run_role(argv))
    except KeysError as error:
        log.error("%s", error)
        sys.exit(1)


def run_role(argv: Sequence[str] | None = None) -> int:
    """Run one role and return its exit code."""
    arguments = _parser().parse_args(argv)
    prepare_child(arguments.allow)
    own = own_log()
    faulthandler.enable(own)
    logging.basicConfig(level=logging.INFO, stream=own, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stop = StopFlag()
    if not arguments.lone:
        die_with_parent()
    run = RunDirectory(arguments.run).check()
    context = ProcessContext(
        config=from_plain(run.read_config()),
        run=run,
        index=arguments.index,
        stop=stop,
        allow=arguments.allow,
        lone=arguments.lone,
        log=own,
    )
    traits = ROLES[arguments.role]
    os.nice(traits.niceness)  # before libzmq starts its threads
    return load_runner(traits.runner)(context)


def own_log() -> TextIO:
    """Return the log of this process, on a descriptor of its own: what environments print is led elsewhere."""
    return os.fdopen(os.dup(sys.stderr.fileno()), "w", buffering=1, errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m launch.processes", description=__doc__)
    parser.add_argument("--run", required=True, type=Path)
    parser.add_argument("--role", required=True, type=ProcessRole, choices=list(ProcessRole))
    parser.add_argument("--index", type=int, default=0)
    parser.add_argument("--lone", action="store_true", help="no parent supervises this process")
    parser.add_argument("--allow", action="append", default=[])
    return parser
