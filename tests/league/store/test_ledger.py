"""The ledger on a real disk: durable or not at all, one writer, readable copies, clear words about trouble."""

import re
import shutil
import sqlite3
import subprocess
import sys

import pytest

from league.events import (
    LeagueFounded,
    OperatorActed,
    ResultCounted,
    TermBegan,
    TicketIssued,
    TicketReissued,
    TicketVoided,
    TicketWithdrawn,
)
from league.spec import Array, EnvSpec, Seat
from league.store.in_place import open_still
from league.store.ledger import PAGE_BYTES, Ledger, LedgerError, LedgerFull, LedgerLocked, open_copy
from league.ticket import Entry, Episode, Purpose, Ticket

ENV = EnvSpec(name="game", agents=("a",), seats=(Seat((0,)),), observation=Array((1,), "float32"), actions=2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


def issued(number):
    return TicketIssued(
        ticket=Ticket(number=number, purpose=Purpose.EVALUATE, entries=(Entry("a"), Entry("b")), episodes=1)
    )


def counted(number, actions=b""):
    return ResultCounted(ticket=number, attempt=0, episodes=(Episode((0, 1), (1.0, -1.0), 9, actions),))


def events_of(ledger, since=0):
    return list(ledger.events(since))


def test_events_come_back_in_order_with_numbers_without_gaps(path):
    batch = [LeagueFounded(seed=1, config="hash", env=ENV), TermBegan(term=1), issued(1), counted(1, b"\x00\xff")]
    with Ledger.open(path) as ledger:
        ledger.commit(batch[:2])
        ledger.commit(batch[2:])
        assert ledger.head == 4
    with Ledger.open(path) as ledger:
        assert ledger.head == 4
        assert events_of(ledger) == list(enumerate(batch, start=1))
        assert events_of(ledger, since=3) == [(4, batch[3])]
        assert [seq for seq, _ in ledger.read(since=1, limit=2)] == [2, 3]


def test_a_ticket_can_be_found_by_plain_sql(path):
    with Ledger.open(path) as ledger:
        ledger.commit(
            [
                issued(7),
                TicketReissued(ticket=7, attempt=1, why="slow"),
                counted(7),
                issued(8),
                TicketVoided(ticket=8, why="poison"),
                issued(9),
                TicketWithdrawn(ticket=9),
                TermBegan(term=1),
            ]
        )
        rows = ledger.query("select ticket, count(*) from events where ticket is not null group by ticket")
        assert rows == [(7, 3), (8, 2), (9, 2)]
        assert ledger.query("select kind from events where ticket is null") == [("term_began",)]


@pytest.mark.parametrize("make", [issued, counted])
def test_the_database_itself_refuses_a_second_result_or_issue(path, make):
    with Ledger.open(path) as ledger:
        ledger.commit([make(1)])
        with pytest.raises(sqlite3.IntegrityError):
            ledger.commit([TermBegan(term=1), make(1)])
        assert ledger.head == 1
        ledger.commit([make(2)])  # nothing of the refused batch was written, and the ledger works on
        assert [seq for seq, _ in ledger.events()] == [1, 2]


def test_a_full_disk_writes_nothing_of_a_batch_and_works_again_with_room(path):
    with Ledger.open(path) as ledger:
        ledger.commit([issued(1)])
        (pages,) = ledger._connection.execute("pragma page_count").fetchone()
        ledger._connection.execute(f"pragma max_page_count={pages}")
        long = bytes(50_000)
        with pytest.raises(LedgerFull, match="cannot be written"):
            ledger.commit([issued(2), counted(2, long)], [(1.0, "main", {"loss": 0.5})])
        assert ledger.head == 1
        assert events_of(ledger) == [(1, issued(1))]
        assert ledger.query("select count(*) from metrics") == [(0,)]
        ledger._connection.execute("pragma max_page_count=1000000")
        ledger.commit([issued(2), counted(2, long)])
        assert events_of(ledger)[2] == (3, counted(2, long))


FULL_DISK = """
import resource, sys
from pathlib import Path
from league.events import OperatorActed
from league.store.ledger import Ledger, LedgerFull
path = Path(sys.argv[1])
with Ledger.open(path) as ledger:
    ledger.commit([OperatorActed(action="before")])
    written = path.with_name(path.name + "-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, resource.RLIM_INFINITY))
    for _ in range(3):
        try:
            ledger.commit([OperatorActed(action="lost")] * 500)
            raise SystemExit("the disk is not full")
        except LedgerFull as error:
            print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    ledger.commit([OperatorActed(action="after")])
"""


def test_a_disk_that_is_really_full_loses_nothing_that_was_committed(path):
    """The system itself refuses to let the file grow, as it does on a full disk."""
    ended = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("the ledger cannot be written") == 3
    with Ledger.open(path) as ledger:
        assert [event.action for _, event in ledger.events()] == ["before", "after"]
        assert ledger.query("pragma integrity_check") == [("ok",)]


def test_metrics_are_kept_beside_the_events(path):
    with Ledger.open(path) as ledger:
        ledger.commit([issued(1)], [(0.5, "collector-0", {"wait_share": 0.25})])
        ledger.commit([], [(5.5, "collector-0", {"wait_share": 0.5})])
        rows = ledger.query("select seq, elapsed, source, body from metrics")
        assert rows == [(1, 0.5, "collector-0", '{"wait_share":0.25}'), (1, 5.5, "collector-0", '{"wait_share":0.5}')]


def test_meta_is_kept_and_replaced(path):
    with Ledger.open(path) as ledger:
        assert ledger.meta("elapsed") is None
        ledger.set_meta("elapsed", "1.5")
        ledger.set_meta("elapsed", "2.5")
    with Ledger.open(path) as ledger:
        assert ledger.meta("elapsed") == "2.5"


SECOND = """
import sys
from pathlib import Path
from league.store.ledger import Ledger, LedgerLocked
try:
    Ledger.open(Path(sys.argv[1]), patience=0.3)
except LedgerLocked as error:
    print(error)
    raise SystemExit(3)
"""


def second_process(path):
    return subprocess.run([sys.executable, "-c", SECOND, str(path)], capture_output=True, text=True, timeout=60)


def test_a_second_process_is_locked_out_until_the_first_lets_go(path):
    with Ledger.open(path):
        ended = second_process(path)
        assert ended.returncode == 3, ended.stderr
        assert ended.stdout.strip() == f"another coordinator holds the ledger {path}"
    assert second_process(path).returncode == 0


def test_a_second_opener_in_the_same_process_is_locked_out_too(path):
    with Ledger.open(path) as ledger, pytest.raises(LedgerLocked):
        Ledger.open(path)
    with pytest.raises(sqlite3.ProgrammingError):
        ledger.commit([issued(1)])  # closed


def test_a_copy_has_what_is_in_the_log_while_the_writer_lives(path):
    with Ledger.open(path) as ledger:
        ledger.commit([issued(1)])
        ledger.commit([counted(1)])
        assert path.with_name("ledger.sqlite-wal").stat().st_size > 0
        with open_copy(path) as copy:
            assert events_of(copy) == [(1, issued(1)), (2, counted(1))]
            copy.commit([issued(2)])
        ledger.commit([OperatorActed(action="pause")])
        assert events_of(ledger)[2] == (3, OperatorActed(action="pause"))


class Busy:
    """A writer that fills the log and restarts it, whenever the file has been copied and its log not yet."""

    def __init__(self, ledger, times):
        self.ledger, self.times, self.copied = ledger, times, 0
        self._copy = shutil.copyfile

    def __call__(self, source, target):
        self._copy(source, target)
        if source.suffix == ".sqlite":
            self.copied += 1
        if source.suffix == ".sqlite" and self.copied <= self.times:
            for _ in range(2):
                self.ledger.commit([counted(self.ledger.head + i, bytes(2000)) for i in range(1, 2000)])
            self.ledger.commit([TermBegan(term=1)])


def sound(ledger):
    """Return how many events there are, if nothing is missing."""
    assert ledger.query("pragma integrity_check") == [("ok",)]
    assert [seq for seq, _ in ledger.read()] == list(range(1, ledger.head + 1))
    return ledger.head


def test_a_copy_during_which_the_log_was_begun_anew_is_made_again(path, monkeypatch):
    with Ledger.open(path) as ledger:
        ledger.commit([counted(i, bytes(2000)) for i in range(1, 1500)])
        busy = Busy(ledger, times=2)
        monkeypatch.setattr(shutil, "copyfile", busy)
        with open_copy(path) as copy:
            assert sound(copy) == ledger.head
        assert busy.copied == 3


def test_a_ledger_that_cannot_be_copied_is_told(path, monkeypatch):
    monkeypatch.setattr("league.store.ledger.COPIES", 2)
    with Ledger.open(path) as ledger:
        ledger.commit([TermBegan(term=1)])
        monkeypatch.setattr(shutil, "copyfile", Busy(ledger, times=9))
        with pytest.raises(LedgerError, match="changes faster than it can be copied"), open_copy(path):
            pass


WRITER = """
import sys, time
from pathlib import Path
from league.events import ResultCounted
from league.store.ledger import Ledger
from league.ticket import Episode

ledger = Ledger.open(Path(sys.argv[1]))
while True:
    episode = Episode((0, 1), (1.0, -1.0), 9, bytes(2000))
    ledger.commit([ResultCounted(ticket=ledger.head + i, attempt=0, episodes=(episode,)) for i in range(1, 50)])
    time.sleep(0.02)
"""


@pytest.mark.slow
def test_copies_beside_a_busy_writer_are_whole(path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)])
    try:
        heads = []
        while len(heads) < 20 or heads[-1] < 4000:
            assert writer.poll() is None
            if path.exists() and path.with_name("ledger.sqlite-wal").exists():
                with open_copy(path) as copy:
                    heads.append(sound(copy))
    finally:
        writer.kill()
        writer.wait()
    assert heads == sorted(heads)
    with open_copy(path) as copy:
        assert sound(copy) >= heads[-1]


