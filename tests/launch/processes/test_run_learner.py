"""A learner's process: its claim to its name."""

import pytest

from launch.processes import run_learner as module
from launch.processes.run_learner import ORDER, REPLACED, NameClaim


@pytest.fixture
def left(monkeypatch):
    """Raise SystemExit where a process would end at once."""

    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr(module.os, "_exit", leave)


@pytest.mark.usefixtures("left")
def test_the_process_that_started_last_keeps_the_name(tmp_path):
    old, new = (NameClaim(tmp_path / "claims" / "learner-0", session) for session in ("a", "b"))
    new.check()
    with pytest.raises(SystemExit, match=str(REPLACED)):
        old.check()


@pytest.mark.usefixtures("left")
def test_a_process_of_an_earlier_order_does_not_take_the_name(tmp_path, monkeypatch):
    monkeypatch.setenv(ORDER, "2")
    NameClaim(tmp_path / "claims" / "learner-0", "a").check()
    monkeypatch.setenv(ORDER, "1")
    with pytest.raises(SystemExit, match=str(REPLACED)):
        NameClaim(tmp_path / "claims" / "learner-0", "b")
