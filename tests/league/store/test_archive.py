"""The archive on a real disk: nothing is lost, nothing doubled, whenever the writer dies."""

import hashlib
import os
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing

import msgspec
import pytest

from league.events import (
    OperatorActed,
    ResultCounted,
    TermBegan,
    TicketIssued,
    TicketReissued,
    TicketVoided,
    TicketWithdrawn,
)
from league.store import archive
from league.store.archive import SegmentHead
from league.store.chain import START
from league.store.ledger import Ledger, LedgerError, LedgerFull, open_copy
from league.ticket import Entry, Episode, Purpose, Ticket


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


def issued(number):
    return TicketIssued(
        ticket=Ticket(number=number, purpose=Purpose.TRAIN, entries=(Entry("a"), Entry("b")), episodes=1)
    )


def counted(number):
    return ResultCounted(ticket=number, attempt=0, episodes=(Episode((0, 1), (1.0, -1.0), 9 + number % 7, b"\x00\n"),))


def fill(ledger, first=1, last=60):
    """Play some tickets, in commits of several sizes; two tickets are always open."""
    for number in range(first, last + 1):
        done = number - 2
        ledger.commit(
            [issued(number), *([counted(done)] if done >= first else []), *[TermBegan(term=1)] * (number % 3)]
        )


def everything(ledger):
    return ledger.rows(), [ledger.mark(seq) for seq in range(ledger.head + 1)], ledger.end


@pytest.fixture
def filled(path):
    with Ledger.open(path) as ledger:
        fill(ledger)
        yield ledger


def test_an_archived_event_that_is_still_in_the_database_is_damage(filled, path):
    filled.put_away(15)
    filled.close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("insert into events values(3, 'term_began', null, '{}', null)")
        database.commit()
    with Ledger.open(path) as ledger:
        assert ledger.damage() == ["event 3 is not part of the ledger, which goes on after number 16"]


def test_what_is_archived_is_read_as_before(filled, path):
    before = everything(filled)
    while filled.live > 20:
        filled.put_away(15)
        assert everything(filled) == before
        assert filled.damage() == []
    assert len(filled.archive) >= 5
    assert filled.query("select count(*) from events") == [(filled.live,)]
    assert filled.query("select min(seq) from events") == [(filled.archive.mark.number + 1,)]
    for since in range(0, filled.head, 7):
        for limit in (-1, 0, 1, 10, 40):
            expected = before[0][since:] if limit < 0 else before[0][since : since + limit]
            assert filled.rows(since, limit) == expected
            assert [seq for seq, _ in filled.read(since, limit)] == [row[0] for row in expected]
    assert [seq for seq, _ in filled.events()] == list(range(1, filled.head + 1))
    with open_copy(path) as copy:
        assert everything(copy) == before
        assert copy.damage() == []
    filled.close()
    with Ledger.open(path) as again:
        assert everything(again) == before


def test_the_ledger_goes_on_after_everything_was_archived(filled, path):
    before = filled.rows()
    filled.put_away(10_000)
    assert filled.live == 0
    filled.close()
    with Ledger.open(path) as ledger:
        assert ledger.rows() == before
        ledger.put_away(10)  # nothing to do
        assert len(ledger.archive) == 1
        fill(ledger, 61, 80)
        assert ledger.rows()[: len(before)] == before
        assert ledger.damage() == []
        ledger.put_away(10)
        assert ledger.damage() == []


@pytest.mark.parametrize(
    "event",
    [
        counted(5),
        issued(5),
        TicketVoided(ticket=5, why=""),
        TicketWithdrawn(ticket=5),
        TicketReissued(ticket=5, attempt=1, why=""),
    ],
)
def test_nothing_happens_to_a_ticket_that_is_settled_and_archived(filled, path, event):
    """The indexes of the database no longer know of it."""
    filled.put_away(50)
    head = filled.head
    with pytest.raises(sqlite3.IntegrityError, match="ticket 5 is archived"):
        filled.commit([TermBegan(term=9), event])
    assert filled.head == head
    filled.close()
    with Ledger.open(path) as ledger, pytest.raises(sqlite3.IntegrityError, match="ticket 5 is archived"):
        ledger.commit([event])


def test_a_ticket_that_was_open_when_it_was_archived_gets_one_result(filled):
    filled.put_away(10_000)
    assert filled.archive.head.open == (59, 60)
    filled.commit([counted(60)])
    with pytest.raises(sqlite3.IntegrityError):
        filled.commit([counted(60)])
    filled.put_away(1)
    assert filled.archive.head.open == (59,)
    with pytest.raises(sqlite3.IntegrityError, match="ticket 60 is archived"):
        filled.commit([counted(60)])
    with pytest.raises(sqlite3.IntegrityError, match="ticket 60 is archived"):
        filled.commit([issued(60)])
    filled.commit([counted(59), issued(61)])


