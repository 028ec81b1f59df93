"""What cannot work on a real Slurm is refused in one line, and nothing is left in the queue."""

import os
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest

from launch.slurm.commands import queue
from launch.slurm.script import jobs
from launch.start import stored

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(120)]

RUN = ["run", "launch=slurm/small", "env=tic_tac_toe", "name=league"]


def queued():
    return subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=True).stdout


def refused(league, *overrides, **environment):
    answer = league.ludus(*RUN, *overrides, code=2, **environment).strip()
    assert len(answer.splitlines()) == 1
    assert not queued()
    return answer


def test_an_unknown_partition(league):
    assert "Invalid partition name specified" in refused(league, "launch.slurm.collector.partition=nowhere")


def test_a_partition_that_is_closed_while_jobs_are_submitted(league, tmp_path):
    """Slurm finds nothing wrong when it is asked, takes two jobs, and refuses the third."""
    closing = tmp_path / "sbatch"
    closing.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--parsable*collectors.sbatch) scontrol update partitionname=short state=inactive ;; esac\n'
        f'exec {shutil.which("sbatch")} "$@"\n'
    )
    closing.chmod(0o755)
    overrides = [
        "launch.slurm.probe=0",
        "launch.slurm.collector.partition=short",
        "launch.slurm.collector.time=1",
        "launch.slurm.coordinator.sbatch=['--begin=now+1hour']",
    ]
    try:
        answer = refused(league, *overrides, PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    finally:
        subprocess.run(["scontrol", "update", "partitionname=short", "state=up"], check=True)
    assert "sbatch refused: " in answer
    assert "partition" in answer
    assert not league.run.jobs.exists()
    taken = queue([job.name for job in jobs(stored(league.run), league.run)])
    assert {row.state for row in taken} == {"CANCELLED"}
    assert len(taken) == 2
    assert "3 jobs are in the queue" in league.ludus(*RUN, *overrides)
    league.ludus("stop", "league")
    assert not queued()


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
