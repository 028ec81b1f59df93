"""Spaces of Gymnasium as data (`league.agent_spaces`), and back.

>>> space_of(form_of(spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Box(0, 1, (2,))})))
Dict('a': Discrete(3), 'b': Box(0.0, 1.0, (2,), float32))
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from league.agent_spaces import (
    AgentSpaces,
    Bound,
    BoxForm,
    DictForm,
    DiscreteForm,
    MultiBinaryForm,
    MultiDiscreteForm,
    SpaceForm,
    TupleForm,
    size_of,
)

FAR = 3e38  # stands for no bound: JSON has no infinity
DTYPES = frozenset(
    {"bool", "float16", "float32", "float64", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64))}
)

Space = spaces.Space[Any]


def agent_spaces(observation: Space, action: Space) -> AgentSpaces:
    """Return the spaces of one agent as data; both have been read by this adapter before, so each has a form."""
    return AgentSpaces(observation=form_of(observation), action=form_of(action))


def checked(name: str, agent: str, forms: AgentSpaces) -> AgentSpaces:
    """Return the spaces of an agent; raise ValueError with a remedy if one is larger than memory should hold."""
    for form in (forms.observation, forms.action):
        try:
            size_of(form)
        except ValueError as error:
            raise ValueError(
                f"{name}: agent {agent!r}: {error}. Wrap the environment so that it offers a smaller one (env.wrappers)"
            ) from error
    return forms


def form_of(space: Space) -> SpaceForm:
    """Return a space as data."""
    if isinstance(space, spaces.Dict):
        return DictForm(parts=tuple((str(key), form_of(part)) for key, part in space.spaces.items()))
    if isinstance(space, spaces.Tuple):
        return TupleForm(parts=tuple(map(form_of, space.spaces)))
    if isinstance(space, spaces.Discrete):
        return DiscreteForm(n=int(space.n), start=int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        options, start = space.nvec.ravel().tolist(), space.start.ravel().tolist()
        return MultiDiscreteForm(options=options, start=start, shape=tuple(space.shape), dtype=str(space.dtype))
    if isinstance(space, spaces.MultiBinary):
        return MultiBinaryForm(shape=tuple(space.shape))
    assert isinstance(space, spaces.Box)  # the adapter refuses all others
    return BoxForm(
        shape=tuple(space.shape), dtype=str(space.dtype), low=_bound(space.low, -FAR), high=_bound(space.high, FAR)
    )


def _bound(values: npt.NDArray[Any], far: float) -> Bound:
    """Return one bound for all numbers if they have the same, else a list."""
    finite = np.where(np.isfinite(values), values, far).astype(np.float64).ravel()
    return float(finite[0]) if len(finite) and (finite == finite[0]).all() else finite.tolist()


def space_of(form: SpaceForm) -> Space:
    """Return the space that data describe; the caller has checked its sizes. Raise ValueError for unknown dtypes."""
    if isinstance(form, DictForm):
        return spaces.Dict(OrderedDict((key, space_of(part)) for key, part in form.parts))
    if isinstance(form, TupleForm):
        return spaces.Tuple(tuple(map(space_of, form.parts)))
    if isinstance(form, DiscreteForm):
        return spaces.Discrete(form.n, start=form.start)
    if isinstance(form, MultiBinaryForm):
        return spaces.MultiBinary(form.shape)
    dtype = _dtype(form.dtype)
    if isinstance(form, MultiDiscreteForm):
        options, start = np.array(form.options).reshape(form.shape), np.array(form.start).reshape(form.shape)
        return spaces.MultiDiscrete(options, dtype=dtype, start=start)
    low, high = (_bounds(given, far, form.shape, dtype) for given, far in ((form.low, -FAR), (form.high, FAR)))
    return spaces.Box(low, high, form.shape, dtype)


def _dtype(name: str) -> Any:
    if name not in DTYPES:
        raise ValueError(f"{name[:40]!r} is no dtype of numbers")
    return np.dtype(name).type


def _bounds(given: Bound | None, far: float, shape: Sequence[int], dtype: Any) -> npt.NDArray[Any]:
    """Return bounds as an array of the dtype, in which integers cannot be far away."""
    least, most = (0, 1) if dtype is np.bool_ else _range(dtype)
    value = np.array(far if given is None else given, np.float64)
    spread = np.broadcast_to(value if value.ndim == 0 else value.reshape(shape), shape)
    if np.dtype(dtype).kind == "f":
        return np.where(np.abs(spread) >= FAR, np.copysign(np.inf, spread), spread).astype(dtype)
    below, above = spread <= least, spread >= most
    inside = np.where(below | above, 0, spread).astype(dtype)
    found: npt.NDArray[Any] = np.where(below, dtype(least), np.where(above, dtype(most), inside))
    return found


def _range(dtype: Any) -> tuple[float, float]:
    limits: Any = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    return limits.min, limits.max
