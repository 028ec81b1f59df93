"""Spaces, whether of gym or of gymnasium: their classes are known by name, and they become data."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator

import numpy as np

from .errors import UnfitSpaceError

NAMES = {
    "Box": "box",
    "Discrete": "discrete",
    "MultiDiscrete": "multi_discrete",
    "MultiBinary": "multi_binary",
    "Dict": "dict",
    "Tuple": "tuple",
}
FAR = 3e38  # stands for no bound: JSON has no infinity

Plain = Dict[str, Any]
Write = Callable[[Any, Any], None]  # from what an environment gives into a row


def kind_of(space: Any) -> str:
    """Return the kind of a space; an empty text if it has no fixed size."""
    return next((NAMES[kind.__name__] for kind in type(space).__mro__ if kind.__name__ in NAMES), "")


def parts_of(space: Any) -> list[tuple[Any, Any]]:
    """Return the keys and spaces inside of a Dict or Tuple, in their order."""
    return list(space.spaces.items()) if kind_of(space) == "dict" else list(enumerate(space.spaces))


def leaves(space: Any) -> Iterator[Any]:
    """Yield the plain spaces inside of a space, depth first."""
    if kind_of(space) in ("dict", "tuple"):
        for _, part in parts_of(space):
            yield from leaves(part)
    else:
        yield space


def counts(leaf: Any) -> list[int]:
    """Return the options of each choice of a plain space."""
    kind = kind_of(leaf)
    if kind == "discrete":
        return [int(leaf.n)]
    if kind == "multi_discrete":
        return [int(count) for count in np.asarray(leaf.nvec).reshape(-1)]
    return [2] * size(leaf.shape) if kind == "multi_binary" else []


def size(shape: Any) -> int:
    """Return how many numbers an array has."""
    return int(np.prod(shape or (), dtype=np.int64))


def starts(leaf: Any) -> Any:
    """Return the first option of a choice, or of each; old versions begin with 0."""
    return np.asarray(getattr(leaf, "start", 0))


def form_of(space: Any) -> Plain:
    """Return a space as data, as `league.agent_spaces` has it."""
    kind = kind_of(space)
    if kind == "dict":
        return {"space": kind, "parts": [[str(key), form_of(part)] for key, part in parts_of(space)]}
    if kind == "tuple":
        return {"space": kind, "parts": [form_of(part) for _, part in parts_of(space)]}
    if kind == "discrete":
        return {"space": kind, "n": int(space.n), "start": int(starts(space))}
    if not kind:
        raise UnfitSpaceError(space)
    form = {"space": kind, "shape": [int(length) for length in space.shape]}
    if kind == "multi_discrete":
        first = np.broadcast_to(starts(space), space.shape).reshape(-1).tolist()
        return dict(form, options=counts(space), start=first, dtype=str(space.dtype))
    if kind == "box":
        form.update(dtype=str(space.dtype), low=bound(space.low, -FAR), high=bound(space.high, FAR))
    return form


def forms_of(agent: Any, seen: Any, acts: Any) -> Plain:
    """Return the spaces of an agent as data."""
    forms = {}
    for kind, space, lacks in (("observation", seen, "size"), ("action", acts, "number of parts")):
        try:
            forms[kind] = form_of(space)
        except UnfitSpaceError as unfit:
            raise ValueError(
                f"agent {agent!r} has the {kind} space {unfit}, which has no fixed {lacks}. Wrap the environment so "
                "that it offers Discrete, MultiDiscrete, MultiBinary, Box, Tuple or Dict (env.wrappers)"
            )
    return forms


def bound(values: Any, far: float) -> Any:
    """Return one bound for all numbers if they have the same, else a list."""
    given = np.asarray(values)
    finite = np.where(np.isfinite(given), given, far).astype(np.float64).reshape(-1)
    return float(finite[0]) if len(finite) and (finite == finite[0]).all() else finite.tolist()
