"""Flipped bits: `verify` finds every one that changes a row of the ledger, and names the row."""

import random
import re
import shutil
import sqlite3
import struct
from contextlib import closing

import pytest

from launch.verify.verify import verify
from league.store.ledger import Ledger, LedgerError, open_copy

TABLES = {"events": "seq", "metrics": "id", "meta": "key", "archive": "last"}


def flipped(value, rng):
    """Return a value with one bit flipped."""
    if isinstance(value, int):
        return value ^ (1 << rng.randrange(63))
    if isinstance(value, float):
        return struct.unpack(
            "<d", struct.pack("<Q", struct.unpack("<Q", struct.pack("<d", value))[0] ^ 1 << rng.randrange(64))
        )[0]
    data = bytearray(value.encode() if isinstance(value, str) else value)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def flip_by_sql(database, rng):
    """Flip one bit in a column of a row of a table; return where, or None if the database would not have it."""
    table, key = rng.choice(list(TABLES.items()))
    columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
    row = rng.choice(database.execute(f"select * from {table}").fetchall())
    place = rng.randrange(len(columns))
    value = row[place]
    if value is None or value in ("", b""):
        return None
    wanted = "cast(? as text)" if isinstance(value, str) else "?"
    try:
        with database:
            database.execute(
                f"update {table} set {columns[place]} = {wanted} where {key} = ?", (flipped(value, rng), row[0])
            )
    except sqlite3.IntegrityError:  # two rows of one number, or NaN, which SQLite takes for nothing
        return None
    return table, row[0], columns[place]


def dump(path):
    """Return every row of every table as it can be read, whatever is in it; None if it cannot."""
    try:
        with closing(sqlite3.connect(path)) as database:
            database.text_factory = lambda data: ("text", data)
            return [database.execute(f"select * from {table}").fetchall() for table in TABLES]
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # the names of columns are text, too
        return None


def opens(path):
    try:
        with closing(sqlite3.connect(path)) as database:
            database.execute("select count(*) from sqlite_master").fetchall()
    except sqlite3.DatabaseError:
        return False
    return True


def flip_in_file(run, rng, before):
    """Flip one bit of the file, such that SQLite opens it and rows differ."""
    data = run.ledger.read_bytes()
    while True:
        changed = bytearray(data)
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        run.ledger.write_bytes(changed)
        if opens(run.ledger) and dump(run.ledger) != before:
            return


def by_damage(run):
    """Return what the check of the chain says of a ledger; a ledger that cannot be opened says so, too."""
    try:
        with open_copy(run.ledger) as ledger:
            return ledger.damage()
    except LedgerError as error:
        return [str(error)]


@pytest.fixture
def run(run):
    """Return a run with metrics, notes and an archive, too."""
    with Ledger.open(run.ledger) as ledger:
        for i in range(10):
            ledger.commit(
                [], [(0.1 * i, f"collector-{j}", {"wait_share": 0.25 * j}) for j in range(3)], {"csv": f"{i}"}
            )
        ledger.put_away(20)
        ledger.put_away(20)
    return run


def tried(run, tmp_path, count, ask):
    """Flip so many bits by SQL and in the file; return how many were missed, and how many rows were named exactly."""
    rng, original, missed, named, rows = random.Random(7), tmp_path / "original", 0, 0, 0
    shutil.copy(run.ledger, original)
    before = dump(original)
    for i in range(count):
        shutil.copy(original, run.ledger)
        if i % 2:
            flip_in_file(run, rng, before)
            missed += not ask(run)
            continue
        with closing(sqlite3.connect(run.ledger)) as database:
            while (place := flip_by_sql(database, rng)) is None:
                pass
        told = ask(run)
        missed += not told
        if place[0] == "events" and place[2] != "seq":
            rows += 1
            first, last = re.match(r"event (\d+)(?: to (\d+))?:", told[0]).groups()
            assert int(first) <= place[1] <= int(last or first)
            named += last is None
    shutil.copy(original, run.ledger)
    assert ask(run) == []
    return missed, named, rows


@pytest.mark.slow
def test_flipped_bits_are_found_and_their_rows_named(run, tmp_path, figure):
    missed, named, rows = tried(run, tmp_path, 100, by_damage)
    figure(f"{100 - missed} of 100 flipped bits found; {named} of {rows} rows of events named exactly")
    assert missed == 0
    assert rows >= 5


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_verify_finds_a_thousand_of_a_thousand_flipped_bits(run, tmp_path, figure, capsys):
    run.fold.unlink()

    def ask(run):
        code = verify(run)
        text = capsys.readouterr().out
        assert code == bool("WRONG" in text)
        return [line.strip() for line in text.splitlines() if line.startswith("        ")] if code else []

    missed, named, rows = tried(run, tmp_path, 1000, ask)
    figure(f"{1000 - missed} of 1000 flipped bits found; {named} of {rows} rows of events named exactly")
    assert missed == 0
    assert rows > 50
