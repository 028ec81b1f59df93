"""The ledger: an append-only log of events in SQLite, opened by the coordinator alone.

    with Ledger.open(path) as ledger:
        ledger.commit(events)                   # all of them durable, or none
        for seq, body in ledger.read(since=0): ...

Results are unique for each ticket by an index of the database itself, so not even a bug can count one twice.
"""

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import msgspec

from league import events
from league.events import Event, ResultCounted, TicketIssued, TicketReissued, TicketVoided, TicketWithdrawn

SCHEMA_VERSION = 1
WAL_HEADER = 32  # bytes of a log of SQLite that tell one beginning of it from all others
COPIES = 20  # attempts to copy a ledger that is being written

_SCHEMA = """
create table meta(key text primary key, value text not null);
create table events(seq integer primary key, kind text not null, ticket integer, body text not null);
create unique index one_issue on events(ticket) where kind = 'ticket_issued';
create unique index one_result on events(ticket) where kind = 'result_counted';
create table metrics(id integer primary key, seq integer not null, elapsed real not null,
                     source text not null, body text not null);
"""


NOTE = "note/"  # begins the keys of what trackers keep here


class Measured(msgspec.Struct, frozen=True, array_like=True):
    """A row of metrics: what a process measured, after which event, and after how many seconds of play."""

    id: int
    seq: int
    elapsed: float
    source: str
    values: dict[str, float]


class LedgerError(RuntimeError):
    """The ledger cannot be used; the message says why and what to do."""


class LedgerLocked(LedgerError):  # noqa: N818  (the condition is the name)
    """Another coordinator has the ledger."""


class LedgerFull(LedgerError):  # noqa: N818
    """A commit failed (disk full, I/O error). Nothing of it was written; it may work later."""


