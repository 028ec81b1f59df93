"""JSON that anybody may have written: nested so deeply that Python's stack ends is an error like any other.

config = read_json(run.config, dict[str, Any])      # raises FileNotFoundError, IrregularFile, msgspec.DecodeError
"""

import re
from pathlib import Path
from typing import TypeVar

import msgspec

from league import limits
from league.store.regular_file import read_regular

DEEPEST = 64  # arrays and objects within each other: whoever walks through them needs some frames for each
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_OTHERS = re.compile(rb"[^\[\]{}]+")

Content = TypeVar("Content")


def read_json(path: Path, kind: type[Content], limit: int = limits.SMALL_FILE) -> Content:
    """Return what a file of JSON holds."""
    return decode_json(read_regular(path, limit), kind)


def decode_json(data: bytes, kind: type[Content]) -> Content:
    """Return what JSON holds; raise msgspec.DecodeError if it is none, of another type, or nested too deeply.

    >>> decode_json(b'{"a": [1, 2]}', dict[str, list[int]])
    {'a': [1, 2]}
    """
    if depth_of(data) > DEEPEST:
        raise msgspec.ValidationError(f"it is nested deeper than {DEEPEST} levels")
    try:
        return msgspec.json.decode(data, type=kind)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(str(error)) from error


def depth_of(data: bytes) -> int:
    """Return how deeply the arrays and objects of JSON are nested; at most a few more than DEEPEST.

    >>> depth_of(b'{"[[[": [{}]}'), depth_of(b"[" * 100_000)
    (3, 65)
    """
    depth = deepest = 0
    for bracket in _OTHERS.sub(b"", _TEXTS.sub(b"", data)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > DEEPEST:
            break
    return deepest
