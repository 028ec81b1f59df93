"""The board of ranks that do not wait: notes are whole, the newest, and read once."""

import os
from datetime import timedelta
from threading import Thread

import pytest
from dict_board import DictStore, boards
from torch.distributed import TCPStore

from learners import notice_board
from learners.notice_board import StoreBoard


def test_a_note_is_read_once_and_only_the_newest():
    first, second = boards(2)
    assert second.newer("weights", 0) is None
    first.write("weights", b"one")
    first.write("weights", b"two")
    assert second.newer("weights", 0) == b"two"
    assert second.newer("weights", 0) is None
    first.write("weights", b"")
    assert second.newer("weights", 0) == b""
    assert second.newer("weights", 1) is None, "of another rank"


def test_old_notes_leave_the_store():
    store = DictStore()
    first, _ = boards(2, store)
    for number in range(20):
        first.write("weights", bytes([number]))
    assert len(store.keys) == 3, "two notes and the announcement"


def test_an_erased_note_leaves_nothing():
    store = DictStore()
    first, second = boards(2, store)
    for note in (b"one", b"two", b"three"):
        first.write("weights", note)
    first.erase("weights")
    first.erase("never written")
    assert store.keys == {}
    assert second.newer("weights", 0) is None


def test_a_reader_that_is_overtaken_gets_nothing_then_the_newest(monkeypatch):
    monkeypatch.setattr(notice_board, "CHUNK", 2)
    store = DictStore()
    first, second = boards(2, store)
    first.write("weights", b"abcde")
    del store.keys["weights/0/0/1"]
    assert second.newer("weights", 0) is None
    first.write("weights", b"fghij")
    assert second.newer("weights", 0) == b"fghij"


def test_flags_are_for_all():
    first, second = boards(2)
    assert not first.flag("stop")
    second.raise_flag("stop")
    assert first.flag("stop")


def test_a_note_waits_to_be_read_again():
    first, second = boards(2)
    first.write("start", b"here")
    assert second.wait("start", 0) == second.wait("start", 0) == b"here"


def test_a_reader_never_waits_for_a_note_that_its_writer_replaces():
    store = TCPStore("127.0.0.1", 0, 1, is_master=True, timeout=timedelta(seconds=2))
    mine, theirs = StoreBoard(store, 0, 2), StoreBoard(store.clone(), 1, 2)
    writer = Thread(target=lambda: [mine.write("weights", b"%d" % number) for number in range(3000)])
    writer.start()
    found = []
    while writer.is_alive():
        found += [note for note in [theirs.newer("weights", 0)] if note is not None]
    writer.join()
    found += [note for note in [theirs.newer("weights", 0)] if note is not None]
    assert [int(note) for note in found] == sorted({int(note) for note in found})
    assert found[-1] == b"2999"


@pytest.mark.parametrize("size", [0, 10, 9 << 20], ids=["nothing", "little", "more than one value may hold"])
def test_torchs_own_store_carries_notes(size):
    store = TCPStore("127.0.0.1", 0, 1, is_master=True, timeout=timedelta(seconds=30))
    note = os.urandom(size)
    writer, reader = StoreBoard(store, 0, 2), StoreBoard(store, 1, 2)
    writer.write("weights/main", note)
    assert reader.newer("weights/main", 0) == note
    assert reader.newer("weights/main", 0) is None
    writer.raise_flag("stop")
    assert reader.flag("stop")