def test_damaged_rows_are_not_archived(filled, path):
    filled._connection.execute("update events set body = body || ' ' where seq = 20")
    with pytest.raises(LedgerError, match=r"event .*changed: old events are not archived any more"):
        filled.put_away(50)
    assert len(filled.archive) == 0
    assert not list(path.parent.glob("archive/*.segment"))


def test_a_missing_or_damaged_segment_is_told_by_its_name(filled, path):
    filled.put_away(30)
    filled.put_away(30)
    filled.close()
    first, second = sorted(path.parent.glob("archive/*.segment"))
    data = first.read_bytes()
    first.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with Ledger.open(path) as ledger:
        assert str(first) in ledger.damage()[0]
        with pytest.raises(LedgerError, match="archived events are damaged"):
            ledger.rows()
        assert ledger.rows(since=ledger.archive.mark.number), "the others can still be read"
    first.unlink()
    with Ledger.open(path) as ledger, pytest.raises(LedgerError, match="archived events are missing"):
        ledger.rows()
    second.unlink()
    with pytest.raises(LedgerError, match="there is no file"):
        Ledger.open(path)
    with pytest.raises(LedgerError, match="there is no file"), open_copy(path):
        pass


@pytest.mark.parametrize(
    "statement",
    [
        "delete from archive where last = (select min(last) from archive)",
        "delete from archive where last = (select max(last) from archive)",
        "update archive set name = (select name from archive order by last limit 1)",
        "update archive set last = last + 1000 where last = (select max(last) from archive)",
        "update archive set name = replace(name, 'segment', 'regment')",
    ],
)
def test_a_changed_list_of_segments_is_found(filled, path, statement):
    filled.put_away(30)
    filled.put_away(30)
    filled.close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()
    assert any("damaged" in problem or "follow" in problem or "missing" in problem for problem in problems_of(path))


def problems_of(path):
    try:
        with open_copy(path) as ledger:
            return ledger.damage()
    except LedgerError as error:
        return [str(error)]


def test_room_is_given_back(path):
    with Ledger.open(path) as ledger:
        for first in range(1, 3001, 50):
            matches = [event for number in range(first, first + 50) for event in (issued(number), counted(number))]
            ledger.commit([*matches, OperatorActed(action="x" * 5000)])  # long ones lie in pages of their own
        ledger.settle()
        full = path.stat().st_size
        while ledger.live > 200:
            ledger.put_away(1000)
        ledger.shrink(50, 20)
        ledger.settle()
        some = path.stat().st_size
        for _ in range(100):
            ledger.shrink(50, 20)
        ledger.settle()
        assert ledger.live_bytes() <= path.stat().st_size < some < full
        assert full > 5 * path.stat().st_size
        assert ledger.query("pragma freelist_count")[0][0] <= 20
        assert ledger.query("pragma integrity_check") == [("ok",)]
        assert ledger.damage() == []


