"""A learner's process: its claim to its name."""

import subprocess
import sys

import pytest

from launch.config.compose import compose
from launch.config.config import to_plain
from launch.config.env_spec import describe_environment
from launch.processes import run_learner as module
from launch.processes.failing import refusal
from launch.processes.run_learner import ORDER, REPLACED, NameClaim
from launch.spawn.exit_code import REFUSED
from league.store.run_directory import RunDirectory


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


def test_a_learner_refuses_what_cannot_work_with_one_line_and_its_own_exit_code(tmp_path):
    run, config = RunDirectory(tmp_path / "run").create(), compose(["env=tic_tac_toe"])
    describe_environment(config, run, ())
    run.write_config(to_plain(config) | {"algo": {"name": "gone_package:GoneConfig"}})
    command = [sys.executable, "-m", "launch.processes", "--run", str(run.root), "--role", "learner", "--lone"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert found.returncode == REFUSED
    assert "gone_package" in refusal(found.stderr)
    assert len(found.stderr.splitlines()) == 1
