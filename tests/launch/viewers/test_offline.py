"""A run that nobody serves is read where it is: from the checkpoint of its fold and the events after it."""

import shutil
import sqlite3

import pytest

from launch.matches.playing import EpisodeFinder
from launch.viewers import reading, searching
from launch.viewers.reading import Matches
from launch.viewers.view import ViewError, open_view, read_offline, read_rules
from league.events import TermBegan
from league.state import LeagueState, apply
from league.store.fold import encode_fold, write_fold
from league.store.ledger import Ledger, open_copy


def whole(run):
    """Return the fold of all events, as bytes."""
    with open_copy(run.ledger) as ledger:
        return encode_fold(folded(ledger, run, ledger.head), 0)


def head_of(run):
    with open_copy(run.ledger) as ledger:
        return ledger.head


def folded(ledger, run, stop):
    state = LeagueState(read_rules(run))
    for seq, event in ledger.events():
        if seq <= stop:
            apply(state, event)
    return state


def viewed(run):
    return encode_fold(read_offline(run).state, 0)


def change(run, sql, *parameters):
    connection = sqlite3.connect(run.ledger)
    connection.execute(sql, parameters)
    connection.commit()
    connection.close()


def checkpoint_at(run, stop):
    with open_copy(run.ledger) as ledger:
        write_fold(run.fold, folded(ledger, run, stop), stop, ledger.mark(stop))


def end_of_a_commit(run, upto):
    with open_copy(run.ledger) as ledger:
        return ledger.query("select max(seq) from events where chain is not null and seq <= ?", upto)[0][0]


@pytest.fixture
def reads(monkeypatch):
    """Return how many rows were read, as a list of numbers."""
    rows, read = [], Ledger.read

    def counting(self, since=0, limit=-1):
        found = read(self, since, limit)
        rows.append(len(found))
        return found

    monkeypatch.setattr(Ledger, "read", counting)
    return rows


def listing(run):
    return {path: path.stat().st_mtime_ns for path in run.root.rglob("*")}


def test_a_view_reads_the_checkpoint_and_the_tail_only(run, reads, figure):
    expected, head = whole(run), head_of(run)
    stop = end_of_a_commit(run, head - 20)
    checkpoint_at(run, stop)
    change(run, "update events set body = 'unreadable' where seq < ?", stop)
    reads.clear()
    view = read_offline(run)
    assert encode_fold(view.state, 0) == expected
    assert view.seq == view.head == head
    assert sum(reads) == head - stop, "the tail; what names the history before it is beside its last event"
    figure(f"{sum(reads)} of {view.head} rows read by a view with a checkpoint")
    run.fold.unlink()
    with pytest.raises(ViewError, match="event 1 of the ledger cannot be read"):
        read_offline(run)


@pytest.mark.parametrize("command", ["status", "standings", "payoff", "matches", "explain"])
def test_every_command_that_reads_a_run_begins_at_the_checkpoint(run, command, capsys):
    look = {"explain": lambda: reading.explain(run, "main"), "matches": lambda: reading.matches(run, limit=3)}.get(
        command, lambda: getattr(reading, command)(run)
    )
    assert look() == 0
    expected, stop = capsys.readouterr().out, end_of_a_commit(run, head_of(run) - 20)
    checkpoint_at(run, stop)
    change(run, "update events set body = '{\"event\":\"unknown\"}' where seq < ? and kind != 'ticket_issued'", stop)
    assert look() == 0
    assert capsys.readouterr().out == expected
    run.fold.unlink()
    with pytest.raises(ViewError, match="cannot be read"):
        look()


def test_a_checkpoint_that_is_not_of_this_ledger_is_not_used(run, reads):
    expected, head = whole(run), read_offline(run).head
    good = run.fold.read_bytes()
    damaged = bytearray(good)
    damaged[len(good) // 2] ^= 4
    for content in (bytes(damaged), b"", good[:-1], b"no digest"):
        run.fold.write_bytes(content)
        reads.clear()
        assert viewed(run) == expected
        assert sum(reads) == head
    run.fold.write_bytes(good)
    change(run, "delete from events where seq > ?", head - 5)  # an older ledger was put in its place,
    assert viewed(run) == whole(run) != expected
    with Ledger.open(run.ledger) as ledger:  # and had another history since
        ledger.commit([TermBegan(term=7)] * 9)
    reads.clear()
    assert viewed(run) == whole(run)
    assert sum(reads) > head


def test_a_stopped_run_is_not_copied_locked_or_changed(run, monkeypatch):
    expected, before = whole(run), listing(run)
    monkeypatch.setattr(shutil, "copyfile", None)
    monkeypatch.setattr(Matches, "__call__", None)
    assert viewed(run) == expected
    open_view(run, Matches(None, 5))
    assert listing(run) == before


def test_what_a_killed_coordinator_left_in_its_log_is_read(run, tmp_path):
    ledger = Ledger.open(run.ledger)
    ledger.commit([TermBegan(term=41)])
    shutil.copytree(run.root, tmp_path / "killed", ignore=shutil.ignore_patterns("*.sock"))
    killed = type(run)(tmp_path / "killed")
    ledger.close()
    assert killed.ledger.with_name("ledger.sqlite-wal").stat().st_size > 0
    before = listing(killed)
    assert read_offline(killed).term == 41
    assert listing(killed) == before


def test_searching_finds_what_observing_finds(run):
    for player in (None, "main", "random"):
        for limit in (1, 5, 40, 10_000):
            seen, found = Matches(player, limit), Matches(player, limit)
            read_offline(run, lambda *told, seen=seen: seen(*told))
            read_offline(run, found)
            assert list(found.newest) == list(seen.newest)
    assert len(found.newest) > 3
    for number in (1, int(found.newest[-1]["ticket"]), 10**6):
        seen, found_again = EpisodeFinder(number), EpisodeFinder(number)
        read_offline(run, lambda *told, seen=seen: seen(*told))
        read_offline(run, found_again)
        assert (found_again.ticket, found_again.result) == (seen.ticket, seen.result)
        assert found_again.recent == seen.recent


def test_the_newest_matches_are_found_without_reading_the_rest(run, reads, monkeypatch):
    monkeypatch.setattr(searching, "PAGE", 10)
    found = Matches(None, 1)
    read_offline(run, found)
    assert len(found.newest) == 1
    assert sum(reads) < head_of(run) / 2
