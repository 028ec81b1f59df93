"""The ledger: an append-only log of events in SQLite, opened by the coordinator alone.

    with Ledger.open(path) as ledger:
        ledger.commit(events)                   # all of them durable, or none
        for seq, body in ledger.read(since=0): ...

Results are unique for each ticket by an index of the database itself, so not even a bug can count one twice. Every row
is in a hash chain (`league.store.chain`): one for the events, one for the metrics. Facts about the file have a seal.
"""

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import msgspec

from league import events
from league.events import Event, TicketIssued
from league.limits import Count, Label, Metrics, Seconds
from league.store.archive import LedgerArchive, Row
from league.store.archive import LedgerError as LedgerError  # of both
from league.store.chain import START, Mark, hash_rows, link, sealed, to_text
from league.store.integrity import HEAD, MEASURED, check_events, damage, seal_holds

SCHEMA_VERSION = 4
ARCHIVE = "archive"  # the folder beside a ledger in which its old events are
PAGE_BYTES = 4096  # of the database
WAL_HEADER = 32  # bytes of a log of SQLite that tell one beginning of it from all others
PAGE = 1000  # events that are read at once: more would not stay in the processor's caches
COPIES = 20  # attempts to copy a ledger that is being written

_SCHEMA = """
create table meta(key text primary key, value text not null);
create table events(seq integer primary key, kind text not null, ticket integer, body text not null, chain blob);
create unique index one_issue on events(ticket) where kind = 'ticket_issued';
create unique index one_result on events(ticket) where kind = 'result_counted';
create table metrics(id integer primary key, seq integer not null, elapsed real not null,
                     source text not null, body text not null, chain blob);
create table archive(last integer primary key, name text not null);
"""


_EVENT = "insert into events(seq, kind, ticket, body) values(?, ?, ?, ?)"
_LAST_EVENT = "insert into events values(?, ?, ?, ?, ?)"
_METRICS = "insert into metrics(id, seq, elapsed, source, body) values(?, ?, ?, ?, ?)"
_LAST_METRICS = "insert into metrics values(?, ?, ?, ?, ?, ?)"
_json = msgspec.json.Encoder()
NOTE = "note/"  # begins the keys of what trackers keep here


