"""Whose shell it is: what a config puts into the scripts of jobs comes from the user, never from a run directory alone.

    approve(run, config, given=True)        # ludus run: the user composed this config just now
    approve(run, config)                    # ludus resume: known from before, or the user is asked

`launch.slurm.setup`, `prefix`, `python` and `sbatch` go into scripts as they are. What the user gave once is noted as
a hash in the user's own state directory, outside of every run, so that one's own runs go on without a question. Jobs
that Slurm requeues go on by the scripts that were written then, and ask nobody. In the same way `approve_keys` knows
the keys of one's own runs from those that came with a run directory.
"""

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from launch.config.approvals import KEYS, is_noted, note
from launch.config.config import Config
from launch.config.slurm import JobConfig, SlurmConfig
from launch.slurm.commands import SlurmError
from launch.terminal.clean import clean
from league import limits
from league.store.regular_file import read_regular
from league.store.run_directory import RunDirectory
from league.wire.keys import KeysError, make_keys

SHELL = ("sbatch", "setup", "prefix", "python")

Ask = Callable[[str], bool]


def shell_of(slurm: SlurmConfig) -> dict[str, Any]:
    """Return every field with shell that is not empty, by its key.

    >>> shell_of(SlurmConfig(learner=JobConfig(prefix="nice")))
    {'launch.slurm.learner.prefix': 'nice'}
    """
    roles = [one.name for one in fields(SlurmConfig) if isinstance(getattr(slurm, one.name), JobConfig)]
    parts = {"launch.slurm": slurm, **{f"launch.slurm.{role}": getattr(slurm, role) for role in roles}}
    return {f"{key}.{name}": value for key, part in parts.items() for name in SHELL if (value := getattr(part, name))}


def approve(run: RunDirectory, config: Config, given: bool = False, ask: Ask | None = None) -> None:
    """Return if the user gave this shell, now or before, or approves it when asked; else raise SlurmError."""
    shell = shell_of(config.launch.slurm)
    if not shell:
        return
    mark = hashlib.sha256(json.dumps(shell, sort_keys=True).encode()).hexdigest()
    if is_noted(mark):
        return
    listed = "".join(f"\n  {key}: {json.dumps(value)}" for key, value in shell.items())
    question = f"the config of {run.root} has shell for its jobs that you did not give to any run before:{listed}"
    if not given and not (ask or _ask)(question):
        raise SlurmError(
            f"{question}\nNothing was submitted. If you trust it, add --trust to the command; to give your own, start "
            "it with: ludus run launch=slurm ..."
        )
    note(mark)


def _ask(question: str) -> bool:
    """Ask on the terminal; without one, the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(clean(f"ludus: {question}\nRun it in your name? [y/N] "))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def approve_keys(run: RunDirectory, given: bool = False) -> None:
    """Make the server's keys of a run that has none; refuse keys that came with the run: others may have copies."""
    server = run.keys / "server.json"
    made_here = given or not server.exists()
    make_keys(run.keys)
    mark = hashlib.sha256(read_regular(server, limits.SMALL_FILE)).hexdigest()  # of the secret, too
    if made_here:
        note(mark, KEYS)
    elif not is_noted(mark, KEYS):
        raise KeysError(
            f"the keys in {run.keys} were not made by you on this machine, and whoever made them can enter the league. "
            "Delete that folder, and new ones are made; or, if you trust them, add --trust to the command"
        )
