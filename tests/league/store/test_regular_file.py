"""Pipes, devices, directories, sockets and files of any size in place of a file."""

import os
import socket

import pytest

from league.store.files import open_append, publish_once
from league.store.regular_file import IrregularFile, read_end, read_regular, refuse_irregular


def test_a_file_is_read_as_it_is(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one\ntwo\n")
    assert read_regular(path, 8) == b"one\ntwo\n"
    assert read_end(path, 4) == b"two\n"
    refuse_irregular(path)
    refuse_irregular(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "missing", 8)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # it takes no room on the disk
    with pytest.raises(IrregularFile, match=r"1,099,511,627,776 bytes, and such a file has at most 1,000"):
        read_regular(path, 1000)
    assert read_end(path, 10) == bytes(10)


@pytest.fixture(params=["a pipe", "a device", "a directory", "a socket"])
def strange(request, tmp_path, monkeypatch):
    """Return a path at which something else is than a file, and what it is."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "strange"
    if request.param == "a pipe":
        os.mkfifo(path)
    elif request.param == "a device":
        path.symlink_to("/dev/zero")
    elif request.param == "a directory":
        path.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("strange")
    return path, request.param


@pytest.mark.timeout(10)
def test_what_is_no_file_is_refused_at_once(strange):
    path, kind = strange
    for read in (lambda: read_regular(path, 8), lambda: read_end(path, 8), lambda: refuse_irregular(path)):
        with pytest.raises(IrregularFile, match=f"strange is {kind} where a file belongs: remove it"):
            read()


@pytest.mark.timeout(10)
def test_nothing_is_appended_to_what_is_no_file(strange):
    path, _ = strange
    with pytest.raises((IrregularFile, OSError)):  # a link has always been refused
        open_append(path)


@pytest.mark.timeout(10)
def test_a_file_that_is_written_once_is_not_compared_with_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(IrregularFile, match="a pipe where a file belongs"):
        publish_once(tmp_path / "pipe", b"data")
