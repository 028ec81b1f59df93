"""How Ludus starts Python: no module of the current directory is imported in place of one of ours, or of zmq.

    subprocess.Popen(python("launch.processes", "--role", "learner"), env=environment())

`python -m` puts the current directory first on the path. Our processes do without; what the user allows by name
(`--allow my_env`) is found there after everything that is installed.
"""

import os
import sys
from collections.abc import Collection

from launch.shadowing import ROOT

SAFE = "PYTHONSAFEPATH"  # Python's own: torchrun starts its ranks by itself, and they inherit it


def python(module: str, *words: str) -> list[str]:
    """Return the command that runs a module of ours, or of an installed package."""
    return [sys.executable, "-P", "-m", module, *words]


def environment() -> dict[str, str]:
    """Return the environment of a child: an empty entry of PYTHONPATH would be the current directory."""
    variables = {**os.environ, SAFE: "1"}
    if "PYTHONPATH" in variables:
        places = [place for place in variables["PYTHONPATH"].split(os.pathsep) if place]
        variables["PYTHONPATH"] = os.pathsep.join(places)
    return variables


def import_paths() -> list[str]:
    """Return the import path of this process with the current directory last, where it hides nothing."""
    here = ("", ".", os.getcwd())  # noqa: PTH109  (the path of modules is one of texts)
    return [*(place for place in sys.path if place not in here), *(place for place in sys.path if place in here)]


def allow_local_modules(allow: Collection[str]) -> None:
    """Let modules of the current directory be imported if the user allowed any, after all that is installed.

    An editable installation has no place on the path: Python asks it last, so that a `league.py` would hide ours.
    """
    here = str(os.getcwd())  # noqa: PTH109  (the path of modules is one of texts)
    if any(os.sep not in name for name in allow) and here not in sys.path:  # a program (env.python) is no module
        sys.path += [place for place in (str(ROOT), here) if place not in sys.path]


def prepare_child(allow: Collection[str]) -> None:
    """Prepare a process that was started with `environment`; the processes that it starts inherit nothing of that."""
    os.environ.pop(SAFE, None)
    allow_local_modules(allow)
