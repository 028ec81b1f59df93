"""The archive: old events of a ledger in compressed files, which are named by their hash and never change.

    archive = LedgerArchive(folder, listed) # the ledger lists (last event, file name) of each segment
    archive.mark                            # the last archived event, and the hash of all events up to it
    for seq, kind, ticket, body in archive.rows(since=0): ...

A segment is a range of the ledger between the ends of two commits. Its head names the segment before it and the hashes
of the chain before and after it, so archive and ledger form one chain. Hashes of commits are not stored: they are
computed from the rows.
"""

import bisect
import hashlib
import re
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from league.errors import LudusError
from league.store.chain import START, Mark, hash_events
from league.store.files import publish_once, sweep
from league.store.plain_json import decode_json
from league.store.regular_file import IrregularFile, read_regular

VERSION = 2
CACHED = 2  # segments kept in memory
LEVEL = 6  # of zlib: 9 takes three times as long and saves 5 %
MOST_BYTES = 1 << 28  # of a segment before compression
MOST_ROWS = 1 << 20  # of a segment
SETTLED = ("result_counted", "ticket_voided", "ticket_withdrawn")
_NAME = re.compile(r"\d{12}-\d{12}-[0-9a-f]{64}\.segment")

Row = tuple[int, str, int | None, str]  # seq, kind, ticket, body


class LedgerError(LudusError, RuntimeError):
    """The ledger cannot be used; the message gives the reason and the remedy."""


