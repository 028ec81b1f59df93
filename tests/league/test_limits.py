"""Every field of every message has a limit: what lies at it is taken, what lies just beyond is refused.

The cases are generated from the messages themselves, so a new field without a limit fails here.
"""

import math
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect as kinds

from league.limits import METRICS, within
from league.wire.codec import VERSION_FRAME, WireError, decode
from league.wire.messages import Message

MESSAGES = {kind.cls.__name__: kind for kind in kinds.type_info(Message).types}


def plain(kind: kinds.Type) -> Any:  # noqa: C901  (a case for each type)
    """Return the smallest value of a type, as msgpack has it."""
    match kind:
        case kinds.IntType():
            return kind.ge or 0
        case kinds.FloatType():
            return max(0.0, kind.ge)
        case kinds.StrType():
            return "a" * (kind.min_length or 0)
        case kinds.BytesType():
            return b""
        case kinds.BoolType():
            return False
        case kinds.EnumType():
            return next(iter(kind.cls)).value
        case kinds.VarTupleType():
            return [plain(kind.item_type)] * (kind.min_length or 0)
        case kinds.TupleType():
            return [plain(item) for item in kind.item_types]
        case kinds.DictType():
            return {}
        case kinds.UnionType():
            return None
        case kinds.StructType():
            return struct(kind, {field.name: plain(field.type) for field in kind.fields})
    raise AssertionError(f"{kind} is a type that no message had so far: say here what its limits are")


def struct(kind: kinds.StructType, values: dict[str, Any]) -> Any:
    named = {field.name: field.encode_name for field in kind.fields}
    if kind.array_like:
        return [values[name] for name in named]
    tag = {} if kind.tag_field is None else {kind.tag_field: kind.tag}
    return tag | {named[name]: value for name, value in values.items()}


def different(kind: kinds.Type, count: int) -> list[Any]:
    """Return so many different keys."""
    assert isinstance(kind, kinds.StrType)
    return [f"a{number}" for number in range(count)]


def cases(kind: kinds.Type, path: str) -> Iterator[tuple[str, Any, Any]]:  # noqa: C901  (a case for each type)
    """Yield for each limit of a type: where it is, a value at it, and one just beyond."""
    match kind:
        case kinds.IntType():
            low, high = limits(kind, path)
            yield f"{path} from", low, low - 1
            yield f"{path} to", high, high + 1
        case kinds.FloatType():
            low, high = limits(kind, path)
            yield f"{path} from", low, math.nextafter(low, -math.inf)
            yield f"{path} to", high, math.nextafter(high, math.inf)
            yield f"{path} is a number", high, math.nan
            yield f"{path} is finite", high, math.inf
        case kinds.StrType():
            assert kind.max_length is not None, f"{path}: a text without a limit"
            yield f"{path} length", "a" * kind.max_length, "a" * (kind.max_length + 1)
            if kind.min_length:
                yield f"{path} is there", "a" * kind.min_length, "a" * (kind.min_length - 1)
            if kind.pattern:
                size = kind.min_length or 1
                yield f"{path} pattern", "a" * size, "a" * (size - 1) + "\x1b"
                yield f"{path} last line", "a" * size, "a" * (size - 1) + "\n"
        case kinds.BytesType():
            assert kind.max_length is not None, f"{path}: bytes without a limit"
            yield f"{path} length", bytes(kind.max_length), bytes(kind.max_length + 1)
        case kinds.VarTupleType(item_type=item):
            assert kind.max_length is not None, f"{path}: a tuple without a limit"
            yield f"{path} items", [plain(item)] * kind.max_length, [plain(item)] * (kind.max_length + 1)
            if kind.min_length:
                yield f"{path} is there", [plain(item)] * kind.min_length, [plain(item)] * (kind.min_length - 1)
            yield from ((where, [at], [beyond]) for where, at, beyond in cases(item, f"{path}[]"))
        case kinds.TupleType(item_types=items):
            for place, item in enumerate(items):
                for where, at, beyond in cases(item, f"{path}[{place}]"):
                    yield (
                        where,
                        *([*map(plain, items[:place]), v, *map(plain, items[place + 1 :])] for v in (at, beyond)),
                    )
        case kinds.DictType(key_type=key, value_type=value):
            assert kind.max_length is not None, f"{path}: a dict without a limit"
            keys = different(key, kind.max_length + 1)
            yield f"{path} items", dict.fromkeys(keys[:-1], plain(value)), dict.fromkeys(keys, plain(value))
            yield from (
                (where, {at: plain(value)}, {beyond: plain(value)}) for where, at, beyond in cases(key, f"{path} key")
            )
            yield from ((where, {keys[0]: at}, {keys[0]: beyond}) for where, at, beyond in cases(value, f"{path}[]"))
        case kinds.UnionType(types=types):
            for one in types:
                if not isinstance(one, kinds.NoneType):
                    yield from cases(one, path)
        case kinds.StructType():
            yield from in_struct(kind, path)
        case kinds.EnumType():
            yield f"{path} choice", next(iter(kind.cls)).value, "x"
        case kinds.BoolType():
            yield f"{path} choice", True, 2
        case _:
            raise AssertionError(f"{path}: {kind} is a type that no message had so far: say here what its limits are")


def in_struct(kind: kinds.StructType, path: str) -> Iterator[tuple[str, Any, Any]]:
    smallest = {field.name: plain(field.type) for field in kind.fields}
    for field in kind.fields:
        for where, at, beyond in cases(field.type, f"{path}.{field.name}"):
            yield where, struct(kind, smallest | {field.name: at}), struct(kind, smallest | {field.name: beyond})


def limits(kind: kinds.IntType | kinds.FloatType, path: str) -> tuple[Any, Any]:
    high = kind.le if kind.le is not None or kind.lt is None else kind.lt - 1
    assert kind.ge is not None, f"{path}: a number without a lower limit"
    assert high is not None, f"{path}: a number without an upper limit"
    return kind.ge, high


def read(value: Any) -> Message:
    return decode([VERSION_FRAME, msgspec.msgpack.encode(value)])[0]


@pytest.mark.parametrize("name", MESSAGES)
def test_every_field_has_a_limit_that_is_kept_to_the_unit(name):
    tried = set()
    for where, at, beyond in cases(MESSAGES[name], name):
        assert type(read(at)).__name__ == name, where
        with pytest.raises(WireError, match="not a message"):  # and the path of the field in it
            read(beyond)
        tried.add(where)
    fields = {field.name for field in MESSAGES[name].fields}
    assert {where.removeprefix(f"{name}.").split(".")[0].split("[")[0].split(" ")[0] for where in tried} == fields


def test_all_messages_are_tried(figure):
    tried = [where for name, kind in MESSAGES.items() for where, _, _ in cases(kind, name)]
    fields = sum(len(kind.fields) for kind in MESSAGES.values())
    assert len(tried) > fields
    figure(f"{len(tried)} limits of {fields} fields in {len(MESSAGES)} messages: at the limit taken, beyond refused")


def test_metrics_are_cut_to_what_may_travel():
    many = {f"m{number}": 1.0 for number in range(METRICS + 9)}
    assert within({"bad": math.nan, "worse": 1e308, "": 1.0} | many) == dict(list(many.items())[:METRICS])
