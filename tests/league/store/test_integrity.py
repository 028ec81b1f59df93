"""Checks of a ledger's tables: a sound one is clean, and each kind of damage is named."""

import sqlite3
from contextlib import closing

import pytest

from league.events import TermBegan
from league.store.chain import sealed
from league.store.integrity import check_events, check_facts, check_metrics, damage, seal_holds
from league.store.ledger import Ledger


@pytest.fixture
def connection(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        for term in range(1, 5):
            ledger.commit([TermBegan(term=term)], [(1.0, "main", {"loss": term})])
    with closing(sqlite3.connect(path)) as opened:
        yield opened


def schema_of(connection):
    return ";".join(sql for (sql,) in connection.execute("select sql from sqlite_master where sql is not null"))


def test_a_sound_ledger_has_no_damage(connection):
    assert damage(connection, schema_of(connection)) == []
    assert [found.at.number for found in check_events(connection, page=2)] == [1, 2, 3, 4]
    assert [found.at.number for found in check_metrics(connection)] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("update events set ticket = 9 where seq = 3", "event 3"),
        ("update events set body = cast(x'ff' as text) where seq = 3", "event 3"),
        ("insert into events values(0, 'term_began', null, '{}', null)", "event 0 is not part of the ledger"),
        ("insert into events values(-5, 'x', null, 'y', zeroblob(3))", "event -5 is not part of the ledger"),
        ("insert into metrics values(-7, 1, 1.0, 'main', '{}', null)", "metrics row -7 is not part of the ledger"),
        ("update metrics set elapsed = 7 where id = 2", "metrics row 2"),
        ("update meta set value = '3' where key = 'schema_version'", "table meta"),
        ("delete from metrics where id = 4", "the metrics do not end with row 4"),
        ("create table more (x)", "are not those that Ludus makes"),
    ],
)
def test_each_kind_of_damage_is_named(connection, statement, problem):
    schema = schema_of(connection)
    connection.execute(statement)
    assert problem in damage(connection, schema)[0]


def test_a_seal_is_about_every_fact(connection):
    facts = dict(connection.execute("select key, value from meta"))
    assert check_facts(connection) == []
    assert seal_holds(facts)
    assert not seal_holds(facts | {"schema_version": "3"})
    assert seal_holds(sealed(facts | {"schema_version": "3"}))
    assert not seal_holds({})
