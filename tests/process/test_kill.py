"""Real processes, kill -9 at random moments: nothing acknowledged is lost, nothing is counted twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from launch.verify import verify
from launch.view import open_view, read_offline
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore

KILLS = 30
OVERRIDES = [
    "experiment=tic_tac_toe",
    "name=killed",
    "league.budget.minutes=30",
    "league.budget.env_steps=null",
    "league.lease.seconds=4",
    "league.lease.attempts=50",
    "league.promotion.min_decisions=20000",
    "league.promotion.max_decisions=40000",
    "learner.candidate_decisions=8192",
    "collector.slots=32",
    "launch.collectors=2",
]


@pytest.fixture
def league(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd()), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    log = (tmp_path / "ludus.log").open("wb")
    command = [sys.executable, "-m", "launch", "run", "--plain", *OVERRIDES]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
    yield process, RunDirectory(tmp_path / "runs" / "killed")
    if process.poll() is None:
        process.kill()
    process.wait()
    log.close()


def children(run: RunDirectory) -> dict[str, list[int]]:
    """Return the process ids of a run's processes by role, as the kernel sees them."""
    found: dict[str, list[int]] = {"coordinator": [], "collector": [], "learner": []}
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode().split("\0")
        except OSError:
            continue
        if str(run.root.resolve()) in words and "launch.process" in words:
            found[words[words.index("--role") + 1]].append(int(entry.parent.name))
    return found


def results(run: RunDirectory) -> int:
    return sum(open_view(run).state.results.values())


def wait_for(condition, seconds: float, what: str):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:g} s"
        time.sleep(0.1)
    return found


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_kill_anybody_at_any_moment(league):
    process, run = league
    rng = random.Random(5)
    wait_for(lambda: run.ledger.exists() and results(run) > 0, 90, "the first result")
    killed: Counter[str] = Counter()
    while killed.total() < KILLS:
        role = rng.choice(["coordinator", "collector", "collector", "learner"])
        pids = children(run)[role]
        if pids:
            os.kill(rng.choice(pids), signal.SIGKILL)
            killed[role] += 1
        time.sleep(rng.uniform(0.2, 1.5))
        assert process.poll() is None, "ludus run gave up"

    before = results(run)
    wait_for(lambda: results(run) > before + 50, 120, "play going on after the last kill")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130, "Ctrl-C leaves a resumable run"
    wait_for(lambda: not any(children(run).values()), 10, "the end of all processes")

    assert verify(run) == 0
    state = read_offline(run).state
    acked = [
        json.loads(line) for path in run.journals.glob("*.jsonl") for line in path.read_text().splitlines() if line
    ]
    accepted = [(line["ticket"], line["attempt"]) for line in acked if line["verdict"] == "accepted"]
    assert len(accepted) == len(set(accepted))
    store = SnapshotStore(run.snapshots)
    unreadable = [name for name in store.hashes() if store.verify(name)]
    assert not unreadable
    print(
        f"\nkills: {dict(killed)}; {sum(state.results.values()):,} results counted, {len(accepted):,} acknowledged and "
        f"found, {state.term} terms, {state.voids} void, {len(store.hashes())} snapshots, 0 unreadable"
    )
    assert state.term > 1, "the coordinator was killed, and came back"
