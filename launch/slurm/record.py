"""Which jobs a run has: written when they are submitted, read by every command that shows them."""

import msgspec

from launch.slurm.commands import JobState, queue
from launch.slurm.script import stem_of
from launch.topology.roles import JOB_ROLES, ProcessRole, role_of
from league.store.files import publish
from league.store.plain_json import read_json
from league.store.run_directory import RunDirectory, RunError


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """A job that was submitted."""

    role: ProcessRole
    label: str  # coordinator, learner-0, collectors
    name: str
    id: str

    def process(self, row: JobState) -> str:
        """Return what the process of this job, or of this task of it, is called."""
        return (
            f"{self.role}-{row.task}"
            if row.task is not None
            else self.label
            if "-" in self.label
            else f"{self.label}-0"
        )


def write(run: RunDirectory, jobs: list[Submitted]) -> None:
    """Record the jobs of a run."""
    publish(run.jobs, msgspec.json.format(msgspec.json.encode(jobs)))


def read(run: RunDirectory) -> list[Submitted]:
    """Return the jobs of a run; refuse a run that has none."""
    if not run.jobs.exists():
        raise RunError(f"the run {run.name} was not launched on Slurm: it has no {run.jobs.name}")
    try:
        return read_json(run.jobs, list[Submitted])
    except msgspec.DecodeError as error:
        raise RunError(f"cannot read {run.jobs}: {error}. Was it edited by hand?") from error


def look(run: RunDirectory) -> list[tuple[str, JobState]]:
    """Return each process of a run with the state of its job; of its newest job, if it had several."""
    known = {job.name: job for job in read(run)}
    mine = {job.id for job in read(run)}
    newest: dict[str, JobState] = {}
    for row in queue(list(known)):
        if known[row.name].role is ProcessRole.COLLECTOR and row.task is None:
            continue  # an array that was cancelled before any of its tasks had a job of its own
        if row.id.partition("_")[0] in mine and row.name.startswith(stem_of(run)):
            process = known[row.name].process(row)
            if process not in newest or _number(row) > _number(newest[process]):
                newest[process] = row
    return sorted(newest.items(), key=lambda item: _order(item[0]))


def _number(row: JobState) -> int:
    return int(row.id.partition("_")[0])


def _order(process: str) -> tuple[int, int]:
    return JOB_ROLES.index(role_of(process)), int(process.rpartition("-")[2])
