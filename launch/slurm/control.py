"""What a user does with a league that runs on Slurm: look at its jobs, stop them, change the number of collectors."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from launch.config.config import Config, stored
from launch.config.foreign import with_foreign
from launch.slurm import record
from launch.slurm.commands import RUNNING, WAITING, JobState, SlurmError, cancel, cancel_named, queue, submit
from launch.slurm.script import array, jobs
from launch.terminal.spinner import Spinner
from launch.terminal.wording import allowing
from launch.topology.endpoints import drain
from launch.topology.parts import Part, key_holders
from launch.topology.roles import ProcessRole
from league.metrics import ENV_STEPS_PER_SECOND, UPDATES_PER_SECOND, WAIT_SHARE
from league.store.files import publish
from league.store.regular_file import read_text_of
from league.store.run_directory import RunDirectory
from league.wire.keys import make_keys
from league.wire.messages import Worker

DEPARTURE_SECONDS = 15.0  # beyond those of draining for the coordinator to see that everybody has left
CANCEL_SECONDS = 180.0  # for Slurm to end a job that was cancelled: it kills after KillWait (30 s), if the node answers
QUEUE_SECONDS = 1.0  # between two requests for the queue

Notify = Callable[[str], None]


def jobs_json(run: RunDirectory) -> list[dict[str, Any]]:
    """Return Slurm's state of each process: process, job, node, state, reason, restarts, used."""
    return [
        {
            "process": process,
            "job": row.id,
            "node": row.node,
            "state": row.state,
            "reason": "" if row.reason == "None" else row.reason,
            "restarts": row.restarts,
            "used": row.used,
        }
        for process, row in record.look(run)
    ]


def jobs_table(rows: Sequence[dict[str, Any]], workers: Sequence[Worker]) -> RenderableType:
    """Return Slurm's state of each process beside the league's, and below why some wait."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for name in ("process", "job", "node", "state"):
        table.add_column(name, no_wrap=name != "node", overflow="fold")
    for name in ("restarts", "heard", "speed", "waits"):
        table.add_column(name, justify="right", no_wrap=True)
    known, why = {worker.name: worker for worker in workers}, dict[str, list[str]]()
    for job in rows:
        state, process = job["state"].lower(), job["process"]
        table.add_row(process, job["job"], job["node"] or "-", state, str(job["restarts"]), *_heard(known.get(process)))
        if job["reason"]:
            why.setdefault(f"{state}: {job['reason']}", []).append(process)
    lines = [f"{reason} ({', '.join(found)})" for reason, found in why.items()]
    return Group(table, *(Text(line) for line in lines))


def _heard(worker: Worker | None) -> tuple[str, str, str]:
    if worker is None:
        return "-", "-", "-"
    speeds = {ENV_STEPS_PER_SECOND: "{:,.0f}/s", UPDATES_PER_SECOND: "{:,.1f}/s"}  # of collectors, of learners
    speed = [form.format(worker.metrics[key]) for key, form in speeds.items() if key in worker.metrics]
    waits = f"{worker.metrics[WAIT_SHARE]:.0%}" if WAIT_SHARE in worker.metrics else "-"
    return f"{worker.age:.0f} s", ", ".join(speed) or "-", waits


def why_ended(run: RunDirectory) -> str:
    """Return why the jobs of a run ended before the league was over; nothing if they did not."""
    return read_text_of(run.ended).strip() if run.ended.exists() else ""


def stop(run: RunDirectory, notify: Notify) -> int:
    """Let everybody finish and write checkpoints, then end all jobs."""
    config = stored(run)
    rows = _alive(run) if run.jobs.exists() else {}
    if not rows:
        return _end_strays(config, run, notify)
    cancel([row.id for row in rows.values() if row.state not in RUNNING])
    publish(run.ended, b"stopped by `ludus stop`\n")
    running = rows.get("coordinator-0")
    if running is not None and running.state in RUNNING and drain(config, run):
        notify("everybody finishes; then all jobs end")
        _wait(run, RUNNING + WAITING, config.launch.drain_seconds + DEPARTURE_SECONDS)
    cancel([row.id for row in _alive(run).values()])
    cancel_named([job.name for job in jobs(config, run)])  # one that a killed submission did not record
    if left := _wait(run, RUNNING, CANCEL_SECONDS):
        names = ", ".join(f"{process} (job {row.id} on {row.node})" for process, row in left.items())
        look = f"Slurm still tries, look with: ludus status {run.name}"
        notify(f"cancelled, but not ended after {CANCEL_SECONDS:g} s: {names}. {look}")
        return 1
    notify(f"stopped; it goes on with: ludus resume {run.name}{allowing(with_foreign(config))}")
    return 0


def _end_strays(config: Config, run: RunDirectory, notify: Notify) -> int:
    """End jobs in the queue that a killed submission did not record."""
    strays = [row.id for row in queue([job.name for job in jobs(config, run)]) if row.alive]
    cancel(strays)
    what = f"ended what was left of a submission ({', '.join(strays)})" if strays else "has no jobs in the queue"
    notify(f"{run.name} {what}; it goes on with: ludus resume {run.name}{allowing(with_foreign(config))}")
    return 0


def _wait(run: RunDirectory, states: Sequence[str], seconds: float) -> dict[str, JobState]:
    """Wait until no job is in these states; return those that are, if time is up."""
    deadline = time.monotonic() + seconds
    with Spinner("stop") as progress:
        while left := {process: row for process, row in _alive(run).items() if row.state in states}:
            progress.update(f"{len(left)} jobs have not ended")
            if time.monotonic() > deadline:
                break
            time.sleep(QUEUE_SECONDS)
    return left


def scale(run: RunDirectory, collectors: int, notify: Notify) -> int:
    """Change the number of collectors, until the jobs of the run end."""
    rows = _alive(run)
    if "coordinator-0" not in rows:
        raise SlurmError(f"the run {run.name} has no jobs in the queue; start them with: ludus resume {run.name}")
    alive = {row.task: row.id for row in rows.values() if row.task is not None}
    surplus = [number for task, number in alive.items() if task >= collectors]
    missing = [task for task in range(collectors) if task not in alive]
    cancel(surplus)
    if missing:
        make_keys(run.keys, key_holders([Part(ProcessRole.COLLECTOR, task) for task in missing]))
        _more(run, missing)
    notify(f"{len(missing)} collectors more, {len(surplus)} fewer: {collectors} in all")
    return 0


def _more(run: RunDirectory, tasks: Sequence[int]) -> None:
    known = record.read(run)
    first = next(job for job in known if job.role is ProcessRole.COLLECTOR)
    coordinator = next(job for job in known if job.role is ProcessRole.COORDINATOR)
    options = [f"--array={array(tasks, stored(run).launch.slurm.limit)}", f"--dependency=after:{coordinator.id}"]
    number = submit(str(run.slurm.resolve() / f"{first.label}.sbatch"), *options)
    more = record.Submitted(role=first.role, label=first.label, name=first.name, id=number)
    try:
        record.write(run, [*known, more])
    except BaseException:
        cancel([number])
        raise


def _alive(run: RunDirectory) -> dict[str, JobState]:
    return {process: row for process, row in record.look(run) if row.alive}
