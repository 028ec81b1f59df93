"""A ledger that lies still is read in place; one that somebody writes is read from a copy."""

import sqlite3
from contextlib import closing

import pytest

from league.events import TermBegan
from league.store.in_place import LedgerChanged, look, open_still
from league.store.ledger import Ledger, LedgerError, LedgerFull


@pytest.fixture
def path(tmp_path):
    with Ledger.open(tmp_path / "ledger #1?.sqlite") as ledger:
        ledger.commit([TermBegan(term=1)])
    return tmp_path / "ledger #1?.sqlite"


def head(ledger):
    return ledger.head


def test_a_reader_never_stands_in_the_way_of_a_coordinator(path):
    reader = open_still(path)
    assert reader.__enter__().head == 1
    with Ledger.open(path) as ledger:
        ledger.commit([TermBegan(term=2)])
    with pytest.raises(LedgerChanged):
        reader.__exit__(None, None, None)


def test_a_reader_cannot_write(path):
    with open_still(path) as still, pytest.raises(LedgerFull, match="readonly"):
        still.set_meta("elapsed", "1.0")


def test_what_changes_while_it_is_read_is_read_again_from_a_copy(path):
    seen = []

    def meddling(ledger):
        seen.append(ledger.head)
        if len(seen) == 1:
            with Ledger.open(path) as other:
                other.commit([TermBegan(term=2)])
        return ledger.head

    assert look(path, meddling) == 2
    assert seen == [1, 2]


def test_trouble_that_comes_of_a_change_is_not_told_but_read_again(path):
    calls = []

    def meddling(ledger):
        calls.append(ledger.head)
        if len(calls) == 1:
            with Ledger.open(path) as other:
                other.commit([TermBegan(term=2)])
            raise KeyError("half of the one, half of the other")
        return ledger.head

    assert look(path, meddling) == 2


def test_trouble_of_its_own_is_told(path):
    def failing(ledger):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        look(path, failing)


def test_a_ledger_that_is_being_written_is_copied(path):
    with Ledger.open(path) as ledger:
        ledger.commit([TermBegan(term=2)])
        with pytest.raises(LedgerChanged), open_still(path):
            pass
        assert look(path, head) == 2


def test_what_is_no_ledger_is_told(path, tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger at"):
        look(tmp_path / "nowhere.sqlite", head)
    path.write_bytes(b"\xaa" * 20_000)
    with pytest.raises(LedgerError, match="cannot be opened: file is not a database"):
        look(path, head)
    with closing(sqlite3.connect(tmp_path / "old.sqlite")) as old, old:
        old.executescript("create table meta(key, value); insert into meta values('schema_version', '99');")
    with pytest.raises(LedgerError, match="has schema version 99"):
        look(tmp_path / "old.sqlite", head)


@pytest.mark.parametrize("begun", [False, True], ids=["an empty file", "a file without tables"])
def test_a_ledger_that_is_being_founded_is_empty(tmp_path, begun):
    path = tmp_path / "ledger.sqlite"
    path.touch()
    if begun:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("pragma auto_vacuum=incremental")
            connection.execute("pragma journal_mode=wal")
    assert look(path, lambda ledger: (ledger.head, ledger.read())) == (0, [])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ledger.sqlite"], "nothing was written"


ENDLESS = "with recursive n(x) as (select 1 union all select x + 1 from n) select x as {} from n"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("events", "seq, 'x' as kind, null as ticket, '{}' as body, null as chain"),
        ("metrics", "id, 1 as seq, 1.0 as elapsed, 'x' as source, '{}' as body, null as chain"),
        ("archive", "last, 'x' as name"),
        ("meta", "key, '6' as value"),
    ],
)
def test_an_endless_view_in_place_of_a_table_is_not_read(table, columns, path):
    with closing(sqlite3.connect(path)) as stranger:
        stranger.execute(f"alter table {table} rename to old")
        stranger.execute(f"create view {table} as {ENDLESS.replace('{}', columns)}")
        stranger.commit()
    for use in (lambda: look(path, head), lambda: Ledger.open(path).close()):
        with pytest.raises(LedgerError, match="are not those of Ludus"):
            use()


def test_numbers_that_do_not_rise_end_every_reader(path):
    with open_still(path) as ledger, pytest.raises(LedgerError, match="do not rise"):
        ledger._rising([(5, b""), (3, b"")], since=3)
