"""What another Python is asked to play: which program, which environment, and whether this call allows both.

    allow_program("/venvs/old/bin/python", allow)
    order = FarOrder("/venvs/old/bin/python", "classic/rps_v2", opening_of("classic/rps_v2", {}, [], allow))

A config may come from a stranger. So the program must be among what the user allows in this call, and so must the
package of the environment, unless it is one that configs may name (`collectors.envs.known`): that is decided here,
before anything is started, and the far side checks what it finds under a known name.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collectors.envs.adapters.compat import RENAMED
from collectors.envs.adapters.wrapping import read_wrapper
from collectors.envs.known import WRAPPERS, is_known, plain
from league.plugins import PluginError, package_of

ID = re.compile(r"(?P<family>[a-z]\w*)/(?P<name>\w+)", re.ASCII)
PYTHON_SECONDS = 30.0  # that a tick of all slots may take; a collector gives up after 60
MAKERS = ["parallel_env", "env"]  # of a module of PettingZoo; Parallel is preferred


@dataclass(frozen=True, slots=True)
class FarOrder:
    """Which environment another Python plays, and how long a tick of it may take."""

    python: str
    id: str
    opening: Mapping[str, Any]  # what the far side needs to build it
    seconds: float = PYTHON_SECONDS
    state: bool = False
    fresh: bool | None = None
    max_steps: int = 0  # after which an episode is truncated; 0: the environment ends it
    seating: Mapping[str, Any] = field(default_factory=dict)  # seats, roles, sides


def absolute(python: str) -> str:
    """Return the one name of a program; it is not resolved, because the python of a virtual environment is a link."""
    return os.path.abspath(os.path.expanduser(python))  # noqa: PTH100, PTH111  (a Path would resolve nothing, either)


def is_program(allowed: str) -> bool:
    """Whether an entry of `--allow` names a program, and not a package.

    >>> is_program("/venvs/old/bin/python"), is_program("my_games")
    (True, False)
    """
    return os.sep in allowed


def allow_program(python: str, allow: Collection[str]) -> None:
    """Raise PluginError unless this call allows this program."""
    if python not in allow:
        raise PluginError(
            f"env.python={python} names a program, which nobody but you may choose, and you gave it to no run before. "
            f"If you trust it, add --allow {python} to the command"
        )


@dataclass(frozen=True, slots=True)
class FarForm:
    """What a config asks to convert, and positional arguments."""

    args: Sequence[Any] = ()
    cast: bool = False
    weights: Sequence[float] = ()
    compat: bool = False


def opening_of(
    id: str,
    kwargs: Mapping[str, Any],
    wrappers: Sequence[Any],
    allow: Collection[str] = (),
    form: FarForm = FarForm(),  # noqa: B008  (it is frozen)
) -> dict[str, Any]:
    """Return what the far side needs to build an environment; raise PluginError if this call does not allow it.

    >>> opening_of("classic/rps_v2", {}, [])["module"]
    'pettingzoo.classic.rps_v2'
    """
    module, names = _module(id)
    package = module.partition(".")[0]
    known = package not in allow
    if known and not is_known(f"{module}:{names[0]}"):
        raise PluginError(
            f"{id!r}: the package {package!r} is not allowed. If you trust it, add --allow {package} to the command"
        )
    plain(package, "env.kwargs", kwargs, allow)
    return {
        "module": module,
        "names": names,
        "known": known,
        "args": list(form.args),
        "kwargs": dict(kwargs),
        "cast": form.cast,
        "weights": list(form.weights),
        "compat": RENAMED if form.compat else {},
        "wrappers": [_wrapper(one, allow) for one in wrappers],
        "paths": [] if all(map(is_program, allow)) else [os.getcwd()],  # noqa: PTH109  (the path of modules is of texts)
    }


def _module(id: str) -> tuple[str, list[str]]:
    """Return the module of an environment, and what it may be called there."""
    if ":" in id:
        package_of(id)
        module, _, name = id.partition(":")
        return module, [name]
    found = ID.fullmatch(id)
    if found is None:
        raise PluginError(f"cannot read env.id={id!r}; write classic/connect_four_v3, or package.module:name")
    family, name = found["family"], found["name"]
    return (f"mpe2.{name}" if family == "mpe2" else f"pettingzoo.{family}.{name}"), MAKERS


def _wrapper(given: Any, allow: Collection[str]) -> tuple[str, str, dict[str, Any], bool]:
    """Return the module, the name and the arguments of a wrapper, and whether it is one that configs may name."""
    text, kwargs = read_wrapper(given)
    package = package_of(text)
    module, _, name = text.partition(":")
    known = package not in allow
    if known and name not in WRAPPERS.get(module, ()):
        raise PluginError(
            f"env.wrappers: the package {package!r} of {text!r} is not allowed. If you trust it, add --allow {package} "
            "to the command"
        )
    plain(package, f"env.wrappers: {text}", kwargs, allow)
    return module, name, dict(kwargs), known
