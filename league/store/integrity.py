"""Checks the tables of a ledger against their hashes.

for found in check_events(connection): ...      # every link of the events after a mark
problems = damage(connection, schema)           # all problems of a ledger, the first bad row first
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from league.store.chain import SEAL, START, Found, Mark, Read, Row, follow, hash_events, hash_metrics, sealed, to_text

HEAD, MEASURED = "head", "measured"  # keys of the ends of the two chains, written with each seal
PAGE = 5000  # rows read at a time
MOST = 100  # problems listed for one table, at most

_EVENTS = "select seq, kind, ticket, body, chain from events where seq > ? order by seq limit ?"
_METRICS = "select id, seq, elapsed, source, body, chain from metrics where id > ? order by id limit ?"


def check_events(
    connection: sqlite3.Connection, at: Mark = START, page: int = PAGE, search: bool = False
) -> Iterator[Found]:
    """Check the events after a mark, link by link."""
    return follow(at, _reader(connection, _EVENTS, page), hash_events, search)


def check_metrics(
    connection: sqlite3.Connection, at: Mark = START, page: int = PAGE, search: bool = False
) -> Iterator[Found]:
    """Check the metrics after a mark, link by link."""
    return follow(at, _reader(connection, _METRICS, page), hash_metrics, search)


def damage(connection: sqlite3.Connection, schema: str, at: Mark = START) -> list[str]:
    """Return all problems of a ledger's database, whose events start after `at`: rows, facts, schema, pages."""
    problems = _unreachable(connection, "event", "events where seq", at.number)
    problems += _unreachable(connection, "metrics row", "metrics where id", START.number)
    problems += _problems_of("event", check_events(connection, at, search=True))
    problems += _problems_of("metrics row", check_metrics(connection, search=True))
    try:
        problems += check_facts(connection, at)
        if _schema(connection) != _expected(schema):
            problems.append("the tables or indexes of the database are not those that Ludus makes")
        lines = [str(line) for (line,) in connection.execute(f"pragma integrity_check({MOST})")]
        problems += [f"SQLite: {line}" for line in lines if line != "ok"]
    except sqlite3.DatabaseError as error:
        problems.append(f"SQLite: {error}")
    return problems


def _unreachable(connection: sqlite3.Connection, what: str, numbers: str, last: int) -> list[str]:
    """Return the rows up to number `last`, where no chain begins: reading in order never meets them."""
    key = numbers.split()[-1]
    try:
        found = connection.execute(f"select {key} from {numbers} <= ? order by {key} limit ?", (last, MOST)).fetchall()
    except sqlite3.DatabaseError as error:
        return [f"{what} {last} or an earlier one cannot be read: {error}"]
    return [f"{what} {number} is not part of the ledger, which goes on after number {last}" for (number,) in found]


def check_facts(connection: sqlite3.Connection, at: Mark = START) -> list[str]:
    """Return the problems of the facts about the file: a wrong seal, or a chain without the end that they record."""
    facts: dict[str, str] = dict(_reader(connection, "select key, value from meta where 0 <= ? limit ?", PAGE)(0))
    if not all(isinstance(text, str) for pair in facts.items() for text in pair) or sealed(facts) != facts:
        return ["the facts about the ledger (table meta) are not those that were sealed"]
    problems = []
    if facts[MEASURED] != to_text(_last(connection, "select id, chain from metrics order by id desc limit 1", START)):
        problems.append(f"the metrics do not end with row {facts[MEASURED].split()[0]}, where they ended last")
    number = int(facts[HEAD].split()[0])
    query = f"select seq, chain from events where seq = {number}"
    if number > at.number and facts[HEAD] != to_text(_last(connection, query, START)):
        problems.append(f"event {number} is not the one that was the last when the facts were sealed")
    return problems


def seal_holds(facts: Mapping[str, str]) -> bool:
    """Return whether the seal of the facts matches them."""
    return facts.get(SEAL) == sealed(facts)[SEAL]


def _last(connection: sqlite3.Connection, query: str, default: Mark) -> Mark:
    row = connection.execute(query).fetchone()
    return default if row is None or not isinstance(row[1], bytes) else Mark(row[0], row[1])


def _problems_of(what: str, links: Iterable[Found]) -> list[str]:
    problems: list[str] = []
    at = 0
    try:
        for found in links:
            at = found.at.number
            if found.problem and len(problems) < MOST:
                problems.append(f"{what} {found.problem}")
    except sqlite3.DatabaseError as error:
        problems.append(f"{what} {at + 1} or a later one cannot be read: {error}")
    return problems


def _reader(connection: sqlite3.Connection, query: str, page: int) -> Read:
    """Return a function that reads pages of rows. Text that is not UTF-8 becomes a tuple, which matches no hash."""

    def read(number: int) -> list[Row]:
        try:
            return connection.execute(query, (number, page)).fetchall()
        except sqlite3.OperationalError:
            connection.text_factory = _text
            try:
                return connection.execute(query, (number, page)).fetchall()
            finally:
                connection.text_factory = str

    return read


def _text(data: bytes) -> str | tuple[bytes]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return (data,)  # neither text nor a blob: the ledger never writes a tuple


def has_tables(connection: sqlite3.Connection, schema: str) -> bool:
    """Return whether a database has the tables of a schema and nothing that is not in it; an index may be missing.

    A missing index makes nothing dangerous to read: `damage` finds it.
    """
    found, wanted = set(_schema(connection)), set(_expected(schema))
    return found <= wanted and {row for row in wanted if row[0] == "table"} <= found


def _schema(connection: sqlite3.Connection) -> list[Row]:
    return sorted(connection.execute("select type, name, tbl_name, sql from sqlite_master where sql is not null"))


@lru_cache(maxsize=4)
def _expected(schema: str) -> list[Row]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(schema)
        return _schema(connection)
    finally:
        connection.close()
