"""The hash chain of the ledger: it detects committed rows that were changed, removed or replaced.

    digest = link(previous, columns, lines)         # the last row of a commit stores it, in its column `chain`
    for found in follow(START, read, hash_events):  # `read(number)` returns a page of the rows after that number
        found.at, found.problem                     # the mark after each link, and its problem or ""

A link is the rows that one commit wrote into one table. Its hash covers these rows and the hash before it. One hash for
each commit, instead of each row, keeps writing cheap. The kind and the ticket of an event are not hashed: they repeat
its body, and a check compares them with it.
"""

import contextlib
import hashlib
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

HASH_BYTES = 32
SEAL = "seal"  # the key of the hash over all facts about the file
SEARCHED = 1 << 13  # bytes of a bad link, at most, that are searched for a flipped bit

Row = tuple[Any, ...]  # the columns of a row, its number first
Read = Callable[[int], Sequence[Row]]
"""Returns the next rows after a number, in order; the last item of each is its column `chain`."""

HashRows = Callable[[bytes, Sequence[Row]], bytes | None]
"""Returns the hash of a link from the hash before it and its rows; None if the ledger never writes such rows."""

_UNUSED = hashlib.sha256()  # copied for each hash: creating one takes longer
_encode = msgspec.msgpack.encode  # includes types and lengths, so different columns give different bytes


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in a chain: the number of a link's last row, and the hash of that link."""

    number: int
    digest: bytes


START = Mark(0, bytes(HASH_BYTES))


@dataclass(frozen=True, slots=True)
class Found:
    """A checked link: the mark after it, and its problem, "" if it has none."""

    at: Mark
    problem: str = ""


class _Issued(msgspec.Struct):
    number: int


class _Filed(msgspec.Struct):
    """The fields of an event's body that its columns repeat."""

    event: str
    ticket: _Issued | int | None = None


_filed = msgspec.json.Decoder(_Filed)


def link(previous: bytes, columns: object, lines: bytes) -> bytes:
    """Return the hash of a link, where `previous` is the hash before it.

    `lines` are the encoded bodies of its rows, as JSON lines. `columns` are the other hashed columns; for events, whose
    numbers have no gaps, the first number is enough.
    """
    hashed = _UNUSED.copy()
    hashed.update(b"".join((previous, _encode(columns), lines)))  # one call: each costs like some hundred bytes
    return hashed.digest()


def hash_events(previous: bytes, rows: Sequence[Row]) -> bytes | None:
    """Return the hash of rows of the table `events` (number, kind, ticket, body); None if the columns do not agree."""
    if not all(map(well_filed, rows)):
        return None
    return _hash_bodies(previous, rows[0][0], [row[-1] for row in rows])


def hash_metrics(previous: bytes, rows: Sequence[Row]) -> bytes | None:
    """Return the hash of rows of the table `metrics`; None if a body is not a line of text."""
    *columns, bodies = zip(*rows, strict=True)
    return _hash_bodies(previous, columns, bodies)


def _hash_bodies(previous: bytes, columns: object, bodies: Sequence[object]) -> bytes | None:
    if not all(isinstance(body, str) and "\n" not in body for body in bodies):
        return None
    return link(previous, columns, "".join(f"{body}\n" for body in bodies).encode())


def well_filed(row: Row) -> bool:
    """Return whether the kind and the ticket in the columns of an event equal those in its body.

    >>> body = '{"event": "ticket_withdrawn", "ticket": 7}'
    >>> well_filed((1, "ticket_withdrawn", 7, body)), well_filed((1, "ticket_withdrawn", 3, body))
    (True, False)
    """
    _, kind, ticket, body = row
    try:
        filed = _filed.decode(body)
    except (msgspec.MsgspecError, UnicodeEncodeError, TypeError):
        return False
    number = filed.ticket.number if isinstance(filed.ticket, _Issued) else filed.ticket
    return bool(kind == filed.event and type(ticket) is type(number) and ticket == number)


def follow(at: Mark, read: Read, hash_rows: HashRows, search: bool = False) -> Iterator[Found]:
    """Check all links after a mark. After a bad link, continue from the hash that is stored in it.

    With `search`, search the first bad link for a flipped bit, which takes up to a second.
    """
    pending: list[Row] = []
    while page := read(pending[-1][0] if pending else at.number):
        for row in page:
            pending.append(row[:-1])
            if row[-1] is not None:
                found = _check(at, pending, row[-1], hash_rows, search)
                yield found
                at, pending, search = found.at, [], search and not found.problem
    if pending:
        yield Found(Mark(pending[-1][0], at.digest), f"{_range(pending)}: no hash follows; the end is missing")


def _check(at: Mark, rows: Sequence[Row], kept: object, hash_rows: HashRows, search: bool) -> Found:
    for number, row in enumerate(rows, start=at.number + 1):
        if row[0] != number:
            return Found(Mark(rows[-1][0], _digest(kept)), f"{number}: the row is missing")
    after = Mark(rows[-1][0], _digest(kept))
    if kept == hash_rows(at.digest, rows):
        return Found(after)
    return Found(after, _problem_of(at, rows, kept, hash_rows, search))


def _digest(kept: object) -> bytes:
    return kept if isinstance(kept, bytes) else START.digest


def _range(rows: Sequence[Row]) -> str:
    first, last = rows[0][0], rows[-1][0]
    return f"{first}" if first == last else f"{first} to {last}"


def _problem_of(at: Mark, rows: Sequence[Row], kept: object, hash_rows: HashRows, search: bool) -> str:
    """Return the problem of a bad link. It names a single row if there is only one, or if a flipped bit is found."""
    expected = hash_rows(at.digest, rows)
    if not isinstance(kept, bytes) or (expected and _distance(kept, expected) == 1):
        return f"{rows[-1][0]}: its hash was changed"
    found = _flipped(at, rows, kept, hash_rows) if search and len(_encode(rows)) <= SEARCHED else None
    if found is not None:
        return f"{found}: one bit of the row was flipped"
    return f"{_range(rows)}: {'the row was' if len(rows) == 1 else 'one of these rows was'} changed"


def _distance(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one) ^ int.from_bytes(other)).bit_count() if len(one) == len(other) else -1


def _flipped(at: Mark, rows: Sequence[Row], kept: bytes, hash_rows: HashRows) -> int | None:
    """Flip each bit of each column until the hash matches; return the number of that row, None if it never does."""
    for i, row in enumerate(rows):
        for column, value in enumerate(row):
            for tried in _one_bit_off(value):
                changed = (*row[:column], tried, *row[column + 1 :])
                if hash_rows(at.digest, [*rows[:i], changed, *rows[i + 1 :]]) == kept:
                    return int(row[0])
    return None


def _one_bit_off(value: object) -> Iterator[object]:
    """Yield every value that differs from this one in one bit."""
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
    """Return the facts with a new seal, the hash over all others.

    >>> sealed({"a": "1"}) == sealed(sealed({"a": "1"})), sealed({"a": "1"}) == sealed({"a": "2"})
    (True, False)
    """
    others = sorted((key, value) for key, value in facts.items() if key != SEAL)
    return dict(others) | {SEAL: hashlib.sha256(_encode(others)).hexdigest()}


def to_text(at: Mark) -> str:
    """Return a mark as text: its number and its hash in hexadecimal digits."""
    return f"{at.number} {at.digest.hex()}"
