"""Whose answers stay unread is cut off, and nobody else, whatever becomes of file descriptors meanwhile."""

import os
import socket

import pytest

from league.wire import unread as module
from league.wire.unread import SCRAP, SLOWEST, TAKEN, Unread

ANSWER = bytes(2 * SCRAP)
LATE = TAKEN + len(ANSWER) / SLOWEST


@pytest.fixture
def pair():
    ends = socket.socketpair()
    yield ends
    for end in ends:
        end.close()


def answered(ours, now=0.0, answer=ANSWER):
    unread = Unread()
    unread.meet(b"x", ours.fileno())
    ours.sendall(answer)
    unread.sent(b"x", len(answer), now)
    return unread


def test_an_answer_that_is_not_taken_in_time_ends_its_connection(pair):
    ours, theirs = pair
    unread = answered(ours)
    assert unread.cut(LATE - 0.01) == []
    assert unread.cut(LATE) == [b"x"]
    assert ours.recv(1) == b""
    with pytest.raises(BrokenPipeError):
        theirs.send(b"more")
    assert unread.count == 1
    assert unread.cut(2 * LATE) == [], "once is enough"


def test_an_answer_that_was_taken_ends_nothing(pair):
    ours, theirs = pair
    unread = answered(ours)
    assert len(theirs.recv(len(ANSWER), socket.MSG_WAITALL)) == len(ANSWER)
    ours.send(b"a heartbeat that is under way")
    assert unread.cut(LATE) == []
    theirs.send(b"and on")
    assert ours.recv(6) == b"and on"


def test_each_answer_and_each_byte_gives_more_time(pair):
    unread = answered(pair[0])
    unread.sent(b"x", 10 * SLOWEST, 1.0)
    assert unread.cut(LATE) == []
    assert unread.cut(1.0 + TAKEN + 9.9) == []
    assert unread.cut(1.0 + TAKEN + 10.0) == [b"x"]


def test_a_descriptor_that_means_something_else_by_now_is_left_alone(pair, tmp_path):
    ours, _ = pair
    number = os.dup(ours.fileno())
    with socket.socket(fileno=number) as first:
        unread = answered(first)
        other, far = socket.socketpair()
        os.dup2(other.fileno(), number)
        other.sendall(ANSWER)
        assert unread.cut(LATE) == []
        far.send(b"alive")
        assert other.recv(5) == b"alive"
        unread.sent(b"x", 0, 0.0)
        with (tmp_path / "file").open("wb") as file:
            os.dup2(file.fileno(), number)
        assert unread.cut(LATE) == []
    unread.sent(b"x", 0, 0.0)
    assert unread.cut(LATE) == [], "nor one that is closed"
    for end in (other, far):
        end.close()


def test_what_is_remembered_is_bounded(pair, monkeypatch):
    monkeypatch.setattr(module, "CONNECTIONS", 3)
    unread = Unread()
    for number in range(10):
        unread.meet(b"%d" % number, pair[0].fileno())
        unread.sent(b"%d" % number, 0, 0.0)
    assert list(unread._connections) == list(unread._due) == [b"7", b"8", b"9"]
    unread.sent(b"0", 0, 0.0)
    unread.meet(b"gone", 1 << 20)
    assert len(unread._due) == 3
