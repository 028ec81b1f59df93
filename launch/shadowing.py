"""Find a module of the user that hides one of Ludus's packages, before an import fails somewhere deep inside.

    check_packages()        # ShadowedError: your league.py hides Ludus's package league: rename it, or run ...

Python imports first from the folder of a script, from the current folder (`python -m`, notebooks) and from PYTHONPATH.
A `league.py` there is found instead of the package `league`. Only the standard library is imported here.
"""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # all packages of Ludus are side by side in it
PACKAGES = ("launch", "coordinator", "collectors", "learners", "league")


class ShadowedError(ImportError):
    """A package of Ludus that cannot be imported, as another module has its name."""


def check_packages() -> None:
    """Raise ShadowedError if one of Ludus's packages is not the one beside this file. Imports none of them."""
    for name in PACKAGES:
        found = place_of(name)
        if found is not None and found.resolve() != ROOT / name / "__init__.py":
            raise ShadowedError(complaint(name, found))


def place_of(name: str) -> Path | None:
    """Return the file that `import name` loads, or the folder if it has no __init__.py; None if there is neither."""
    try:
        spec = find_spec(name)
    except ValueError:  # a module that was made by hand, e.g. in a notebook
        return Path(str(getattr(sys.modules[name], "__file__", name)))
    return None if spec is None else _place(spec)


def _place(spec: ModuleSpec) -> Path:
    folders = list(spec.submodule_search_locations or [])
    return Path(folders[0] if folders and spec.origin is None else str(spec.origin))


def complaint(name: str, found: Path) -> str:
    """Return the message on a module that hides a package.

    >>> complaint("league", Path("/elsewhere/league/__init__.py"))
    "your /elsewhere/league/ hides Ludus's package league: rename it, or run from another folder"
    """
    place = found.parent if found.name == "__init__.py" else found
    shown = place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place
    return (
        f"your {shown}{'' if place.suffix else '/'} hides Ludus's package {name}: rename it, or run from another folder"
    )
