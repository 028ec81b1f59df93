"""The scrub on a real file: it finds bytes that change beneath the coordinator, and never gives up the lock."""

import subprocess
import sys

import pytest

from league.events import OperatorActed, TermBegan
from league.store.ledger import Ledger
from league.store.scrub import ROWS, Scrub

WORD = "a-word-that-is-nowhere-else"


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        for i in range(20):
            ledger.commit([OperatorActed(action=f"{WORD}-{i}-{j}") for j in range(50)], [(1.0, "main", {"loss": i})])
        yield ledger


def change(path, old, new):
    """Write other bytes into a file, without touching its locks: another process does it."""
    code = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); f = p.open('r+b'); d = f.read(); "
    code += "i = d.index(sys.argv[2].encode()); f.seek(i); f.write(sys.argv[3].encode())"
    subprocess.run([sys.executable, "-c", code, str(path), old, new], check=True, timeout=60)


def looks(scrub, count=30):
    return [problem for _ in range(count) if (problem := scrub.look())]


def test_what_is_sound_is_never_blamed(ledger):
    scrub = Scrub(ledger)
    for i in range(100):
        assert scrub.look() == ""
        ledger.commit([TermBegan(term=i)] * (1 + i % 7 * 60))
    assert scrub.rounds > 1


def test_a_look_reads_a_bounded_number_of_rows(ledger):
    scrub = Scrub(ledger)
    scrub.look()
    assert ROWS <= scrub._events.number <= ROWS + 50


def test_a_byte_that_changes_in_the_file_is_found_though_the_database_remembers_it(ledger):
    scrub = Scrub(ledger)
    assert looks(scrub) == []
    assert ledger.settle()
    change(ledger.path, f"{WORD}-7-31", f"{WORD[:-1]}f-7-31")
    assert WORD in ledger.read(7 * 50 + 31, 1)[0][1].decode(), "the connection still has the page as it was"
    found = looks(scrub)
    assert found[0] == f"event {7 * 50 + 32}: the row was changed" or f"{7 * 50 + 1} to {7 * 50 + 50}" in found[0]
    assert set(found) == {found[0]}


def test_a_metrics_row_that_changes_is_found(ledger):
    assert ledger.settle()
    change(ledger.path, '{"loss":7}', '{"loss":9}')
    assert any("metrics row 8" in problem for problem in looks(Scrub(ledger)))


def test_what_is_newer_in_the_log_is_no_damage(ledger):
    assert ledger.settle()
    change(ledger.path, f"{WORD}-7-31", f"{WORD[:-1]}f-7-31")
    ledger._connection.execute("update events set body = body || ' ' where seq = ?", (7 * 50 + 32,))
    ledger._connection.execute("update events set body = trim(body) where seq = ?", (7 * 50 + 32,))  # now in the log
    assert looks(Scrub(ledger)) == []


def test_the_lock_is_kept(ledger):
    looks(Scrub(ledger))
    code = (
        "import sys; from pathlib import Path; from league.store.ledger import Ledger; Ledger.open(Path(sys.argv[1]))"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(ledger.path)], capture_output=True, text=True, timeout=60)
    assert "another coordinator holds the ledger" in ended.stderr


def test_archived_segments_are_read_again_too(ledger):
    for _ in range(3):
        ledger.put_away(100)
    scrub = Scrub(ledger)
    assert looks(scrub, 60) == []
    assert scrub.rounds > 2
    segment = sorted(ledger.path.parent.glob("archive/*.segment"))[1]
    data = segment.read_bytes()
    segment.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    found = looks(scrub, 60)
    assert set(found) == {found[0]}
    assert segment.name in found[0]


def test_a_full_disk_stops_no_look(mount, tmp_path):
    """While the disk is full, SQLite's log cannot be carried over: what only the log has is no damage, and no crash."""
    disk = mount(tmp_path / "disk", size=4)
    with Ledger.open(disk.path / "ledger.sqlite") as ledger:
        ledger.commit([OperatorActed(action=WORD)] * 50)
        assert ledger.settle()
        scrub = Scrub(ledger)
        while ledger.query("pragma page_count")[0][0] < 300:  # of these the file has the first few
            ledger.commit([OperatorActed(action=WORD * 20)] * 50)
        disk.fill()
        assert not ledger.settle()
        assert looks(scrub) == []
        disk.clear()
        assert ledger.settle()
        assert looks(scrub) == []