def test_there_is_no_copy_of_nothing(path):
    with pytest.raises(LedgerError, match="there is no ledger at"), open_copy(path):
        pass


def test_a_ledger_of_another_version_says_who_can_read_it(path):
    Ledger.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("update meta set value = '99' where key = 'schema_version'")
    connection.commit()
    connection.close()
    for opening in (lambda: Ledger.open(path), lambda: open_copy(path).__enter__()):
        with pytest.raises(LedgerError, match="has schema version 99, this Ludus reads version 6") as caught:
            opening()
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("damage", ["header", "pages"])
def test_a_damaged_file_is_told_by_its_name(path, damage):
    with Ledger.open(path) as ledger:
        ledger.commit([counted(number, bytes(2000)) for number in range(1, 20)])
    data = bytearray(path.read_bytes())
    start = 0 if damage == "header" else 4096
    data[start : start + 20_000] = b"\xaa" * 20_000
    path.write_bytes(data)
    for opening in (lambda: Ledger.open(path), lambda: open_copy(path).__enter__()):
        with pytest.raises(LedgerError, match="cannot be opened") as caught:
            opening()
        assert str(path) in str(caught.value)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(LedgerError, match="cannot be opened: unable to open"):
        Ledger.open(tmp_path / "nowhere" / "ledger.sqlite")