class Measured(msgspec.Struct, frozen=True, array_like=True):
    """A row of metrics: what a process measured, after which event, and after how many seconds of play."""

    id: Count
    seq: Count
    elapsed: Seconds
    source: Label
    values: Metrics


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of a table in columns, their numbers first; the bodies are lines of JSON."""

    columns: list[Sequence[Any]]
    lines: bytes


NOTHING = TableRows([], b"")


class LedgerLocked(LedgerError):  # noqa: N818  (the condition is the name)
    """Another coordinator has the ledger."""


class LedgerFull(LedgerError):  # noqa: N818
    """A commit failed (disk full, I/O error). Nothing of it was written; it may work later."""


class Ledger:
    """The one connection to the ledger. It holds an exclusive lock until it is closed."""

    def __init__(self, connection: sqlite3.Connection, path: Path, archive: Path) -> None:
        self._connection, self.path = connection, path
        listed = connection.execute("select last, name from archive order by last").fetchall()
        self.archive = LedgerArchive(archive, listed)
        self._end = _end_of(connection, "select seq, chain from events order by seq desc limit 1", self.archive.mark)
        self._measured = _end_of(connection, "select id, chain from metrics order by id desc limit 1", START)
        facts = connection.execute("select key, value from meta").fetchall()
        self._meta = {key: value for key, value in facts if isinstance(key, str) and isinstance(value, str)}
        # Else somebody changed the facts about the file, or its bytes: a flipped bit may make NULL of a text.
        self.sealed = len(self._meta) == len(facts) and seal_holds(self._meta)

    @property
    def head(self) -> int:
        """The number of the newest event."""
        return self._end.number

    @property
    def end(self) -> Mark:
        """The newest event and the hash of all events up to it."""
        return self._end

    @classmethod
    def open(cls, path: Path, patience: float = 0.0, archive: Path | None = None) -> "Ledger":
        """Open or create the ledger; wait up to `patience` seconds for another coordinator to let go.

        Old events are in the folder `archive`, by default that of this name beside the ledger.
        """
        deadline = time.monotonic() + patience
        while True:
            try:
                return cls._opened(path, archive or path.with_name(ARCHIVE))
            except sqlite3.DatabaseError as error:
                if "locked" not in str(error):
                    raise LedgerError(f"the ledger {path} cannot be opened: {error}") from error
                if time.monotonic() >= deadline:
                    raise LedgerLocked(f"another coordinator holds the ledger {path}") from error
            time.sleep(min(0.2, patience))

    @classmethod
    def _opened(cls, path: Path, archive: Path) -> "Ledger":
        connection = _connect(path)
        try:
            return cls(connection, path, archive)
        except BaseException:
            connection.close()
            raise

    def commit(
        self,
        batch: Sequence[Event],
        metrics: Sequence[tuple[float, str, dict[str, float]]] = (),
        notes: Mapping[str, str] | None = None,
    ) -> None:
        """Make events, metrics and notes durable in one transaction; raise LedgerFull, with nothing written."""
        head = self.head + len(batch)
        kinds, tickets = [events.kind_of(event) for event in batch], [_ticket_of(event) for event in batch]
        if settled := self.archive.settled(tickets):
            raise sqlite3.IntegrityError(f"all about ticket {settled[0]} is archived: nothing more may happen to it")
        rows = TableRows([[*range(self.head + 1, head + 1)], kinds, tickets], events.encode_lines(batch))
        measured = self._rows_of(metrics, head) if metrics else NOTHING
        self._write(rows, measured, {NOTE + key: value for key, value in (notes or {}).items()})

    def _rows_of(self, metrics: Sequence[tuple[float, str, dict[str, float]]], head: int) -> TableRows:
        times, sources, values = zip(*metrics, strict=True)
        ids = [*range(self.measured + 1, self.measured + 1 + len(metrics))]
        return TableRows([ids, [head] * len(ids), times, sources], _json.encode_lines(values))

    def _write(self, rows: TableRows, measured: TableRows, changed: dict[str, str]) -> None:
        """Write all of it in one transaction, with the links that it adds to the chains."""
        end, metrics, meta = self._end, self._measured, self._meta
        try:
            self._connection.execute("begin immediate")
            if rows.lines:
                end = self._append(end, rows, _EVENT, _LAST_EVENT)
            if measured.lines:
                metrics = self._append(metrics, measured, _METRICS, _LAST_METRICS)
            if measured.lines or changed:
                meta = sealed(meta | changed | {HEAD: to_text(end), MEASURED: to_text(metrics)})
                renewed = [(key, value) for key, value in meta.items() if self._meta.get(key) != value]
                self._connection.executemany("insert or replace into meta values(?, ?)", renewed)
            self._connection.execute("commit")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
            if not isinstance(error, sqlite3.OperationalError):
                raise  # a second result of a ticket, say: that is a bug, and no later attempt can succeed
            raise LedgerFull(f"the ledger cannot be written: {error}") from error
        self._end, self._measured, self._meta = end, metrics, meta

    def _append(self, end: Mark, rows: TableRows, insert: str, insert_last: str) -> Mark:
        """Write the next rows of a table; the last one keeps the hash of them all."""
        digest = link(end.digest, rows.columns, rows.lines)
        *others, last = zip(*rows.columns, rows.lines.decode().split("\n")[:-1], strict=True)
        if others:  # without a value for the hash: it takes long to bind a None
            self._connection.executemany(insert, others)
        self._connection.execute(insert_last, (*last, digest))
        return Mark(last[0], digest)

    def read(self, since: int = 0, limit: int = -1) -> list[tuple[int, bytes]]:
        """Return (seq, body) of the events after `since`, in order, archived or not."""
        if since < self.archive.mark.number:
            return [(seq, body.encode()) for seq, _, _, body in self.rows(since, limit)]
        query = "select seq, cast(body as blob) from events where seq > ? order by seq limit ?"
        return self._connection.execute(query, (since, limit)).fetchall()

    def rows(self, since: int = 0, limit: int = -1) -> list[Row]:
        """Return (seq, kind, ticket, body) of the events after `since`, in order, archived or not."""
        stop = None if limit < 0 else limit
        rows = list(islice(self.archive.rows(since), stop))
        if len(rows) == stop:
            return rows
        since, left = max(since, self.archive.mark.number), -1 if stop is None else stop - len(rows)
        query = "select seq, kind, ticket, body from events where seq > ? order by seq limit ?"
        return rows + self._connection.execute(query, (since, left)).fetchall()

    def events(self, since: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield (seq, event) after `since`, in order."""
        while page := self.read(since, PAGE):
            for seq, body in page:
                yield seq, decode_row(seq, body)
            since = page[-1][0]

    def mark(self, seq: int) -> str:
        """Return the hash of all events up to this one, in hexadecimal digits; "" if there is no such event."""
        if not 0 <= seq <= self.head:
            return ""
        end = self._last_end(seq)
        rows = self.rows(end.number, seq - end.number)
        return (hash_rows(end.digest, rows) or b"" if rows else end.digest).hex()

    def _last_end(self, seq: int) -> Mark:
        """Return the end of the last commit up to an event."""
        if seq <= self.archive.mark.number:
            return self.archive.last_end(seq)
        query = "select seq, chain from events where seq <= ? and chain is not null order by seq desc limit 1"
        row = self._connection.execute(query, (seq,)).fetchone()
        return self.archive.mark if row is None else Mark(row[0], row[1] if isinstance(row[1], bytes) else START.digest)

    def metrics(self, since: int, upto: int, limit: int = -1) -> list[Measured]:
        """Return the rows of metrics after the id `since` that were measured no later than the event `upto`."""
        query = "select id, seq, elapsed, source, body from metrics where id > ? and seq <= ? order by id limit ?"
        rows = self._connection.execute(query, (since, upto, limit))
        return [
            Measured(number, seq, elapsed, source, msgspec.json.decode(body, type=dict[str, float]))
            for number, seq, elapsed, source, body in rows
        ]

    @property
    def measured(self) -> int:
        """The id of the newest row of metrics."""
        return self._measured.number

    def notes(self) -> dict[str, str]:
        """Return what trackers keep here, by their names."""
        return {key.removeprefix(NOTE): value for key, value in self._meta.items() if key.startswith(NOTE)}

    def meta(self, key: str) -> str | None:
        """Return what was kept under a key: facts about the file, not about the league."""
        return self._meta.get(key)

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value under a key; raise LedgerFull if it cannot be written."""
        self._write(NOTHING, NOTHING, {key: value})

    def damage(self) -> list[str]:
        """Check every row of every table against its hash; return what is wrong, the first bad row first."""
        return self.archive.damage() + damage(self._connection, _SCHEMA, self.archive.mark)

    def settle(self) -> bool:
        """Carry all that is in SQLite's log over to the file; return whether that worked (not on a full disk)."""
        try:
            busy, logged, carried = self._connection.execute("pragma wal_checkpoint(full)").fetchone()
        except sqlite3.OperationalError:
            return False
        return not busy and logged == carried

    # --- the archive -------------------------------------------------------------------------------------------

    @property
    def live(self) -> int:
        """How many events are in the database itself."""
        return self.head - self.archive.mark.number

    def live_bytes(self) -> int:
        """Return how many bytes of the database are in use."""
        (pages,), (free,) = (
            self._connection.execute(f"pragma {p}").fetchone() for p in ("page_count", "freelist_count")
        )
        return int(pages - free) * PAGE_BYTES

    def put_away(self, count: int) -> None:
        """Move the oldest events, about so many, into a segment of the archive.

        First the segment is on the disk; then one transaction notes its name and deletes the rows. Raise LedgerError if
        the rows are not what was committed: then nothing is moved. OSError and LedgerFull: it may work later.
        """
        rows, marks = self._oldest(count)
        if not marks:
            return
        last = marks[-1]
        name, head = self.archive.write(rows, [mark.number for mark in marks], last.digest)
        try:
            self._connection.execute("begin immediate")
            self._connection.execute("insert into archive values(?, ?)", (last.number, name))
            self._connection.execute("delete from events where seq <= ?", (last.number,))
            self._connection.execute("commit")
        except sqlite3.OperationalError as error:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
            raise LedgerFull(f"the ledger cannot be written: {error}") from error
        self.archive.add(name, head)

    def _oldest(self, count: int) -> tuple[list[Row], list[Mark]]:
        """Return the oldest rows up to the end of a commit, and the marks of all commits in them, checked."""
        marks = []
        for found in check_events(self._connection, self.archive.mark, count):
            if found.problem:
                raise LedgerError(f"event {found.problem}: old events are not archived any more")
            marks.append(found.at)
            if found.at.number - self.archive.mark.number >= count:
                break
        return (
            self.rows(self.archive.mark.number, marks[-1].number - self.archive.mark.number) if marks else []
        ), marks

    def shrink(self, pages: int, spare: int) -> None:
        """Give up to so many unused pages of the file back to the disk; `spare` of them stay, to be written again.

        Raise LedgerFull if the disk has no room for the log of it.
        """
        (free,) = self._connection.execute("pragma freelist_count").fetchone()
        if free <= spare:
            return
        try:  # execute() would take one step of it, which is one page
            self._connection.executescript(f"pragma incremental_vacuum({min(pages, free - spare)})")
        except sqlite3.OperationalError as error:
            raise LedgerFull(f"the ledger cannot be written: {error}") from error

    # --- apart from the fold -----------------------------------------------------------------------------------

    def query(self, sql: str, *parameters: object) -> list[tuple[object, ...]]:
        """Run a read-only query over what is in the database itself: `rows` has the archived events, too."""
        return self._connection.execute(sql, parameters).fetchall()

    def close(self) -> None:
        """Let go of the ledger."""
        self._connection.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def decode_row(seq: int, body: bytes) -> Event:
    """Return the event of a row; LedgerError names a row that cannot be read."""
    try:
        return events.decode(body)
    except msgspec.MsgspecError as error:
        raise LedgerError(
            f"event {seq} of the ledger cannot be read: {error}. Was it written by a newer Ludus, or changed by hand?"
        ) from error


