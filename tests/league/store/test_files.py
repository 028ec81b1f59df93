import os
import resource
import stat

import pytest

from league.store.files import publish, publish_once, sweep


@pytest.fixture
def calls(monkeypatch):
    """The order of the calls that make a file durable."""
    made = []

    def record(name, real):
        def call(*arguments, **options):
            what = name
            if name == "fsync":
                what = "fsync directory" if stat.S_ISDIR(os.fstat(arguments[0]).st_mode) else "fsync file"
            made.append(what)
            return real(*arguments, **options)

        return call

    for name in ("fsync", "link", "replace"):
        monkeypatch.setattr(os, name, record(name, getattr(os, name)))
    return made


def test_a_published_file_is_synced_before_it_has_its_name_and_its_name_after(tmp_path, calls):
    publish(tmp_path / "a", b"1")
    publish_once(tmp_path / "b", b"2")
    once = ["fsync file", "link", "fsync directory"]
    assert calls == ["fsync file", "replace", "fsync directory", *once]


def test_publish_replaces_and_leaves_nothing_beside(tmp_path):
    publish(tmp_path / "a", b"old")
    publish(tmp_path / "a", memoryview(b"new"), mode=0o600)
    assert (tmp_path / "a").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_others_may_read_what_is_published_unless_told_otherwise(tmp_path):
    publish_once(tmp_path / "a", b"1")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_publish_once_accepts_the_same_and_refuses_another(tmp_path, calls):
    publish_once(tmp_path / "a", b"1")
    calls.clear()
    publish_once(tmp_path / "a", b"1")
    assert calls[-1] == "fsync directory"  # the first writer may have died before it came to that
    with pytest.raises(FileExistsError, match="never overwritten"):
        publish_once(tmp_path / "a", b"2")
    assert (tmp_path / "a").read_bytes() == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("write", [publish, publish_once])
def test_a_full_disk_shows_as_it_is_and_harms_nothing(tmp_path, write):
    path = tmp_path / "a"
    if write is publish:
        publish(path, b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            write(path, bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [found.read_bytes() for found in tmp_path.iterdir()] == ([b"old"] if write is publish else [])


def test_sweep_removes_old_parts_only(tmp_path):
    for name in (".part-old", ".part-young", "kept"):
        (tmp_path / name).write_bytes(b"x")
    os.utime(tmp_path / ".part-old", (0, 0))
    os.utime(tmp_path / "kept", (0, 0))
    assert sweep(tmp_path) == [tmp_path / ".part-old"]
    assert sweep(tmp_path, minimum_age=0) == [tmp_path / ".part-young"]
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_sweeping_a_directory_that_is_not_there_is_harmless(tmp_path):
    assert sweep(tmp_path / "nowhere") == []
