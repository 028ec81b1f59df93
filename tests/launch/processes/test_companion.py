"""A child process that is started again whenever it ends."""

import sys

import pytest

from launch.processes import companion as module
from launch.processes.companion import FIRST_BACKOFF, POLL_SECONDS, Companion
from launch.topology.roles import ProcessRole
from league.store.run_directory import RunDirectory


@pytest.fixture
def starts(tmp_path, monkeypatch):
    """Return a run and a clock; a child notes that it was started, and ends with an error."""
    note = tmp_path / "starts"
    code = f"open({str(note)!r}, 'a').write('x'); raise SystemExit(3)"
    monkeypatch.setattr(module, "python", lambda *words: [sys.executable, "-c", code])
    return RunDirectory(tmp_path / "first").create(), note


def test_a_child_that_ended_is_started_again_after_its_back_off(starts, patiently):
    run, note = starts
    run.logs.mkdir(exist_ok=True)
    now = [0.0]
    replica = Companion(ProcessRole.REPLICA, run, lambda: now[0])
    replica.poll()
    patiently(lambda: replica._process.poll() == 3, 30, "the end of the child")
    now[0] += POLL_SECONDS
    replica.poll()
    assert replica._process is None
    assert note.read_text() == "x"
    now[0] += FIRST_BACKOFF
    replica.poll()
    patiently(lambda: note.read_text() == "xx", 30, "the second child")
    replica.close()
