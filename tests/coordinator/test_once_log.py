"""Warnings that repeat are logged once."""

from coordinator import once_log
from coordinator.once_log import OnceLog


def test_the_same_warning_twice_in_a_row_is_one(caplog):
    log = OnceLog()
    for line in ("late", "late", "wrong", "late"):
        log.warn("c0", line)
    assert caplog.messages == ["c0: late", "c0: wrong", "c0: late"]


def test_the_names_that_are_remembered_are_bounded(caplog, monkeypatch):
    monkeypatch.setattr(once_log, "NAMES", 2)
    log = OnceLog()
    for name in ("c0", "c1", "c2"):
        log.warn(name, "late")
    log.warn("c0", "wrong")
    assert caplog.messages == ["c0: late", "c1: late", "c0: wrong"]