def test_a_full_disk_moves_nothing(filled, monkeypatch):
    before = everything(filled)

    def no_room(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("league.store.archive.publish_once", no_room)
    with pytest.raises(OSError, match="No space left"):
        filled.put_away(30)
    assert everything(filled) == before
    monkeypatch.undo()
    filled._connection.execute("pragma query_only=on")  # SQLite refuses to write
    with pytest.raises(LedgerFull):
        filled.put_away(30)
    filled._connection.execute("pragma query_only=off")
    assert everything(filled) == before
    filled.put_away(30)
    assert everything(filled) == before


# --- kill -9 at every step -----------------------------------------------------------------------------------

DYING = """
import os, signal, sys
from pathlib import Path
from league.store import files
from league.store.ledger import Ledger

def die(*arguments, **more):
    os.kill(os.getpid(), signal.SIGKILL)

class Dying:
    def __init__(self, connection, before, after):
        self._connection, self._before, self._after = connection, before, after
    def __getattr__(self, name):
        return getattr(self._connection, name)
    def execute(self, sql, *parameters):
        if self._before and sql.startswith(self._before):
            die()
        found = self._connection.execute(sql, *parameters)
        if self._after and sql.startswith(self._after):
            die()
        return found

point = sys.argv[2]
ledger = Ledger.open(Path(sys.argv[1]))
if point == "before the file is written":
    files._fill = die
elif point == "before it has its name":
    Path.hardlink_to = die
elif point == "before its name is durable":
    files._sync_directory = die
elif point == "after the file":
    ledger._connection = Dying(ledger._connection, "begin", None)
elif point == "before the delete":
    ledger._connection = Dying(ledger._connection, "delete", None)
elif point == "after the delete":
    ledger._connection = Dying(ledger._connection, None, "delete")
elif point == "after the commit":
    ledger._connection = Dying(ledger._connection, None, "commit")
ledger.put_away(40)
raise SystemExit("still alive")
"""
POINTS = [
    "before the file is written", "before it has its name", "before its name is durable", "after the file",
    "before the delete", "after the delete", "after the commit",
]  # fmt: skip


@pytest.mark.parametrize("point", POINTS)
def test_kill_9_loses_nothing_and_doubles_nothing(path, point):
    with Ledger.open(path) as ledger:
        fill(ledger)
        ledger.put_away(20)
        before = everything(ledger)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run([sys.executable, "-c", DYING, str(path), point], env=environment, timeout=60)
    assert ended.returncode == -9
    with open_copy(path) as copy:
        assert everything(copy) == before
    with Ledger.open(path) as ledger:
        assert len(ledger.archive) == (2 if point == "after the commit" else 1)
        assert everything(ledger) == before
        assert ledger.damage() == []
        ledger.put_away(40)
        ledger.put_away(40)
        assert everything(ledger) == before
        assert ledger.damage() == []
        with pytest.raises(sqlite3.IntegrityError):
            ledger.commit([counted(5)])
        fill(ledger, 61, 70)
    assert len(list(path.parent.glob("archive/*.segment"))) == len(ledger.archive)


def test_a_full_disk_gives_no_room_back(mount, tmp_path):
    disk = mount(tmp_path / "disk", size=8)
    with Ledger.open(disk.path / "ledger.sqlite") as ledger:
        ledger.commit([OperatorActed(action="x" * 5000)] * 200)
        ledger.commit([OperatorActed(action="y")])
        ledger.put_away(200)
        ledger.query("pragma wal_checkpoint(truncate)")  # else the log has room of its own
        disk.fill()
        with pytest.raises(LedgerFull, match="disk is full"):
            ledger.shrink(200, 0)
        disk.clear()
        ledger.shrink(200, 0)
        assert ledger.damage() == []


def plant(path, packed):
    """Put a segment with these bytes, rightly named, at the place of the first one, and list it."""
    head = SegmentHead(first=1, last=1, previous="", before="", after=START.digest.hex(), tickets=0, open=())
    data = msgspec.json.encode(head) + b"\n" + packed
    name = f"{1:012}-{1:012}-{hashlib.sha256(data).hexdigest()}.segment"
    path.with_name("archive").mkdir()
    (path.with_name("archive") / name).write_bytes(data)
    with closing(sqlite3.connect(path)) as database:
        database.execute("insert into archive values(1, ?)", (name,))
        database.commit()


def test_a_segment_that_unpacks_to_more_than_a_segment_may_have_is_refused(path, monkeypatch):
    Ledger.open(path).close()
    monkeypatch.setattr(archive, "MOST_BYTES", 1 << 20)
    plant(path, zlib.compress(bytes(1 << 22)))
    with pytest.raises(LedgerError, match="more than 1,048,576 bytes"):
        Ledger.open(path)


def test_a_segment_with_more_rows_than_a_segment_may_have_is_refused(path):
    Ledger.open(path).close()
    plant(path, zlib.compress(msgspec.msgpack.encode([[""] * (archive.MOST_ROWS + 1), [], b"", []])))
    with pytest.raises(LedgerError, match="length <= 1048576"):
        Ledger.open(path)


def test_events_that_are_too_large_for_one_segment_go_into_several(filled, monkeypatch):
    before = everything(filled)
    monkeypatch.setattr(archive, "MOST_BYTES", 8000)
    filled.put_away(60)
    assert 1 < filled.archive.mark.number < 60
    filled.put_away(60)
    assert everything(filled) == before
    assert filled.damage() == []
    monkeypatch.setattr(archive, "MOST_BYTES", 10)
    with pytest.raises(LedgerFull, match="larger than a segment"):
        filled.put_away(1)


def test_a_name_in_the_archive_that_is_no_text_is_damage(path):
    Ledger.open(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("insert into archive values(5, x'00')")
        database.commit()
    with pytest.raises(LedgerError, match="as its archive up to event 5: it is damaged"):
        Ledger.open(path)