def test_an_event_that_cannot_be_read_is_told_by_its_number(path):
    with Ledger.open(path) as ledger:
        ledger.commit([issued(1), TermBegan(term=1)])
        ledger._connection.execute('update events set body = \'{"event":"term_ended"}\' where seq = 2')
        with pytest.raises(LedgerError, match="event 2 of the ledger cannot be read"):
            events_of(ledger)


@pytest.mark.parametrize("change", ["key = null", "key = x'00'", "value = x'00'"])
def test_a_fact_that_is_no_text_any_more_breaks_the_seal_and_nothing_else(path, change):
    """A flipped bit may turn a text into NULL or a blob."""
    with Ledger.open(path) as ledger:
        ledger.set_meta("elapsed", "1.5")
    connection = sqlite3.connect(path)
    connection.execute(f"update meta set {change} where key = 'elapsed'")
    connection.commit()
    connection.close()
    with Ledger.open(path) as ledger:
        assert not ledger.sealed
        assert any("table meta" in problem for problem in ledger.damage())
        ledger.set_meta("elapsed", "2.5")
        assert ledger.meta("elapsed") == "2.5"


@pytest.mark.parametrize("opening", [open_still, open_copy])
@pytest.mark.parametrize("read", [Ledger.read, Ledger.rows, lambda ledger: ledger.query("select body from events")])
def test_a_damaged_page_is_an_error_that_names_verify(path, opening, read):
    with Ledger.open(path) as ledger:
        ledger.commit([counted(number, bytes(2000)) for number in range(1, 60)])
    data = bytearray(path.read_bytes())
    data[len(data) // 2 // PAGE_BYTES * PAGE_BYTES] ^= 0xFF  # the kind of a page in the middle, which has events
    path.write_bytes(data)
    told = f"the ledger {path} cannot be read: database disk image is malformed. `ludus verify` says"
    with pytest.raises(LedgerError, match=re.escape(told)), opening(path) as ledger:
        read(ledger)


def test_the_error_of_a_copy_names_the_ledger(path):
    with Ledger.open(path) as ledger:
        ledger.commit([counted(1)])
    with pytest.raises(LedgerError, match=f"the ledger {path} cannot be read"), open_copy(path) as ledger:
        ledger.query("select nothing from events")


def test_damaged_metrics_are_an_error_that_names_verify(path):
    with Ledger.open(path) as ledger:
        ledger.commit([], [(1.0, "collector-0", {"wait_share": 0.5})])
        ledger._connection.execute("update metrics set body = 'unreadable'")
        with pytest.raises(LedgerError, match=r"metrics of the ledger .* are damaged: .*`ludus verify`"):
            ledger.metrics(0, 0)
