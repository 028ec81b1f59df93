"""What `ludus status` shows of jobs."""

import io

from rich.console import Console

from launch.slurm.control import jobs_table
from league.wire.messages import Role, Worker


def job(process, number, state="RUNNING", node="node3", reason="", restarts=0):
    return {
        "process": process, "job": number, "node": node, "state": state, "reason": reason, "restarts": restarts,
        "used": "1-02:03:04",
    }  # fmt: skip


def shown(width):
    jobs = [
        job("coordinator-0", "1234567"),
        job("learner-0", "1234568", node="node[1-2]", restarts=2),
        job("collector-12", "1234569_12"),
        *(job(f"collector-{i}", f"1234569_{i}", "PENDING", "", "ReqNodeNotAvail, down") for i in (13, 14)),
    ]
    workers = [
        Worker(name="learner-0", role=Role.LEARNER, age=1.2, metrics={"updates_per_second": 12.34, "wait_share": 0.32}),
        Worker(name="collector-12", role=Role.COLLECTOR, age=0.2, metrics={"env_steps_per_second": 12345.6}),
    ]
    console = Console(file=io.StringIO(), width=width)
    console.print(jobs_table(jobs, workers))
    return console.file.getvalue()


def test_jobs_beside_what_was_heard_of_them_at_80_columns():
    text = shown(80)
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.split() for line in text.splitlines()]
    assert ["process", "job", "node", "state", "restarts", "heard", "speed", "waits"] in lines
    assert ["learner-0", "1234568", "node[1-2]", "running", "2", "1", "s", "12.3/s", "32%"] in lines
    assert ["collector-12", "1234569_12", "node3", "running", "0", "0", "s", "12,346/s", "-"] in lines


def test_why_jobs_wait_is_told_once_for_all_of_them():
    assert "pending: ReqNodeNotAvail, down (collector-13, collector-14)\n" in shown(80)
