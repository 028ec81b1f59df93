"""What an agent sees and does in its environment, as data: the spaces of Gymnasium in a form that a file can hold.

These forms are the one description of what agents see. The flat layout that a spec holds for networks
(`spec.observation.structure`) follows from them (`layout_of`), if all agents have the same.

A space is a Box, Discrete, MultiDiscrete, MultiBinary, or a Dict or Tuple of spaces. Bounds matter for actions only:
they say what -1 and 1 stand for.

>>> text_of(DictForm(parts=(("board", BoxForm(shape=(3, 3), dtype="int8")), ("turn", DiscreteForm(n=2)))))
'{board: int8 (3, 3), turn: one of 2}'
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Union

import msgspec

from league.spec import EnvSpec, ObservationPart

MOST_AXES = 32  # of an array, as many as numpy had for long
LARGEST_SPACE = 1 << 24  # values of one observation, or options of one action: a file may claim anything
Bound = float | list[float]  # one for all numbers, or one for each


class _Form(msgspec.Struct, frozen=True, kw_only=True, tag_field="space", forbid_unknown_fields=True):
    """The base of all forms; `space` names the kind."""


class BoxForm(_Form, frozen=True, tag="box"):
    """An array of numbers between bounds, which are lists in the order of the flattened array."""

    shape: tuple[int, ...]
    dtype: str
    low: Bound | None = None  # None: not known
    high: Bound | None = None


class DiscreteForm(_Form, frozen=True, tag="discrete"):
    """One of `n` choices, numbered from `start`."""

    n: int
    start: int = 0


class MultiDiscreteForm(_Form, frozen=True, tag="multi_discrete"):
    """Several choices at once, flat; `shape` is that of the array that holds them."""

    options: list[int]
    start: list[int]
    shape: tuple[int, ...]
    dtype: str = "int64"


class MultiBinaryForm(_Form, frozen=True, tag="multi_binary"):
    """An array of zeros and ones."""

    shape: tuple[int, ...]


class DictForm(_Form, frozen=True, tag="dict"):
    """Named spaces, in the order in which they are flattened."""

    parts: tuple[tuple[str, "SpaceForm"], ...]


class TupleForm(_Form, frozen=True, tag="tuple"):
    """Spaces one after the other."""

    parts: tuple["SpaceForm", ...]


SpaceForm = Union[BoxForm, DiscreteForm, MultiDiscreteForm, MultiBinaryForm, DictForm, TupleForm]  # noqa: UP007  (msgspec)


class AgentSpaces(msgspec.Struct, frozen=True, kw_only=True):
    """The spaces of one agent, the mask among its observations included."""

    observation: SpaceForm
    action: SpaceForm


def plain_spaces(spec: EnvSpec) -> dict[str, AgentSpaces]:
    """Return the spaces of agents that see and do exactly what rows hold, as in the games of Ludus itself."""
    choices = MultiDiscreteForm(options=list(spec.heads), start=[0] * len(spec.heads), shape=(len(spec.heads),))
    numbers = BoxForm(shape=(spec.continuous,), dtype="float32", low=-1.0, high=1.0)
    parts: tuple[SpaceForm, ...] = (*([choices] if spec.heads else []), *([numbers] if spec.continuous else []))
    action = DiscreteForm(n=spec.actions) if spec.single else TupleForm(parts=parts)
    observation = BoxForm(shape=spec.observation.shape, dtype=spec.observation.dtype)
    return dict.fromkeys(spec.agents, AgentSpaces(observation=observation, action=action))


def distinct(spaces: Mapping[str, AgentSpaces]) -> dict[bytes, SpaceForm]:
    """Return the different spaces of some agents, by their encoded form: most agents have the same."""
    return {key_of(form): form for one in spaces.values() for form in (one.observation, one.action)}


def key_of(form: SpaceForm) -> bytes:
    """Return the encoded form of a space: equal for equal spaces."""
    return msgspec.json.encode(form)


def check_sizes(spaces: Mapping[str, AgentSpaces]) -> None:
    """Raise ValueError if the spaces of all agents together are larger than memory should hold: a file may claim that.

    Equal spaces count once, as they are made once.
    """
    total = sum(map(size_of, distinct(spaces).values()))
    if total > LARGEST_SPACE:
        raise ValueError(f"its spaces have {total:,} values together, but at most {LARGEST_SPACE:,} are possible")


def size_of(form: SpaceForm) -> int:
    """Return how many numbers a space has when it is flattened; raise ValueError for sizes that are none, or too large.

    >>> size_of(TupleForm(parts=(DiscreteForm(n=3), BoxForm(shape=(2, 2), dtype="float32"))))
    7
    """
    size = _size(form)
    if size > LARGEST_SPACE:
        raise ValueError(f"a space has {size} values, but at most {LARGEST_SPACE} are possible")
    return size


def _size(form: SpaceForm) -> int:
    if isinstance(form, DictForm):
        return sum(_size(part) for _, part in form.parts)
    if isinstance(form, TupleForm):
        return sum(map(_size, form.parts))
    if isinstance(form, DiscreteForm):
        return _checked([form.n])
    if not isinstance(form, MultiDiscreteForm):
        return _checked(form.shape)
    if not len(form.options) == len(form.start) == _checked(form.shape):
        raise ValueError(f"a space has {len(form.options)} choices, but the shape {form.shape}")
    if min(form.options, default=1) < 1 or sum(form.options) > LARGEST_SPACE:
        raise ValueError(f"a space has {sum(form.options)} options, but at most {LARGEST_SPACE} are possible")
    return sum(form.options)


def _checked(lengths: Sequence[int]) -> int:
    """Return the product of some lengths; raise ValueError if one is no length."""
    if len(lengths) > MOST_AXES or min(lengths, default=1) < 1 or math.prod(lengths) > LARGEST_SPACE:
        raise ValueError(
            f"a space has {len(lengths)} axes {str(lengths)[:80]}; at most {MOST_AXES} axes and {LARGEST_SPACE:,} "
            "numbers are possible"
        )
    return math.prod(lengths)


def layout_of(form: SpaceForm, path: tuple[str | int, ...] = (), begin: int = 0) -> Iterator[ObservationPart]:
    """Yield where each part of a space lies in its flat row: the structure of a spec follows from the space alone.

    >>> pair = TupleForm(parts=(DiscreteForm(n=3), MultiBinaryForm(shape=(2,))))
    >>> [(part.path, part.begin) for part in layout_of(pair)]
    [((0,), 0), ((1,), 3)]
    """
    if isinstance(form, DictForm | TupleForm):
        inside = form.parts if isinstance(form, DictForm) else enumerate(form.parts)
        for key, one in inside:
            for part in layout_of(one, (*path, key), begin):
                yield part
                begin = part.begin + part.size
    elif isinstance(form, DiscreteForm):
        yield ObservationPart(path, begin, (), (form.n,))
    elif isinstance(form, MultiDiscreteForm):
        yield ObservationPart(path, begin, form.shape, tuple(form.options))
    else:
        yield ObservationPart(path, begin, form.shape)


def text_of(form: SpaceForm) -> str:
    """Describe a space in a line."""
    if isinstance(form, DictForm):
        return "{" + ", ".join(f"{name}: {text_of(part)}" for name, part in form.parts) + "}"
    if isinstance(form, TupleForm):
        return "(" + ", ".join(map(text_of, form.parts)) + ")"
    if isinstance(form, DiscreteForm):
        return f"one of {form.n}" + (f" from {form.start}" if form.start else "")
    if isinstance(form, MultiDiscreteForm):
        return f"choices of {form.options}"
    return f"{form.dtype} {form.shape}" if isinstance(form, BoxForm) else f"bits {form.shape}"
