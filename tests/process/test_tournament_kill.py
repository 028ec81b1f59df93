"""A tournament in real processes, kill -9 of collectors, coordinator and parent: it goes on and counts exactly once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from packed import packed

from collectors.envs.config import EnvConfig
from launch.verify.verify import verify
from launch.viewers.view import open_view, read_offline
from league.store.run_directory import RunDirectory
from tests.process.conftest import League

ROUNDS = 800
GAME = EnvConfig(name="pettingzoo", id="classic/tictactoe_v3")  # slow enough to be under way at every kill
ENTRANTS = ("random", "a.safetensors", "b.safetensors")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def hold(tmp_path, patiently):
    """Return a function that starts the same tournament in a child process."""
    packed(tmp_path / "a.safetensors", GAME, seed=1), packed(tmp_path / "b.safetensors", GAME, seed=2)
    started, log = [], tmp_path / "ludus.log"

    def begin():
        command = [sys.executable, "-m", "launch", "tournament", *ENTRANTS, "--name", "cup", "--collectors", "2"]
        environment = {**os.environ, "PYTHONPATH": str(Path.cwd()), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        with log.open("ab") as out:
            process = subprocess.Popen(
                [*command, "--rounds", str(ROUNDS)], cwd=tmp_path, env=environment, stdout=out, stderr=out
            )
        started.append(process)
        return League(process, RunDirectory(tmp_path / "runs" / "cup"), log, patiently)

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def test_a_tournament_survives_kill_9_of_everybody_and_counts_every_game_once(hold, patiently, figure):
    cup = hold()
    patiently(cup.results, 90, "the first result")
    kill(patiently(lambda: cup.children()["collector"], 30, "a collector")[0])
    kill(patiently(lambda: cup.children()["coordinator"], 30, "a coordinator")[0])
    patiently(lambda: open_view(cup.run).term > 1, 60, "the next coordinator")
    before = cup.results()
    patiently(lambda: cup.results() > before, 120, "play going on after both kills")
    kill(cup.process.pid)
    cup.process.wait()
    patiently(lambda: not any(cup.children().values()), 60, "the end of its processes, whose parent is gone")
    resumed = sum(read_offline(cup.run).state.results.values())

    cup = hold()
    patiently(lambda: cup.results() > resumed, 90, "the same command going on")
    kill(patiently(lambda: cup.children()["collector"], 30, "a collector")[0])
    assert cup.process.wait(200) == 0, cup.log.read_text()

    state = read_offline(cup.run).state
    pairs = (("random", "a"), ("random", "b"), ("a", "b"))
    assert [state.evaluation.games(a, b) for a, b in pairs] == [2 * ROUNDS] * 3
    assert verify(cup.run) == 0
    lines = [line for path in cup.run.journals.glob("*.jsonl") for line in path.read_text().splitlines()]
    told = [json.loads(line) for line in lines if line.endswith("}")]  # a kill may tear the last line
    accepted = [line["ticket"] for line in told if line["verdict"] == "accepted"]
    assert len(accepted) == len(set(accepted))
    figure(f"{sum(state.results.values()):,} results, {resumed:,} before the parent was killed, {state.term} terms")
    assert state.term > 2
