"""The archive: old events of a ledger in compressed files, each of which is named by its hash and never changes.

    archive = LedgerArchive(folder, listed)       # the names, after the numbers of their last events, are in the ledger
    archive.mark                            # the last archived event, and the hash of all events up to it
    for seq, kind, ticket, body in archive.rows(since=0): ...

A segment is a stretch of the ledger from one commit's end to another's. Its head names the segment before it and the
hashes of the chain before and after it, so archive and ledger are one chain. Hashes of commits are not kept: they
follow from the rows.
"""

import bisect
import hashlib
import re
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from league.errors import LudusError
from league.store.chain import START, Mark, hash_rows
from league.store.files import publish_once, sweep

VERSION = 1
CACHED = 2  # segments that are kept in memory
LEVEL = 6  # of zlib: 9 takes thrice as long for a twentieth less
SETTLED = ("result_counted", "ticket_voided", "ticket_withdrawn")
_NAME = re.compile(r"\d{12}-\d{12}-[0-9a-f]{64}\.segment")

Row = tuple[int, str, int | None, str]  # seq, kind, ticket, body


class LedgerError(LudusError, RuntimeError):
    """The ledger cannot be used; the message says why and what to do."""


class SegmentHead(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a segment: its first line."""

    version: int = VERSION
    first: int
    last: int
    previous: str  # the name of the segment before it; "" of the first
    before: str  # the hash of all events before it, in hexadecimal digits,
    after: str  # and of all events up to its last
    tickets: int  # the highest number of a ticket that was issued by then
    open: tuple[int, ...]  # tickets that were issued and not settled by then


EMPTY = SegmentHead(first=0, last=0, previous="", before="", after=START.digest.hex(), tickets=0, open=())


class _Columns(msgspec.Struct, frozen=True, array_like=True):
    kinds: list[str]
    tickets: list[int | None]
    lines: bytes
    ends: list[int]  # the numbers of the last rows of commits


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment that was read and is what was written."""

    head: SegmentHead
    rows: list[Row]
    ends: list[int]

    def marks(self) -> Iterator[Mark]:
        """Yield the mark after each commit, by hashing its rows."""
        digest, start = bytes.fromhex(self.head.before), 0
        for end in self.ends:
            rows = self.rows[start : end - self.head.first + 1]
            digest, start = hash_rows(digest, rows) or b"", end - self.head.first + 1
            yield Mark(end, digest)


def pack(
    rows: Sequence[Row], ends: Sequence[int], after: bytes, previous: SegmentHead, name: str
) -> tuple[SegmentHead, bytes]:
    """Return the head and the bytes of the segment that follows on `previous`, whose name is `name`."""
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
    """Return the highest ticket after some more rows, and those that are open then."""
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
            if not _NAME.fullmatch(name) or int(name.split("-")[1]) != last:
                raise LedgerError(f"the ledger lists {name[:120]!r} as its archive up to event {last}: it is damaged")
        self._folder, self._names, self._lasts = folder, [name for _, name in listed], [last for last, _ in listed]
        self._cache: OrderedDict[int, Segment] = OrderedDict()
        self._hashed, self._marks = -1, list[Mark]()  # the segment whose hashes were asked for last
        self.head = self.segment(len(self) - 1).head if self._names else EMPTY

    def __len__(self) -> int:
        return len(self._names)

    @property
    def mark(self) -> Mark:
        """The last archived event, and the hash of all events up to it."""
        return Mark(self.head.last, bytes.fromhex(self.head.after))

    def settled(self, tickets: Iterable[int | None]) -> list[int]:
        """Return those of the tickets about which everything is archived: nothing more may happen to them."""
        highest = self.head.tickets
        found = [ticket for ticket in tickets if ticket is not None and ticket <= highest] if highest else []
        return [ticket for ticket in found if ticket not in self.head.open]

    def write(self, rows: Sequence[Row], ends: Sequence[int], after: bytes) -> tuple[str, SegmentHead]:
        """Write the next segment; return its name and head. It counts when the ledger lists it: then call `add`."""
        head, data = pack(rows, ends, after, self.head, self._names[-1] if self._names else "")
        name = _name(head, data)
        self._folder.mkdir(exist_ok=True)
        sweep(self._folder)
        publish_once(self._folder / name, data)
        return name, head

    def add(self, name: str, head: SegmentHead) -> None:
        """Count a segment that was written."""
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
        """Return a segment after checking every byte against its name."""
        if i not in self._cache:
            self._cache[i] = self._read(self._names[i])
            while len(self._cache) > CACHED:
                self._cache.popitem(last=False)
        self._cache.move_to_end(i)
        return self._cache[i]

    def _read(self, name: str) -> Segment:
        path = self._folder / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise LedgerError(
                f"archived events are missing: there is no file {path}. Restore it from a copy; "
                "a ledger is copied together with its folder archive"
            ) from None
        if hashlib.sha256(data).hexdigest() != name.removesuffix(".segment").split("-")[2]:
            raise LedgerError(f"archived events are damaged: {path} is not what was written. Restore it from a copy")
        return _unpack(path, data)

    def look(self, i: int) -> str:
        """Read a file again; return what is wrong with it."""
        try:
            self._read(self._names[i])
        except LedgerError as error:
            return str(error)
        return ""

    def damage(self) -> list[str]:
        """Check every segment, and that each follows on the one before it; return what is wrong."""
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


def _unpack(path: Path, data: bytes) -> Segment:
    head_line, _, packed = data.partition(b"\n")
    try:
        head = msgspec.json.decode(head_line, type=SegmentHead)
        columns = msgspec.msgpack.decode(zlib.decompress(packed), type=_Columns)
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