@contextmanager
def open_copy(path: Path) -> Iterator[Ledger]:
    """Open a copy of a ledger: a reader never touches the file itself. A coordinator may write it meanwhile.

    Archived events are read where they are: their files never change.
    """
    if not path.exists():
        raise LedgerError(f"there is no ledger at {path}")
    with tempfile.TemporaryDirectory(prefix="ludus-ledger-") as folder:
        copy = Path(folder) / path.name
        _copy(path, copy)
        try:
            ledger = Ledger.open(copy, archive=path.with_name(ARCHIVE))
        except LedgerError as error:
            raise LedgerError(str(error).replace(str(copy), str(path))) from error
        with ledger:
            yield ledger


def _copy(path: Path, copy: Path) -> None:
    """Copy the file and its log as they were at one moment.

    The log has everything that the file may lack, whatever is carried over from the one to the other meanwhile; until
    SQLite begins the log again. A copy during which that happened is made again.
    """
    for _ in range(COPIES):
        before = generation(path)
        for suffix in ("", "-wal"):
            target = copy.with_name(copy.name + suffix)
            try:
                shutil.copyfile(path.with_name(path.name + suffix), target)
            except FileNotFoundError:  # whoever closes a ledger removes its log
                target.unlink(missing_ok=True)
        if generation(path) == before:
            return
    raise LedgerError(f"the ledger {path} changes faster than it can be copied: try again when the disk is less busy")


