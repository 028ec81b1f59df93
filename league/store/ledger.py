"""The ledger: an append-only log of events in SQLite. While a league runs, only its coordinator opens it.

    with Ledger.open(path) as ledger:
        ledger.commit(events)                   # all of them durable, or none
        for seq, body in ledger.read(since=0): ...

An index of the database makes results unique for each ticket, so that not even a bug can count one twice. Every row is
in a hash chain (`league.store.chain`): one for the events, one for the metrics. Facts about the file have a seal.
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
from league.store.archive import MOST_ROWS, LedgerArchive, Row, fits
from league.store.archive import LedgerError as LedgerError  # of both
from league.store.chain import START, Mark, hash_events, link, sealed, to_text
from league.store.integrity import HEAD, MEASURED, check_events, damage, has_tables, seal_holds
from league.store.regular_file import IrregularFile, open_regular, refuse_irregular

SCHEMA_VERSION = 6
ARCHIVE = "archive"  # the folder beside a ledger with its old events
PAGE_BYTES = 4096  # size of a page of the database
WAL_HEADER = 32  # bytes at the start of SQLite's log that change whenever SQLite restarts it
PAGE = 1000  # events read at once: more would not stay in the processor's caches
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
DAMAGED = "`ludus verify` says what is damaged; put a copy of the run in its place if you have one"
FOREIGN = "the tables of the ledger {} are not those of Ludus: it is damaged, or was altered. Restore it from a copy"
NOTE = "note/"  # prefix of the keys of trackers' notes


class Measured(msgspec.Struct, frozen=True, array_like=True):
    """A row of metrics that a process reported, with the event before it and the seconds of play."""

    id: Count
    seq: Count
    elapsed: Seconds
    source: Label
    values: Metrics


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of a table as columns, their numbers first, and bodies as JSON lines. `hashed`: the columns of `link`."""

    columns: list[Sequence[Any]]
    lines: bytes
    hashed: object


NOTHING = TableRows([], b"", None)


class LedgerLocked(LedgerError):  # noqa: N818  (the condition is the name)
    """Another coordinator holds the lock of the ledger."""


class LedgerFull(LedgerError):  # noqa: N818
    """A write failed (disk full, I/O error). Nothing of it was written; it may succeed later."""


