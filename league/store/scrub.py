"""The scrub: re-reads old rows of a ledger while a coordinator writes it, some at a time, in an endless cycle.

    scrub = Scrub(ledger)
    problem = scrub.look()          # periodically; "" if the rows are those that were committed

It reads the file through a connection of its own: the page cache of the coordinator's connection would hide damage.
"""

import sqlite3
from collections.abc import Callable, Iterator

from league.store.chain import START, Found, Mark
from league.store.integrity import check_events, check_metrics
from league.store.ledger import Ledger

ROWS = 300  # rows read in one look, or a few more: links are read whole

Check = Callable[[sqlite3.Connection, Mark, int], Iterator[Found]]


class Scrub:
    """Checks a ledger step by step; remembers where the next look begins in each of the two chains."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._events = self._metrics = START
        self._segment = self._turn = 0
        self.rounds = 0  # complete passes over all events

    def look(self) -> str:
        """Check the next rows of the file; return the problem of the first bad one, "" if there is none."""
        self._turn += 1
        if self._turn % 8 == 0:  # there are far fewer metrics
            problem, self._metrics = self._look("metrics row", check_metrics, self._metrics)
            return problem
        archive = self._ledger.archive
        if self._turn % 8 == 4 and len(archive):
            self._segment = (self._segment + 1) % len(archive)
            return archive.look(self._segment)
        at = max(self._events, archive.mark, key=lambda mark: mark.number)
        problem, self._events = self._look("event", check_events, at)
        self.rounds += self._events.number < at.number
        return problem

    def _look(self, what: str, check: Check, at: Mark) -> tuple[str, Mark]:
        problem, after = self._read(what, check, at)
        if not problem:
            return "", after
        if not self._ledger.settle():  # the file may lack what is still in the log
            return "", at
        return self._read(what, check, at)

    def _read(self, what: str, check: Check, at: Mark) -> tuple[str, Mark]:
        """Return the problem of the next rows, and where the next look begins: at the start after the last row."""
        first = at
        # Opening and closing the file directly would release the ledger's lock; a second SQLite connection does not.
        connection = sqlite3.connect(f"{self._ledger.path.absolute().as_uri()}?immutable=1", uri=True)
        try:
            for found in check(connection, at, ROWS):
                first = found.at
                if found.problem:
                    return f"{what} {found.problem}", found.at
                if found.at.number >= at.number + ROWS:
                    break
        except sqlite3.DatabaseError as error:
            return f"{what} {first.number + 1} or a later one cannot be read: {error}", START
        finally:
            connection.close()
        return "", START if first == at else first
