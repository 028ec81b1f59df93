"""From an order to an environment, and what the near side must know of it."""

from __future__ import annotations

import importlib
import sys
from types import FunctionType, ModuleType
from typing import Any, Callable

from .converting import converted
from .games import is_parallel
from .older_names import use_older_names
from .slots import plain
from .spaces import Plain, form_of, forms_of, kind_of


def load(module: str, names: list[str], known: bool) -> Any:
    """Import the first of some names of a module; `known` ones must be environments of their own package."""
    home = importlib.import_module(module)
    found = next((getattr(home, name) for name in names if hasattr(home, name)), None)
    if found is None:
        raise AttributeError(f"{module} has no {' and no '.join(names)}")
    if isinstance(found, ModuleType) and not known:
        makers = [getattr(found, name) for name in ("parallel_env", "env", "raw_env") if hasattr(found, name)]
        if not makers:
            raise ValueError(f"{module}:{names[0]} is a module without a function parallel_env, env or raw_env")
        found = makers[0]
    place = str(getattr(found, "__module__", "") or type(found).__module__)
    allowed = (module.partition(".")[0] + ".", "pettingzoo.")
    if known and not (isinstance(found, (type, FunctionType)) and place.startswith(allowed)):
        raise ValueError(f"{module}:{names[0]} is not defined in its package, but in {place}")
    return found


def builder(order: Plain) -> Callable[[], Any]:
    """Return the function that builds the environment of an order, in its wrappers."""
    sys.path.extend(path for path in order["paths"] if path not in sys.path)
    if order["compat"]:
        use_older_names(order["compat"])
    make = load(order["module"], order["names"], order["known"])
    wrappers = [(load(module, [name], known), options) for module, name, options, known in order["wrappers"]]

    def build() -> Any:
        env = make(*order["args"], **order["kwargs"])
        for wrap, options in wrappers:
            env = wrap(env, **options)
        return converted(env, order["cast"], order["weights"])

    return build


def describe(env: Any) -> Plain:
    """Return all that the near side needs to know of an environment."""
    kinds = [kind.__name__ for kind in type(env).__mro__]
    if "AECEnv" not in kinds and "ParallelEnv" not in kinds:
        raise ValueError(f"expected a PettingZoo environment (AEC or Parallel), got a {type(env).__name__}")
    metadata = getattr(env, "metadata", None) or {}
    agents = list(getattr(env, "possible_agents", ()))
    spaces = [(env.observation_space(agent), env.action_space(agent)) for agent in agents]
    try:
        state = env.state_space
    except (AttributeError, NotImplementedError):
        state = None
    modules = {name: getattr(sys.modules.get(name), "__version__", "") for name in ("numpy", "pettingzoo")}
    return {
        "agents": plain(agents),
        "name": str(metadata.get("name") or ""),
        "turn_based": not metadata.get("is_parallelizable", is_parallel(env)),
        "render_modes": [str(mode) for mode in metadata.get("render_modes") or ()],
        "spaces": [forms_of(agent, *pair) for agent, pair in zip(agents, spaces)],
        "texts": [[str(seen), str(acts)] for seen, acts in spaces],
        "state": form_of(state) if kind_of(state) == "box" else None,
        "versions": dict(modules, python=".".join(map(str, sys.version_info[:3]))),
    }