class SegmentHead(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a segment: its first line."""

    version: int = VERSION
    first: int
    last: int
    previous: str  # the name of the segment before it; "" for the first
    before: str  # the hash of all events before it, in hexadecimal digits
    after: str  # the hash of all events up to its last
    tickets: int  # the highest ticket issued up to its last event
    open: tuple[int, ...]  # the tickets issued and not settled up to its last event


EMPTY = SegmentHead(first=0, last=0, previous="", before="", after=START.digest.hex(), tickets=0, open=())


class _Columns(msgspec.Struct, frozen=True, array_like=True):
    kinds: Annotated[list[str], msgspec.Meta(max_length=MOST_ROWS)]
    tickets: Annotated[list[int | None], msgspec.Meta(max_length=MOST_ROWS)]
    lines: bytes
    ends: Annotated[list[int], msgspec.Meta(max_length=MOST_ROWS)]  # the number of the last row of each commit


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment whose file was read and checked."""

    head: SegmentHead
    rows: list[Row]
    ends: list[int]

    def marks(self) -> Iterator[Mark]:
        """Yield the mark after each commit, computed from its rows."""
        digest, start = bytes.fromhex(self.head.before), 0
        for end in self.ends:
            rows = self.rows[start : end - self.head.first + 1]
            digest, start = hash_events(digest, rows) or b"", end - self.head.first + 1
            yield Mark(end, digest)


def pack(
    rows: Sequence[Row], ends: Sequence[int], after: bytes, previous: SegmentHead, name: str
) -> tuple[SegmentHead, bytes]:
    """Return the head and the bytes of the segment that follows `previous`, whose name is `name`."""
    tickets, still_open = settle(previous, rows)
    head = SegmentHead(
        first=rows[0][0],
        last=rows[-1][0],
        previous=name,
        before=previous.after,
        after=after.hex(),
        tickets=tickets,
        open=tuple(sorted(still_open)),
    )
    columns = _Columns([r[1] for r in rows], [r[2] for r in rows], _lines(rows), list(ends))
    packed = zlib.compress(msgspec.msgpack.encode(columns), LEVEL)
    return head, msgspec.json.encode(head) + b"\n" + packed


def _name(head: SegmentHead, data: bytes) -> str:
    return f"{head.first:012}-{head.last:012}-{hashlib.sha256(data).hexdigest()}.segment"


def settle(previous: SegmentHead, rows: Iterable[Row]) -> tuple[int, set[int]]:
    """Return the highest ticket and the open tickets after these rows, which follow the segment `previous`."""
    tickets, still_open = previous.tickets, set(previous.open)
    for _, kind, ticket, _ in rows:
        if ticket is not None and kind == "ticket_issued":
            tickets = max(tickets, ticket)
            still_open.add(ticket)
        elif ticket is not None and kind in SETTLED:
            still_open.discard(ticket)
    return tickets, still_open


def _lines(rows: Sequence[Row]) -> bytes:
    return "".join(f"{row[3]}\n" for row in rows).encode()


class LedgerArchive:
    """The segments of a ledger, read on demand."""

    def __init__(self, folder: Path, listed: Sequence[tuple[int, str]]) -> None:
        for last, name in listed:
            if not isinstance(name, str) or not _NAME.fullmatch(name) or int(name.split("-")[1]) != last:
                raise LedgerError(
                    f"the ledger lists {str(name)[:120]!r} as its archive up to event {last}: it is damaged"
                )
        self._folder, self._names, self._lasts = folder, [name for _, name in listed], [last for last, _ in listed]
        self._cache: OrderedDict[int, Segment] = OrderedDict()
        self._hashed, self._marks = -1, list[Mark]()  # the segment whose marks were computed last
        self.head = self.segment(len(self) - 1).head if self._names else EMPTY

    def __len__(self) -> int:
        return len(self._names)

    @property
    def mark(self) -> Mark:
        """The last archived event, and the hash of all events up to it."""
        return Mark(self.head.last, bytes.fromhex(self.head.after))

    def settled(self, tickets: Iterable[int | None]) -> list[int]:
        """Return those of the tickets that were settled in the archive: no further event may name them."""
        highest = self.head.tickets
        found = [ticket for ticket in tickets if ticket is not None and ticket <= highest] if highest else []
        return [ticket for ticket in found if ticket not in self.head.open]

    def write(self, rows: Sequence[Row], ends: Sequence[int], after: bytes) -> tuple[str, SegmentHead]:
        """Write the next segment; return its name and head. Call `add` after the ledger has listed it."""
        head, data = pack(rows, ends, after, self.head, self._names[-1] if self._names else "")
        name = _name(head, data)
        self._folder.mkdir(exist_ok=True)
        sweep(self._folder)
        publish_once(self._folder / name, data)
        return name, head

    def add(self, name: str, head: SegmentHead) -> None:
        """Add a segment that the ledger has listed."""
        self._names.append(name)
        self._lasts.append(head.last)
        self.head = head

    def rows(self, since: int) -> Iterator[Row]:
        """Yield the archived rows after `since`, in order."""
        for i in range(bisect.bisect_right(self._lasts, since), len(self)):
            segment = self.segment(i)
            yield from segment.rows[max(0, since + 1 - segment.head.first) :]

    def last_end(self, seq: int) -> Mark:
        """Return the end of the last commit up to an archived event."""
        i = bisect.bisect_left(self._lasts, seq)
        if not len(self) or seq < 1:
            return START
        if self._hashed != i:
            self._hashed, self._marks = i, list(self.segment(i).marks())
        before = Mark(self.segment(i).head.first - 1, bytes.fromhex(self.segment(i).head.before))
        place = bisect.bisect_right([mark.number for mark in self._marks], seq)
        return self._marks[place - 1] if place else before

    def segment(self, i: int) -> Segment:
        """Return a segment after checking its bytes against the hash in its name."""
        if i not in self._cache:
            self._cache[i] = self._read(self._names[i])
            while len(self._cache) > CACHED:
                self._cache.popitem(last=False)
        self._cache.move_to_end(i)
        return self._cache[i]

    def _read(self, name: str) -> Segment:
        path = self._folder / name
        try:
            data = read_regular(path, 2 * MOST_BYTES)
        except IrregularFile as error:
            raise LedgerError(str(error)) from error
        except FileNotFoundError:
            raise LedgerError(
                f"archived events are missing: there is no file {path}. Restore it from a copy; "
                "a ledger is copied together with its folder archive"
            ) from None
        if hashlib.sha256(data).hexdigest() != name.removesuffix(".segment").split("-")[2]:
            raise LedgerError(f"archived events are damaged: {path} is not what was written. Restore it from a copy")
        return _unpack(path, data)

    def look(self, i: int) -> str:
        """Re-read the file of a segment; return its problem, "" if it has none."""
        try:
            self._read(self._names[i])
        except LedgerError as error:
            return str(error)
        return ""

    def damage(self) -> list[str]:
        """Return the problems of all segments: damaged files, and segments that do not follow the one before."""
        problems: list[str] = []
        before, name = EMPTY, ""
        for i, own in enumerate(self._names):
            try:
                segment = self.segment(i)
            except LedgerError as error:
                return [*problems, str(error)]
            problem = _check(segment, before, name)
            if problem:
                problems.append(f"{own}: {problem}")
            before, name = segment.head, own
        return problems


def fits(rows: Sequence[Row]) -> bool:
    """Return whether rows are within the limits of one segment; no character takes more than 4 bytes."""
    return len(rows) <= MOST_ROWS and sum(len(row[1]) + 4 * len(row[3]) + 16 for row in rows) <= MOST_BYTES


def _decompress(packed: bytes) -> bytes:
    """Return the bytes of a segment; raise ValueError if they are more than a segment may have."""
    stream = zlib.decompressobj()
    data = stream.decompress(packed, MOST_BYTES)
    if not stream.eof or stream.unused_data:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes, or is cut off")
    return data


def _unpack(path: Path, data: bytes) -> Segment:
    head_line, _, packed = data.partition(b"\n")
    try:
        head = decode_json(head_line, SegmentHead)
        columns = msgspec.msgpack.decode(_decompress(packed), type=_Columns)
        bodies = columns.lines.decode().split("\n")[:-1]
        numbers = range(head.first, head.last + 1)
        rows = list(zip(numbers, columns.kinds, columns.tickets, bodies, strict=True))
    except (msgspec.MsgspecError, zlib.error, ValueError) as error:
        raise LedgerError(f"{path} is no segment of an archive: {error}") from error
    if head.version != VERSION:
        raise LedgerError(f"{path} has version {head.version}, this Ludus reads version {VERSION}")
    return Segment(head, rows, columns.ends)


def _check(segment: Segment, before: SegmentHead, name: str) -> str:
    head = segment.head
    if (head.previous, head.before, head.first) != (name, before.after, before.last + 1):
        return f"it does not follow on the events up to {before.last}"
    if settle(before, segment.rows) != (head.tickets, set(head.open)):
        return "what it says of tickets does not follow from its events"
    last = START
    for last in segment.marks():  # noqa: B007
        pass
    if (last.number, last.digest.hex()) != (head.last, head.after):
        return f"events {head.first} to {head.last} are not those that were committed"
    return ""
