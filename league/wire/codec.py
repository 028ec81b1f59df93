"""Encodes messages as frames and decodes them: a version, a head, raw array buffers. Nothing in a frame is executed.

    [version, head]                                      a message without arrays
    [version, head, array heads, buffer, buffer, ...]    a message with arrays

The version is VERSION_FRAME; head and array heads are msgpack of a closed set of structs; a buffer is the raw memory
of an array.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from math import isfinite, prod
from operator import attrgetter
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from league.wire.messages import WIRE_VERSION, Message
from league.wire.ports import Arrays

Frame = bytes | memoryview

VERSION_FRAME = b"ludus/%d" % WIRE_VERSION
MAX_ARRAYS = 64
MAX_FRAMES = 3 + MAX_ARRAYS

# Little-endian everywhere: arrays of another byte order are refused, not misread.
_SIGNED, _UNSIGNED, _FLOAT = ("|i1", "<i2", "<i4", "<i8"), ("|u1", "<u2", "<u4", "<u8"), ("<f2", "<f4", "<f8")
DTYPES = {code: np.dtype(code) for code in ("|b1", *_SIGNED, *_UNSIGNED, *_FLOAT)}


class WireError(ValueError):
    """A message that cannot be sent, or frames that are not a message."""


class WrongVersionError(WireError):
    """The frames come from a Ludus with another wire version."""


class _ArrayHead(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=64)]
    dtype: Annotated[str, Meta(max_length=3)]
    shape: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(max_length=8)]


_encode_head = msgspec.msgpack.Encoder().encode
_decode_head: Callable[[Frame], Message] = msgspec.msgpack.Decoder(Message).decode
_decode_array_heads: Callable[[Frame], list[_ArrayHead]] = msgspec.msgpack.Decoder(list[_ArrayHead]).decode


# --- finite floats: the sender refuses what the receiver's limits would refuse -----------------------------------

Check = Callable[[Any], bool]


def _check_for(kind: msgspec.inspect.Type) -> Check | None:
    """Return a function that checks whether all floats in a value are finite; None if its type contains no float."""
    match kind:
        case msgspec.inspect.FloatType():
            return isfinite
        case msgspec.inspect.VarTupleType(item_type=inner):
            return _for_each(_check_for(inner), iter)
        case msgspec.inspect.DictType(value_type=inner):
            return _for_each(_check_for(inner), dict.values)
        case msgspec.inspect.UnionType(types=types):
            return _for_optional([check for check in map(_check_for, types) if check is not None])
        case msgspec.inspect.StructType():
            return _for_fields(_field_checks(kind))
    return None


def _for_each(check: Check | None, items: Callable[[Any], Iterable[Any]]) -> Check | None:
    if check is None:
        return None
    if check is isfinite:  # check the sum, and each item only if the sum overflows
        return lambda value: isfinite(sum(items(value))) or all(map(isfinite, items(value)))
    return lambda value: all(map(check, items(value)))


def _for_fields(parts: Sequence[tuple[str, Check, Check]]) -> Check | None:
    if not parts:
        return None
    if len(parts) > 1:
        return lambda value: all(check(get(value)) for _, get, check in parts)
    ((_, get, check),) = parts  # the most frequent case: without a generator it takes half the time
    return lambda value: check(get(value))


def _for_optional(checks: list[Check]) -> Check | None:
    if not checks:
        return None
    (check,) = checks  # the only unions in messages are "this or None"
    return lambda value: value is None or check(value)


def _field_checks(kind: msgspec.inspect.StructType) -> tuple[tuple[str, Check, Check], ...]:
    found = ((field.name, attrgetter(field.name), _check_for(field.type)) for field in kind.fields)
    return tuple((name, get, check) for name, get, check in found if check is not None)


def _checks_by_kind() -> dict[type, tuple[tuple[str, Check, Check], ...]]:
    union = msgspec.inspect.type_info(Message)
    assert isinstance(union, msgspec.inspect.UnionType)
    kinds = (kind for kind in union.types if isinstance(kind, msgspec.inspect.StructType))
    return {kind.cls: _field_checks(kind) for kind in kinds}


_CHECKS = _checks_by_kind()


def _refuse_non_finite(message: Message) -> None:
    for name, get, check in _CHECKS[type(message)]:
        if not check(get(message)):
            kind = type(message).__name__
            raise WireError(f"{kind}.{name} holds NaN or infinity; its sender must leave such numbers out")


# --- arrays -------------------------------------------------------------------------------------------------


def _refuse_bad_values(name: str, array: npt.NDArray[Any]) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise WireError(f"array {name!r} holds NaN or infinity; its sender must not send it")
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise WireError(f"array {name!r} is boolean but holds bytes other than 0 and 1")


def _encode_arrays(arrays: Arrays) -> list[Frame]:
    if len(arrays) > MAX_ARRAYS:
        raise WireError(f"{len(arrays)} arrays in a message; at most {MAX_ARRAYS} are allowed")
    heads: list[_ArrayHead] = []
    frames: list[Frame] = []
    for name, given in arrays.items():
        array = np.asarray(given, order="C")
        if array.dtype.str not in DTYPES:
            raise WireError(f"array {name!r} has dtype {array.dtype}; allowed are {', '.join(DTYPES)}")
        if not 1 <= len(name) <= 64 or array.ndim > 8:
            raise WireError(f"array {name[:70]!r}: names have 1 to 64 characters, arrays at most 8 dimensions")
        _refuse_bad_values(name, array)
        heads.append(_ArrayHead(name, array.dtype.str, array.shape))
        frames.append(array.reshape(-1).view(np.uint8).data)
    return [_encode_head(heads), *frames]


def _decode_arrays(frames: Sequence[Frame]) -> dict[str, npt.NDArray[Any]]:
    heads = _decode_array_heads(frames[0])
    if len(heads) != len(frames) - 1:
        raise WireError(f"{len(heads)} array heads but {len(frames) - 1} buffers")
    arrays: dict[str, npt.NDArray[Any]] = {}
    for head, frame in zip(heads, frames[1:], strict=True):
        dtype = DTYPES.get(head.dtype)
        if dtype is None:
            raise WireError(f"array {head.name!r} has dtype {head.dtype!r}; allowed are {', '.join(DTYPES)}")
        if prod(head.shape) * dtype.itemsize != len(frame):
            raise WireError(f"array {head.name!r}: {head.dtype} {head.shape} does not fit {len(frame)} bytes")
        if head.name in arrays:
            raise WireError(f"array {head.name!r} comes twice")
        array: npt.NDArray[Any] = np.ndarray(head.shape, dtype, frame)
        array.flags.writeable = False
        _refuse_bad_values(head.name, array)
        arrays[head.name] = array
    return arrays


# --- messages -----------------------------------------------------------------------------------------------


def encode(message: Message, arrays: Arrays | None = None) -> list[Frame]:
    """Return the frames of a message; array frames are views of the arrays, not copies.

    Raise WireError if a number is NaN or infinite, or if an array is not allowed.

    >>> from league.wire.messages import Pull
    >>> decode(encode(Pull(name="c", session="s", player="main", incarnation=0, version=-1)))[0].player
    'main'
    """
    try:
        _refuse_non_finite(message)
        head = _encode_head(message)
    except (TypeError, OverflowError, KeyError, UnicodeEncodeError) as error:
        raise WireError(f"{type(message).__name__} cannot be sent: {error}") from error
    if not arrays:
        return [VERSION_FRAME, head]
    return [VERSION_FRAME, head, *_encode_arrays(arrays)]


def decode(frames: Sequence[Frame]) -> tuple[Message, dict[str, npt.NDArray[Any]]]:
    """Return a message and its arrays, which are read-only views of the frames; raise WireError if it is not one."""
    if not 2 <= len(frames) <= MAX_FRAMES:
        raise WireError(f"a message has 2 to {MAX_FRAMES} frames, this one {len(frames)}")
    if frames[0] != VERSION_FRAME:
        raise _version_error(bytes(frames[0][:32]))
    try:
        message = _decode_head(frames[1])  # its limits (league.limits) refuse NaN and infinity, too
        return message, _decode_arrays(frames[2:]) if len(frames) > 2 else {}
    except WireError:
        raise
    except Exception as error:  # DecodeError, but also UnicodeDecodeError, RecursionError, MemoryError, ...
        raise WireError(f"not a message: {type(error).__name__}: {str(error)[:200]}") from error


def _version_error(frame: bytes) -> WireError:
    found = re.fullmatch(rb"ludus/(\d{1,9})", frame)
    if found is None:
        return WireError(f"not a Ludus message: it begins with {frame!r}")
    return WrongVersionError(
        f"the peer speaks wire version {int(found[1])}, this process speaks {WIRE_VERSION}; "
        "install the same Ludus on every machine of the run and restart the older processes"
    )
