"""What this user approved before, noted in the user's own state directory, outside of every run.

    note("/venvs/old/bin/python", PROGRAMS)         # `ludus run` was given this program
    is_noted("/venvs/old/bin/python", PROGRAMS)     # so it may run again

`launch.slurm.trust` notes hashes of shell and of keys, and this module programs that play environments (`env.python`).
A config may come from a stranger, so that a program in it runs only if the user's own words named it, now or before.
"""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from collectors.envs.config import EnvConfig

SHELLS, KEYS, PROGRAMS = "approved_shell", "own_keys", "own_programs"  # files of lines


def marks_file(what: str = SHELLS) -> Path:
    """Return where this user's approvals of a kind are noted."""
    state = os.environ.get("XDG_STATE_HOME", "")
    root = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    return root / "ludus" / what


def noted(what: str = SHELLS) -> list[str]:
    """Return all that was noted; a file that others own or may write does not count."""
    try:
        with marks_file(what).open() as file:
            about = os.fstat(file.fileno())
            own = about.st_uid == os.geteuid() and not about.st_mode & 0o022
            return file.read().splitlines() if own else []
    except OSError:
        return []


def is_noted(mark: str, what: str = SHELLS) -> bool:
    """Whether something was noted."""
    return mark in noted(what)


def note(mark: str, what: str = SHELLS) -> None:
    """Note something. If that fails, the user is asked again."""
    if is_noted(mark, what):
        return
    path = marks_file(what)
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "w") as file:
            file.write(f"{mark}\n")


# --- programs that play environments ---


def with_programs(allow: Collection[str]) -> list[str]:
    """Return what a call allows, and the programs that the user gave to a run before."""
    return list(dict.fromkeys([*allow, *noted(PROGRAMS)]))


def with_given(env: EnvConfig, allow: Collection[str]) -> list[str]:
    """Return what a call allows, and the program of a config that the user gave in this very call."""
    return list(dict.fromkeys([*allow, *([env.python] if env.python else [])]))


def remember(env: EnvConfig) -> None:
    """Note the program of a config that the user gave to a run, or trusts."""
    if env.python:
        note(env.python, PROGRAMS)
