"""The lock of a run: one holder at a time, and the file stays."""

import errno
import fcntl
import os

import pytest

from league.store.run_directory import RunDirectory, RunError
from league.store.run_lock import RunLocked, locked


def test_one_has_the_lock_and_the_next_gets_it_afterwards(tmp_path):
    run = RunDirectory(tmp_path / "run")
    with locked(run), pytest.raises(RunLocked, match=str(run.lock)), locked(RunDirectory(run.root)):
        pytest.fail("two have the lock")
    assert run.lock.exists(), "who removed it would let two processes lock two files of one name"
    with locked(run):
        pass


def test_an_error_inside_gives_the_lock_back(tmp_path):
    run = RunDirectory(tmp_path)
    with pytest.raises(KeyError), locked(run):
        raise KeyError
    with locked(run):
        pass


def test_a_file_system_without_locks_is_an_error_of_its_own(tmp_path, monkeypatch):
    def no_locks(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(RunError, match="No locks available") as caught, locked(RunDirectory(tmp_path)):
        pass
    assert not isinstance(caught.value, RunLocked)


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    run = RunDirectory(tmp_path / "run")
    run.root.mkdir()
    run.lock.symlink_to(tmp_path / "target")
    with pytest.raises(RunError, match="is a link"), locked(run):
        pass
    assert not (tmp_path / "target").exists()
