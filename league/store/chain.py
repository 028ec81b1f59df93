"""The hash chain of the ledger: what a commit wrote cannot change, go missing or be replaced without being noticed.

    digest = link(previous, columns, lines)  # the last row of a commit keeps it, in its column `chain`
    for found in follow(START, read):       # `read(number)` returns the rows after that number, a page at a time
        found.at, found.problem             # the mark after each link, and what is wrong with it

A link is the rows that one commit wrote into one table. Its hash covers every column of these rows and the hash before
it. One hash for each commit, not for each row: so it costs little to write, and 32 bytes.
"""

import contextlib
import hashlib
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

HASH_BYTES = 32
SEAL = "seal"  # under which the hash over all facts about the file is kept
SEARCHED = 1 << 13  # bytes of a bad link at most in which a flipped bit is searched for

Row = tuple[Any, ...]  # the columns of a row, its number first
Read = Callable[[int], Sequence[Row]]
"""Return the next rows after a number, in order, each with what its column `chain` keeps as the last item."""

_UNUSED = hashlib.sha256()  # to be copied: a new one takes longer
_encode = msgspec.msgpack.encode  # keeps types and lengths apart: no two different columns give the same bytes


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark in a chain: the number of a link's last row, and the hash there."""

    number: int
    digest: bytes


START = Mark(0, bytes(HASH_BYTES))


@dataclass(frozen=True, slots=True)
class Found:
    """A link that was checked: where the chain is after it, and what is wrong with it, if anything."""

    at: Mark
    problem: str = ""


def link(previous: bytes, columns: Sequence[object], lines: bytes) -> bytes:
    """Return the hash of a link that follows on the hash `previous`.

    `columns` are those of its rows, but the bodies: they are lines of JSON, and hashed as they were encoded.
    """
    hashed = _UNUSED.copy()
    hashed.update(previous + _encode(columns))
    hashed.update(lines)
    return hashed.digest()


def hash_rows(previous: bytes, rows: Sequence[Row]) -> bytes | None:
    """Return the hash of rows that were read; None if they cannot have been written."""
    *columns, bodies = zip(*rows, strict=True)
    if not all(isinstance(body, str) and "\n" not in body for body in bodies):
        return None
    return link(previous, columns, "".join(f"{body}\n" for body in bodies).encode())


def follow(at: Mark, read: Read, search: bool = False) -> Iterator[Found]:
    """Check all links after a mark. After a bad one it goes on from the hash that is kept there.

    With `search` the first bad link is searched for a flipped bit, which takes up to a second.
    """
    pending: list[Row] = []
    while page := read(pending[-1][0] if pending else at.number):
        for row in page:
            pending.append(row[:-1])
            if row[-1] is not None:
                found = _check(at, pending, row[-1], search)
                yield found
                at, pending, search = found.at, [], search and not found.problem
    if pending:
        yield Found(Mark(pending[-1][0], at.digest), f"{_range(pending)}: no hash follows; the end is missing")


def _check(at: Mark, rows: Sequence[Row], kept: object, search: bool) -> Found:
    for number, row in enumerate(rows, start=at.number + 1):
        if row[0] != number:
            return Found(Mark(rows[-1][0], _digest(kept)), f"{number}: the row is missing")
    after = Mark(rows[-1][0], _digest(kept))
    return Found(after) if kept == hash_rows(at.digest, rows) else Found(after, _name(at, rows, kept, search))


def _digest(kept: object) -> bytes:
    return kept if isinstance(kept, bytes) else START.digest


def _range(rows: Sequence[Row]) -> str:
    first, last = rows[0][0], rows[-1][0]
    return f"{first}" if first == last else f"{first} to {last}"


def _name(at: Mark, rows: Sequence[Row], kept: object, search: bool) -> str:
    """Return which row of a bad link was changed: exactly, if it has one row, or if a flipped bit is searched for."""
    expected = hash_rows(at.digest, rows)
    if not isinstance(kept, bytes) or (expected and _distance(kept, expected) == 1):
        return f"{rows[-1][0]}: its hash was changed"
    found = _flipped(at, rows, kept) if search and len(_encode(rows)) <= SEARCHED else None
    if found is not None:
        return f"{found}: one bit of the row was flipped"
    return f"{_range(rows)}: {'the row was' if len(rows) == 1 else 'one of these rows was'} changed"


def _distance(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one) ^ int.from_bytes(other)).bit_count() if len(one) == len(other) else -1


def _flipped(at: Mark, rows: Sequence[Row], kept: bytes) -> int | None:
    """Flip every bit of every column back until the hash fits; return the number of the row."""
    for i, row in enumerate(rows):
        for column, value in enumerate(row):
            for tried in _one_bit_off(value):
                changed = (*row[:column], tried, *row[column + 1 :])
                if hash_rows(at.digest, [*rows[:i], changed, *rows[i + 1 :]]) == kept:
                    return int(row[0])
    return None


def _one_bit_off(value: object) -> Iterator[object]:
    """Yield everything that a value may have been before one of its bits was flipped."""
    match value:
        case int():
            yield from (value ^ (1 << bit) for bit in range(63))
        case float():
            (number,) = struct.unpack("<Q", struct.pack("<d", value))
            yield from (struct.unpack("<d", struct.pack("<Q", number ^ (1 << bit)))[0] for bit in range(64))
        case str() | bytes() | (bytes(),):
            data = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else value[0]
            for i in range(len(data)):
                for bit in range(8):
                    flipped = data[:i] + bytes([data[i] ^ (1 << bit)]) + data[i + 1 :]
                    with contextlib.suppress(UnicodeDecodeError):
                        yield flipped.decode()


def sealed(facts: Mapping[str, str]) -> dict[str, str]:
    """Return facts with a seal: the hash over all of them.

    >>> sealed({"a": "1"}) == sealed(sealed({"a": "1"})), sealed({"a": "1"}) == sealed({"a": "2"})
    (True, False)
    """
    others = sorted((key, value) for key, value in facts.items() if key != SEAL)
    return dict(others) | {SEAL: hashlib.sha256(_encode(others)).hexdigest()}


def to_text(at: Mark) -> str:
    """Return a mark as text."""
    return f"{at.number} {at.digest.hex()}"