class Ledger:
    """The one connection to the ledger. It holds an exclusive lock until it is closed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.head: int = connection.execute("select coalesce(max(seq), 0) from events").fetchone()[0]

    @classmethod
    def open(cls, path: Path, patience: float = 0.0) -> "Ledger":
        """Open or create the ledger; wait up to `patience` seconds for another coordinator to let go."""
        deadline = time.monotonic() + patience
        while True:
            try:
                return cls(_connect(path))
            except sqlite3.DatabaseError as error:
                if "locked" not in str(error):
                    raise LedgerError(f"the ledger {path} cannot be opened: {error}") from error
                if time.monotonic() >= deadline:
                    raise LedgerLocked(f"another coordinator holds the ledger {path}") from error
            time.sleep(min(0.2, patience))

    def commit(
        self,
        batch: Sequence[Event],
        metrics: Sequence[tuple[float, str, dict[str, float]]] = (),
        notes: Mapping[str, str] | None = None,
    ) -> None:
        """Make events, metrics and notes durable in one transaction; raise LedgerFull, with nothing written."""
        rows = [
            (self.head + i, events.kind_of(event), _ticket_of(event), events.encode(event).decode())
            for i, event in enumerate(batch, start=1)
        ]
        head = self.head + len(rows)
        measured = [(head, at, source, msgspec.json.encode(values).decode()) for at, source, values in metrics]
        try:
            self._connection.execute("begin immediate")
            self._connection.executemany("insert into events values(?, ?, ?, ?)", rows)
            if measured:
                self._connection.executemany(
                    "insert into metrics(seq, elapsed, source, body) values(?, ?, ?, ?)", measured
                )
            for key, value in (notes or {}).items():
                self._connection.execute("insert or replace into meta values(?, ?)", (NOTE + key, value))
            self._connection.execute("commit")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
            if not isinstance(error, sqlite3.OperationalError):
                raise  # a second result of a ticket, say: that is a bug, and no later attempt mends it
            raise LedgerFull(f"the ledger cannot be written: {error}") from error
        self.head = head

    def read(self, since: int = 0, limit: int = -1) -> list[tuple[int, bytes]]:
        """Return (seq, body) of the events after `since`, in order."""
        query = "select seq, body from events where seq > ? order by seq limit ?"
        return [(seq, body.encode()) for seq, body in self._connection.execute(query, (since, limit))]

    def events(self, since: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield (seq, event) after `since`, in order."""
        while page := self.read(since, 10_000):
            for seq, body in page:
                try:
                    event = events.decode(body)
                except msgspec.MsgspecError as error:
                    raise LedgerError(
                        f"event {seq} of the ledger cannot be read: {error}. "
                        "Was it written by a newer Ludus, or changed by hand?"
                    ) from error
                yield seq, event
            since = page[-1][0]

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
        newest: int = self._connection.execute("select coalesce(max(id), 0) from metrics").fetchone()[0]
        return newest

    def notes(self) -> dict[str, str]:
        """Return what trackers keep here, by their names."""
        rows = self._connection.execute("select key, value from meta where key like ?", (NOTE + "%",))
        return {key.removeprefix(NOTE): value for key, value in rows}

    def meta(self, key: str) -> str | None:
        """Return what was kept under a key: facts about the file, not about the league."""
        row = self._connection.execute("select value from meta where key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value under a key; raise LedgerFull if it cannot be written."""
        try:
            self._connection.execute("insert or replace into meta values(?, ?)", (key, value))
        except sqlite3.OperationalError as error:
            raise LedgerFull(f"the ledger cannot be written: {error}") from error

    def query(self, sql: str, *parameters: object) -> list[tuple[object, ...]]:
        """Run a read-only query: `ludus verify` counts by plain SQL, apart from the fold."""
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


@contextmanager
def open_copy(path: Path) -> Iterator[Ledger]:
    """Open a copy of a ledger: a reader never touches the file itself. A coordinator may write it meanwhile."""
    if not path.exists():
        raise LedgerError(f"there is no ledger at {path}")
    with tempfile.TemporaryDirectory(prefix="ludus-ledger-") as folder:
        copy = Path(folder) / path.name
        _copy(path, copy)
        try:
            ledger = Ledger.open(copy)
        except LedgerError as error:
            raise LedgerError(str(error).replace(str(copy), str(path))) from error
        with ledger:
            yield ledger


def _copy(path: Path, copy: Path) -> None:
    """Copy the file and its log as they were at one moment.

    The log has everything that the file may lack, whatever is carried over from the one to the other meanwhile; until
    SQLite begins the log anew. A copy during which that happened is made again.
    """
    for _ in range(COPIES):
        before = _generation(path)
        for suffix in ("", "-wal"):
            target = copy.with_name(copy.name + suffix)
            try:
                shutil.copyfile(path.with_name(path.name + suffix), target)
            except FileNotFoundError:  # whoever closes a ledger removes its log
                target.unlink(missing_ok=True)
        if _generation(path) == before:
            return
    raise LedgerError(f"the ledger {path} changes faster than it can be copied: try again when the disk is less busy")


def _generation(path: Path) -> tuple[bytes, int, int]:
    """Return what changes when the log is begun anew: its header; where there is no log, the file itself."""
    try:
        with path.with_name(path.name + "-wal").open("rb") as log:
            header = log.read(WAL_HEADER)
    except FileNotFoundError:
        header = b""
    stat = path.stat()
    return (header, 0, 0) if header else (b"", stat.st_mtime_ns, stat.st_size)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    for pragma in ("locking_mode=exclusive", "journal_mode=wal", "synchronous=full"):
        connection.execute(f"pragma {pragma}")
    connection.execute("begin immediate")  # takes the exclusive lock, and keeps it
    try:
        found = connection.execute("select 1 from sqlite_master where name = 'meta'").fetchone()
        if not found:
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
            connection.execute("insert into meta values('schema_version', ?)", (str(SCHEMA_VERSION),))
        version = connection.execute("select value from meta where key = 'schema_version'").fetchone()[0]
    finally:
        connection.execute("commit")
    if int(version) != SCHEMA_VERSION:
        raise LedgerError(
            f"the ledger {path} has schema version {version}, this Ludus reads version {SCHEMA_VERSION}: "
            "open it with the Ludus that wrote it, or start a new run"
        )


def _ticket_of(event: Event) -> int | None:
    if isinstance(event, TicketIssued):
        return event.ticket.number
    if isinstance(event, ResultCounted | TicketReissued | TicketVoided | TicketWithdrawn):
        return event.ticket
    return None
