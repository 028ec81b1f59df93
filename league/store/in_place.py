"""Reads a ledger in place while no process writes it: without a copy, a lock, or a change to any file.

    view = look(run.ledger, lambda ledger: fold(ledger))

A coordinator writes to the log beside the file before it writes to the file itself. So the file is complete while there
is no log, and what was read is valid if neither changed meanwhile. If one did, the ledger is read again from a copy.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from league.store.ledger import ARCHIVE, Ledger, LedgerError, check_schema, generation, open_copy, refuse_no_ledger

Found = TypeVar("Found")


class LedgerChanged(LedgerError):  # noqa: N818  (the condition is the name)
    """A process writes the ledger, or wrote it during the read: what was read may be wrong."""


def look(path: Path, use: Callable[[Ledger], Found]) -> Found:
    """Return `use(ledger)`. If the ledger changes meanwhile, call `use` again with a copy."""
    refuse_no_ledger(path)
    try:
        with open_still(path) as ledger:
            return use(ledger)
    except LedgerChanged:
        with open_copy(path) as ledger:
            return use(ledger)


@contextmanager
def open_still(path: Path) -> Iterator[Ledger]:
    """Open a ledger in place for reading; raise LedgerChanged, on exit at the latest, if a process writes it."""
    before = generation(path)
    if before.log:
        raise LedgerChanged(f"the ledger {path} has a log")
    try:
        ledger = _open_immutable(path)
        with ledger:
            yield ledger
    except Exception as error:
        if generation(path) != before:  # the change explains the error
            raise LedgerChanged(f"the ledger {path} changed while it was read") from error
        raise
    if generation(path) != before:
        raise LedgerChanged(f"the ledger {path} changed while it was read")


def _open_immutable(path: Path) -> Ledger:
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise LedgerError(f"the ledger {path} cannot be opened: {error}") from error
    try:
        if not connection.execute("select 1 from sqlite_master where name = 'meta'").fetchone():
            raise LedgerChanged(f"the ledger {path} is being founded: it has no tables yet")
        check_schema(connection, path)
        return Ledger(connection, path, path.with_name(ARCHIVE))
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise LedgerError(f"the ledger {path} cannot be opened: {error}") from error
        raise
