"""What cannot work on a real Slurm is refused in one line, and nothing is left in the queue."""

import secrets
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(120)]

RUN = ["run", "launch=slurm/small", "env=tic_tac_toe", "name=league"]


def queued():
    return subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=True).stdout


def refused(league, *overrides):
    answer = league.ludus(*RUN, *overrides, code=2).strip()
    assert len(answer.splitlines()) == 1
    assert not queued()
    return answer


def test_an_unknown_partition(league):
    assert "Invalid partition name specified" in refused(league, "launch.slurm.collector.partition=nowhere")


def test_a_node_that_cannot_start_the_program(league):
    assert "a coordinator cannot be started on a node" in refused(league, "launch.slurm.python=/no/such/python")


def test_a_run_directory_that_nodes_do_not_see(league):
    private = Path("/dev/shm") / f"ludus-{secrets.token_hex(4)}"  # every node has its own
    try:
        answer = refused(league, f"runs={private}")
    finally:
        shutil.rmtree(private, ignore_errors=True)
    assert f"does not see {private}/league: put the runs where all nodes can read" in answer


def test_a_job_that_pends_says_why_and_can_be_stopped(league):
    later = "launch.slurm.coordinator.sbatch=['--begin=now+1hour']"
    league.ludus(*RUN, "launch.slurm.probe=0", later)
    status = league.ludus("status", "league")
    assert "no coordinator has started yet" in status
    assert "pending: BeginTime" in status
    league.ludus("stop", "league")
    assert not queued()