class Generation(NamedTuple):
    """What changes when a ledger is written: the head of its log; where there is no log, the file itself."""

    log: bytes
    file: tuple[int, int, int]


def generation(path: Path) -> Generation:
    """Return the generation of a ledger. Files are opened, as only that asks the server of a network file system."""
    try:
        with path.with_name(path.name + "-wal").open("rb") as log:
            header = log.read(WAL_HEADER)
    except FileNotFoundError:
        header = b""
    if header:
        return Generation(header, (0, 0, 0))
    with path.open("rb") as file:
        stat = os.fstat(file.fileno())
    return Generation(b"", (stat.st_ino, stat.st_mtime_ns, stat.st_size))


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    for pragma in ("auto_vacuum=incremental", "locking_mode=exclusive", "journal_mode=wal", "synchronous=full"):
        connection.execute(f"pragma {pragma}")
    connection.execute("begin immediate")  # takes the exclusive lock, and keeps it
    try:
        found = connection.execute("select 1 from sqlite_master where name = 'meta'").fetchone()
        if not found:
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
            facts = sealed({"schema_version": str(SCHEMA_VERSION), HEAD: to_text(START), MEASURED: to_text(START)})
            connection.executemany("insert into meta values(?, ?)", facts.items())
    finally:
        connection.execute("commit")
    check_schema(connection, path)


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a ledger that another version of Ludus wrote."""
    (version,) = connection.execute("select value from meta where key = 'schema_version'").fetchone() or ("?",)
    if version != str(SCHEMA_VERSION):
        raise LedgerError(
            f"the ledger {path} has schema version {version}, this Ludus reads version {SCHEMA_VERSION}: "
            "open it with the Ludus that wrote it, or start a new run"
        )


def _end_of(connection: sqlite3.Connection, query: str, default: Mark) -> Mark:
    """Return where a chain ends, as the last row has it. Whether that is right is for others to check."""
    row = connection.execute(query).fetchone()
    if row is None:
        return default
    return Mark(row[0], row[1] if isinstance(row[1], bytes) else START.digest)


def _ticket_of(event: Event) -> int | None:
    if isinstance(event, TicketIssued):
        return event.ticket.number
    ticket: int | None = getattr(event, "ticket", None)  # of all other events that are about a ticket it is the number
    return ticket
