"""When an environment cannot be imported because of versions, and a Python of its own would help.

>>> version_hint(AttributeError("module 'numpy' has no attribute 'bool8'"))[:46]
'It was written for other versions (numpy < 2).'

`ludus check-env` proposes it as a remedy. Where a virtual environment nearby has the missing module, it is named.
"""

import os
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from league.errors import message_of

PAGE = "docs/your-environment.md#another-python"
MISSING = re.compile(r"No module named '([\w.]+)'")
OLD_NUMPY = re.compile(
    r"module 'numpy' has no attribute|removed in the NumPy 2\.0|compiled using NumPy 1\.x|numpy\.dtype size changed"
    r"|numpy\.core\.multiarray failed to import|_ARRAY_API not found|module 'numpy\.\w+' has no attribute",
    re.IGNORECASE,
)
OLD_ZOO = re.compile(
    r"cannot import name '\w+' from '(?:pettingzoo|gymnasium|gym|supersuit)[.\w]*'|'module' object is not callable"
    r"|module '(?:pettingzoo|gymnasium|gym)[.\w]*' has no attribute|DeprecatedEnv|is now deprecated, use"
    r"|No module named '(?:pettingzoo\.\w|gym\b|gym\.)"
)
OLD_PYTHON = re.compile(
    r"invalid syntax|Missing parentheses in call to 'print'|No module named '(?:imp|distutils|asyncore)"
)


def version_hint(error: Exception, near: Iterable[Path] | None = None) -> str:
    """Return how another Python would help with an error, or nothing; `near` are folders with virtual environments."""
    text = " ".join(map(message_of, _chain(error)))
    missing = MISSING.search(text)
    if missing and (found := venvs_with(missing[1], venv_folders() if near is None else near)):
        return f"{found[0]} has {missing[1].partition('.')[0]}: add env.python={found[0]} ({PAGE})"
    kinds = {"numpy < 2": OLD_NUMPY, "an older PettingZoo or Gymnasium": OLD_ZOO, "an older Python": OLD_PYTHON}
    needed = [what for what, pattern in kinds.items() if pattern.search(text)]
    if needed:
        return (
            f"It was written for other versions ({', '.join(needed)}). Install it in a virtual environment of its own, "
            f"with the versions that it wants, and add env.python=OTHER_VENV/bin/python ({PAGE})"
        )
    if missing:
        return (
            f"Install {missing[1].partition('.')[0]} here; or, if it needs other versions than Ludus, in a virtual "
            f"environment of its own, and add env.python=OTHER_VENV/bin/python ({PAGE})"
        )
    return ""


def _chain(error: BaseException | None) -> Iterable[BaseException]:
    """Yield an error and those that it came from."""
    while error is not None:
        yield error
        error = error.__cause__


def venv_folders() -> list[Path]:
    """Return the folders in which virtual environments usually lie."""
    homes = (os.environ.get("WORKON_HOME"), os.environ.get("CONDA_PREFIX"))
    named = [Path(home) for home in homes if home]
    return [Path.cwd(), *named, Path.home() / ".virtualenvs"]


def venvs_with(module: str, folders: Iterable[Path]) -> list[str]:
    """Return the pythons of virtual environments in some folders that have a module; only file names are looked at."""
    package = module.partition(".")[0]
    venvs = chain.from_iterable(sorted(folder.glob("*/pyvenv.cfg")) for folder in folders if folder.is_dir())
    found = []
    for place in (config.parent for config in venvs):
        sites = list(place.glob("lib/python3*/site-packages"))
        has = any((site / package).is_dir() or (site / f"{package}.py").is_file() for site in sites)
        if has and (place / "bin" / "python").exists():
            found.append(str(place / "bin" / "python"))
    return found
