"""What cannot work on a real Slurm is refused in one line, and nothing is left in the queue."""

import os
import secrets
import shutil
from pathlib import Path

import pytest

from launch.config.config import stored
from launch.slurm.commands import queue
from launch.slurm.script import jobs

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(600)]

RUN = ["run", "launch=slurm/small", "env=tic_tac_toe", "league.payoff=outcome", "name=league"]
PROBED = "launch.slurm.probe=120"  # a node must become free for it, else all goes untried


@pytest.fixture
def refused(league, empty):
    """Return a function that starts a league, sees that it is refused in one line, and returns that."""

    def begin(*overrides, **environment):
        answer = league.ludus(*RUN, *overrides, code=2, **environment).strip()
        assert len(answer.splitlines()) == 1, answer
        empty()
        return answer

    return begin


def test_an_unknown_partition(refused):
    assert "Invalid partition name specified" in refused("launch.slurm.collector.partition=nowhere")


def test_a_partition_that_is_closed_while_jobs_are_submitted(league, refused, empty, slurm, tmp_path):
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
        answer = refused(*overrides, PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    finally:
        slurm("scontrol", "update", "partitionname=short", "state=up")
    assert "sbatch refused: " in answer
    assert "partition" in answer
    assert not league.run.jobs.exists()
    taken = queue([job.name for job in jobs(stored(league.run), league.run)])
    assert {row.state for row in taken} == {"CANCELLED"}
    assert len(taken) == 2
    assert "3 jobs are in the queue" in league.ludus(*RUN, *overrides)
    league.ludus("stop", "league")
    empty()


def test_a_node_that_cannot_start_the_program(refused):
    assert "a coordinator cannot be started on a node" in refused(PROBED, "launch.slurm.python=/no/such/python")


def test_a_run_directory_that_nodes_do_not_see(refused):
    private = Path("/dev/shm") / f"ludus-{secrets.token_hex(4)}"  # every node has its own
    try:
        answer = refused(PROBED, f"runs={private}")
    finally:
        shutil.rmtree(private, ignore_errors=True)
    assert f"does not see {private}/league: put the runs where all nodes can read" in answer


def test_a_job_that_pends_says_why_and_can_be_stopped(league, empty, patiently):
    later = "launch.slurm.coordinator.sbatch=['--begin=now+1hour']"
    league.ludus(*RUN, "launch.slurm.probe=0", later)
    patiently(lambda: "pending: BeginTime" in league.ludus("status", "league"), 120, "the reason")
    assert "no coordinator has started yet" in league.ludus("status", "league")
    league.ludus("stop", "league")
    empty()