class Ledger:
    """The connection to a ledger. Opened by `open`, it holds an exclusive lock until it is closed."""

    def __init__(self, connection: sqlite3.Connection, path: Path, archive: Path) -> None:
        self._connection, self.path = connection, path
        listed = connection.execute("select last, name from archive order by last").fetchall()
        self.archive = LedgerArchive(archive, listed)
        self._end = _end_of(connection, "select seq, chain from events order by seq desc limit 1", self.archive.mark)
        self._measured = _end_of(connection, "select id, chain from metrics order by id desc limit 1", START)
        facts = connection.execute("select key, value from meta").fetchall()
        self._meta = {key: value for key, value in facts if isinstance(key, str) and isinstance(value, str)}
        # If not sealed, the facts about the file were changed, or its bytes: a flipped bit may turn a text into NULL.
        self.sealed = len(self._meta) == len(facts) and seal_holds(self._meta)

    @property
    def head(self) -> int:
        """The number of the newest event."""
        return self._end.number

    @property
    def end(self) -> Mark:
        """The number of the newest event, and the hash of all events up to it."""
        return self._end

    @classmethod
    def open(cls, path: Path, patience: float = 0.0, archive: Path | None = None) -> "Ledger":
        """Open or create the ledger; wait up to `patience` seconds for another coordinator to release the lock.

        Old events are in the folder `archive`, by default ARCHIVE beside the ledger.
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
        """Make events, metrics and notes durable in one transaction; if it fails, write nothing and raise LedgerFull.

        A second result of a ticket raises sqlite3.IntegrityError.
        """
        head = self.head + len(batch)
        kinds, tickets = [events.kind_of(event) for event in batch], [_ticket_of(event) for event in batch]
        if settled := self.archive.settled(tickets):
            raise sqlite3.IntegrityError(f"all about ticket {settled[0]} is archived: nothing more may happen to it")
        rows = TableRows([range(self.head + 1, head + 1), kinds, tickets], events.encode_lines(batch), self.head + 1)
        measured = self._rows_of(metrics, head) if metrics else NOTHING
        self._write(rows, measured, {NOTE + key: value for key, value in (notes or {}).items()})

    def _rows_of(self, metrics: Sequence[tuple[float, str, dict[str, float]]], head: int) -> TableRows:
        times, sources, values = zip(*metrics, strict=True)
        ids = [*range(self.measured + 1, self.measured + 1 + len(metrics))]
        columns: list[Sequence[Any]] = [ids, [head] * len(ids), times, sources]
        return TableRows(columns, _json.encode_lines(values), columns)

    def _write(self, rows: TableRows, measured: TableRows, changed: dict[str, str]) -> None:
        """Write events, metrics and changed facts in one transaction, with new links of the chains and a new seal."""
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
                raise  # a bug, such as a second result of a ticket: no later attempt can succeed
            raise LedgerFull(f"the ledger cannot be written: {error}") from error
        self._end, self._measured, self._meta = end, metrics, meta

    def _append(self, end: Mark, rows: TableRows, insert: str, insert_last: str) -> Mark:
        """Write the next rows of a table, with the hash of all of them in the last one; return the new end."""
        digest = link(end.digest, rows.hashed, rows.lines)
        *others, last = zip(*rows.columns, rows.lines.decode().split("\n")[:-1], strict=True)
        if others:
            self._connection.executemany(insert, others)
        self._connection.execute(insert_last, (*last, bytearray(digest)))  # unlike bytes, bound without an adapter
        return Mark(last[0], digest)

    def read(self, since: int = 0, limit: int = -1) -> list[tuple[int, bytes]]:
        """Return (seq, body) of the events after `since`, in order, including archived ones."""
        if since < self.archive.mark.number:
            return [(seq, body.encode()) for seq, _, _, body in self.rows(since, limit)]
        query = "select seq, cast(body as blob) from events where seq > ? order by seq limit ?"
        return self._rising(self._fetch(query, (since, limit)), since)

    def rows(self, since: int = 0, limit: int = -1) -> list[Row]:
        """Return (seq, kind, ticket, body) of the events after `since`, in order, including archived ones."""
        stop = None if limit < 0 else limit
        rows = list(islice(self.archive.rows(since), stop))
        if len(rows) == stop:
            return rows
        since, left = max(since, self.archive.mark.number), -1 if stop is None else stop - len(rows)
        query = "select seq, kind, ticket, body from events where seq > ? order by seq limit ?"
        return rows + self._rising(self._fetch(query, (since, left)), since)

    def _rising(self, rows: list[tuple[Any, ...]], since: int) -> list[tuple[Any, ...]]:
        """Return rows after `since`; raise LedgerError if their numbers do not rise: to read them all would not end."""
        if rows and rows[-1][0] < since + len(rows):
            raise LedgerError(f"the numbers of events in the ledger {self.path} do not rise. {DAMAGED}")
        return rows

    def events(self, since: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield (seq, event) of the events after `since`, in order; raise LedgerError if one cannot be decoded."""
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
        return (hash_events(end.digest, rows) or b"" if rows else end.digest).hex()

    def _last_end(self, seq: int) -> Mark:
        """Return the mark of the last commit that ends at or before an event."""
        if seq <= self.archive.mark.number:
            return self.archive.last_end(seq)
        query = "select seq, chain from events where seq <= ? and chain is not null order by seq desc limit 1"
        rows = self._fetch(query, (seq,))
        return (
            Mark(rows[0][0], rows[0][1] if isinstance(rows[0][1], bytes) else START.digest)
            if rows
            else self.archive.mark
        )

    def metrics(self, since: int, upto: int, limit: int = -1) -> list[Measured]:
        """Return the rows of metrics after the id `since` that were written no later than the event `upto`."""
        query = "select id, seq, elapsed, source, body from metrics where id > ? and seq <= ? order by id limit ?"
        rows = self._fetch(query, (since, upto, limit))
        try:
            return [
                Measured(number, seq, elapsed, source, msgspec.json.decode(body, type=dict[str, float]))
                for number, seq, elapsed, source, body in rows
            ]
        except (msgspec.MsgspecError, TypeError) as error:
            raise LedgerError(f"metrics of the ledger {self.path} are damaged: {error}. {DAMAGED}") from error

    @property
    def measured(self) -> int:
        """The id of the newest row of metrics."""
        return self._measured.number

    def notes(self) -> dict[str, str]:
        """Return the notes of trackers, by tracker name."""
        return {key.removeprefix(NOTE): value for key, value in self._meta.items() if key.startswith(NOTE)}

    def meta(self, key: str) -> str | None:
        """Return the value of a key, None if there is none: facts about the file, not about the league."""
        return self._meta.get(key)

    def set_meta(self, key: str, value: str) -> None:
        """Set the value of a key; raise LedgerFull if it cannot be written."""
        self._write(NOTHING, NOTHING, {key: value})

    def damage(self) -> list[str]:
        """Check the archive and every row of the database; return all problems, the first bad row first."""
        return self.archive.damage() + damage(self._connection, _SCHEMA, self.archive.mark)

    def settle(self) -> bool:
        """Checkpoint SQLite's log into the file; return whether that succeeded, as it does not on a full disk."""
        try:
            busy, logged, carried = self._connection.execute("pragma wal_checkpoint(full)").fetchone()
        except sqlite3.OperationalError:
            return False
        return not busy and logged == carried

    # --- the archive -------------------------------------------------------------------------------------------

    @property
    def live(self) -> int:
        """The number of events that are not archived."""
        return self.head - self.archive.mark.number

    def live_bytes(self) -> int:
        """Return the size of the used pages of the database in bytes."""
        (pages,), (free,) = (
            self._connection.execute(f"pragma {p}").fetchone() for p in ("page_count", "freelist_count")
        )
        return int(pages - free) * PAGE_BYTES

    def put_away(self, count: int) -> None:
        """Move the oldest events, `count` or a few more, into a segment of the archive.

        The segment is synced to disk before one transaction lists its name and deletes the rows. If the rows are not
        those that were committed, raise LedgerError and move nothing. After OSError or LedgerFull it may succeed later.
        """
        rows, marks = self._oldest(min(count, MOST_ROWS))
        while len(marks) > 1 and not fits(rows):
            marks = marks[: len(marks) // 2]
            rows = rows[: marks[-1].number - rows[0][0] + 1]
        if not marks:
            return
        if not fits(rows):
            raise LedgerFull(
                f"the commit up to event {marks[-1].number} is larger than a segment of the archive may be"
            )
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
        """Return the oldest rows up to the end of a commit, and the mark of each commit in them, after a check."""
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
        """Free up to `pages` unused pages of the file, but keep `spare` of them for reuse.

        Raise LedgerFull if the disk has no room for the log of this change.
        """
        (free,) = self._connection.execute("pragma freelist_count").fetchone()
        if free <= spare:
            return
        try:  # execute() would run only the first step, which frees one page
            self._connection.executescript(f"pragma incremental_vacuum({min(pages, free - spare)})")
        except sqlite3.OperationalError as error:
            raise LedgerFull(f"the ledger cannot be written: {error}") from error

    # --- queries, closing --------------------------------------------------------------------------------------

    def query(self, sql: str, *parameters: object) -> list[tuple[object, ...]]:
        """Run a read-only query on the database, which lacks archived events; `rows` includes them."""
        return self._fetch(sql, parameters)

    def _fetch(self, query: str, parameters: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raise LedgerError if SQLite cannot read them."""
        try:
            return self._connection.execute(query, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise LedgerError(f"the ledger {self.path} cannot be read: {error}. {DAMAGED}") from error

    def close(self) -> None:
        """Close the connection and release the lock."""
        self._connection.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def decode_row(seq: int, body: bytes) -> Event:
    """Return the event of a row; raise LedgerError, with its number, if it cannot be decoded."""
    try:
        return events.decode(body)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise LedgerError(
            f"event {seq} of the ledger cannot be read: {error}. Was it written by a newer Ludus, or changed by hand?"
        ) from error


@contextmanager
def open_copy(path: Path) -> Iterator[Ledger]:
    """Open a copy of a ledger, which a coordinator may be writing.

    Archived events are read in place: their files never change.
    """
    refuse_no_ledger(path)
    with tempfile.TemporaryDirectory(prefix="ludus-ledger-") as folder:
        copy = Path(folder) / path.name
        _copy(path, copy)
        try:
            with Ledger.open(copy, archive=path.with_name(ARCHIVE)) as ledger:
                yield ledger
        except LedgerError as error:
            if str(copy) not in str(error):
                raise
            raise LedgerError(str(error).replace(str(copy), str(path))) from error


def _copy(path: Path, copy: Path) -> None:
    """Copy the file and its log, consistent with each other.

    The log contains everything that the file may lack, even if SQLite checkpoints it during the copy, until SQLite
    restarts the log. If it did so during the copy, copy again.
    """
    _refuse_no_room(path, copy.parent)
    for _ in range(COPIES):
        before = generation(path)
        for suffix in ("", "-wal"):
            target = copy.with_name(copy.name + suffix)
            try:
                shutil.copyfile(path.with_name(path.name + suffix), target)
            except FileNotFoundError:  # the log is removed when a ledger is closed
                target.unlink(missing_ok=True)
        if generation(path) == before:
            return
    raise LedgerError(f"the ledger {path} changes faster than it can be copied: try again when the disk is less busy")


def _refuse_no_room(path: Path, folder: Path) -> None:
    """Raise LedgerError if a ledger is larger than what is free: a file of no content may claim any size."""
    logs = [log for log in (path.with_name(path.name + "-wal"),) if log.exists()]
    size, free = sum(file.stat().st_size for file in (path, *logs)), shutil.disk_usage(folder).free
    if size > free:
        raise LedgerError(
            f"the ledger {path} has {size:,} bytes, and its copy finds only {free:,} free in {folder.parent}. Point "
            "TMPDIR to a disk with more room"
        )


def refuse_no_ledger(path: Path) -> None:
    """Raise LedgerError if there is no ledger, or if something else is where it, or one of SQLite's files, belongs."""
    if not path.exists():
        raise LedgerError(f"there is no ledger at {path}")
    _refuse_irregular(path)


def _refuse_irregular(path: Path) -> None:
    """Raise LedgerError if one of SQLite's files is no file: SQLite would wait, or read for ever."""
    try:
        for suffix in ("", "-wal", "-shm", "-journal"):
            refuse_irregular(path.with_name(path.name + suffix))
    except IrregularFile as error:
        raise LedgerError(str(error)) from error


class Generation(NamedTuple):
    """Changes whenever SQLite restarts the log of a ledger; without a log, whenever the file changes."""

    log: bytes
    file: tuple[int, int, int]


def generation(path: Path) -> Generation:
    """Return the generation of a ledger. Files are opened, because only that bypasses the cache of a network mount."""
    try:
        with open_regular(path.with_name(path.name + "-wal")) as log:
            header = log.read(WAL_HEADER)
    except FileNotFoundError:
        header = b""
    if header:
        return Generation(header, (0, 0, 0))
    with open_regular(path) as file:
        stat = os.fstat(file.fileno())
    return Generation(b"", (stat.st_ino, stat.st_mtime_ns, stat.st_size))


def _connect(path: Path) -> sqlite3.Connection:
    _refuse_irregular(path)
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
    """Raise LedgerError if the ledger has another schema version, or other tables than those of this version.

    A view in place of a table could be endless, so tables are compared before they are read.
    """
    kind, made = connection.execute("select type, sql from sqlite_master where name = 'meta'").fetchone()
    if kind != "table" or not str(made).startswith("CREATE TABLE "):  # neither a view nor a virtual table
        raise LedgerError(FOREIGN.format(path))
    (version,) = connection.execute("select value from meta where key = 'schema_version'").fetchone() or ("?",)
    if version != str(SCHEMA_VERSION):
        raise LedgerError(
            f"the ledger {path} has schema version {version}, this Ludus reads version {SCHEMA_VERSION}: "
            "open it with the Ludus that wrote it, or start a new run"
        )
    if not has_tables(connection, _SCHEMA):
        raise LedgerError(FOREIGN.format(path))


def _end_of(connection: sqlite3.Connection, query: str, default: Mark) -> Mark:
    """Return the end of a chain, as its last row stores it, without a check."""
    row = connection.execute(query).fetchone()
    if row is None:
        return default
    return Mark(row[0], row[1] if isinstance(row[1], bytes) else START.digest)


def _ticket_of(event: Event) -> int | None:
    if isinstance(event, TicketIssued):
        return event.ticket.number
    ticket: int | None = getattr(event, "ticket", None)  # in all other events it is the number
    return ticket
