"""`--quiet` is quiet: a real league on a terminal prints nothing but errors."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TINY = [
    "env=tic_tac_toe", "launch=local", "league=selfplay", "name=tiny", "policy.hidden=[8]", "algo.batch=256",
    "algo.minibatch=256", "collector.slots=16", "learner.candidate_decisions=256", "launch.collectors=1",
    "league.budget.minutes=null", "league.budget.env_steps=1500", "league.evaluation.final_games=16",
]  # fmt: skip


def on_a_terminal(folder, *words):
    """Run ludus with a terminal as its output; return the exit code and all that it printed."""
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "launch", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm"}
    child = subprocess.Popen(command, cwd=folder, env=environment, stdin=writer, stdout=writer, stderr=writer)
    os.close(writer)
    printed = b""
    while True:
        try:
            data = os.read(reader, 4096)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        printed += data
    os.close(reader)
    return child.wait(), printed.decode(errors="replace")


@pytest.mark.slow
def test_a_quiet_league_prints_nothing(tmp_path):
    assert on_a_terminal(tmp_path, "run", *TINY, "track.to=[csv]", "--quiet") == (0, "")
    assert on_a_terminal(tmp_path, "resume", "tiny", "--quiet") == (0, ""), "it was over already, which is no error"


@pytest.mark.slow
def test_a_league_counts_the_processes_that_it_starts(tmp_path):
    code, printed = on_a_terminal(tmp_path, "run", *TINY, "--plain")
    assert code == 0
    assert "4 processes start" in printed, "coordinator, replica, learner, collector"
    logs = {path.name.split("-")[0] for path in (tmp_path / "runs" / "tiny" / "logs").iterdir()}
    assert logs == {"coordinator", "replica", "learner", "collector"}


def test_a_quiet_league_prints_its_errors(tmp_path):
    code, printed = on_a_terminal(tmp_path, "run", *TINY, "algo.lr=-1", "--quiet")
    assert code == 2
    assert "lr and max_grad_norm must be positive" in printed
