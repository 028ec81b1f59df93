"""From a config to sbatch scripts that people can read. Pure: nothing is written, nothing is asked.

for job in jobs(config, run):
    text = script(job, config, run, here=Path.cwd(), allow=[])
"""

import hashlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from launch.config.config import Config
from launch.config.slurm import JobConfig
from launch.slurm.commands import SlurmError
from launch.spawn.interpreter import SAFE
from launch.terminal.clean import CONTROL
from launch.topology.parts import Part, topology
from launch.topology.roles import ROLES, ProcessRole
from league.store.run_directory import RunDirectory

SHARED = Path(__file__).with_name("job.sh")


@dataclass(frozen=True, slots=True)
class JobScript:
    """One job of a league; that of the collectors is an array with a task for each."""

    role: ProcessRole
    label: str  # coordinator, learner-0, collectors: what its script is called
    name: str  # what Slurm calls it: no other job of this user has this name
    tasks: int = 0  # of the array; 0: no array

    @property
    def index(self) -> str:
        """The index of its process among those of its role, as a shell in the job writes it."""
        return "$SLURM_ARRAY_TASK_ID" if self.tasks else self.label.partition("-")[2] or "0"


def jobs(config: Config, run: RunDirectory) -> list[JobScript]:
    """Return the jobs of a league, in the order in which they are submitted."""
    parts = topology(config)
    stem = stem_of(run)
    learners = [part.name for part in parts if part.role is ProcessRole.LEARNER]
    collectors = sum(part.role is ProcessRole.COLLECTOR for part in parts)
    return [
        JobScript(ProcessRole.COORDINATOR, "coordinator", f"{stem}.coordinator"),
        *(JobScript(ProcessRole.LEARNER, name, f"{stem}.{name}") for name in learners),
        JobScript(ProcessRole.COLLECTOR, "collectors", f"{stem}.collectors", collectors),
    ]


def stem_of(run: RunDirectory) -> str:
    """Return what the names of a run's jobs begin with: readable, and different for each run directory."""
    digest = hashlib.sha256(os.fsencode(run.root.resolve())).hexdigest()[:6]
    return f"ludus.{re.sub(r'[^A-Za-z0-9_.-]', '_', run.name)}.{digest}"


def script(job: JobScript, config: Config, run: RunDirectory, here: Path, allow: Sequence[str] = ()) -> str:
    """Return the sbatch script of a job."""
    asked, root = config.launch.slurm.job(job.role), run.root.resolve()
    everybody = " ".join(one.name for one in jobs(config, run))
    if CONTROL.search(f"{root}{here}"):
        raise SlurmError(f"{str(root)!r} or {str(here)!r} has a control character, which no script can hold")
    lines = [
        "#!/bin/bash",
        f"# {_title(job)} of the league {run.name!r}.",
        "# `ludus run` and `ludus resume` overwrite this file: make changes in the config.",
        *(f"#SBATCH {option}" for option in _options(job, config, run, here, asked)),
        "",
        f"LUDUS_RUN={shlex.quote(str(root))}",
        f"LUDUS_NAME={job.role}-{job.index}",
        f"LUDUS_JOBS={shlex.quote(everybody)}",
        f"LUDUS_REQUEUES={config.launch.slurm.requeues}",
        '. "$LUDUS_RUN/slurm/job.sh" || exit 1',
        "",
        *preparation(asked),
        "",
        *_service(job, config, command(job, config, allow), allow),
    ]
    return "\n".join(lines) + "\n"


def _title(job: JobScript) -> str:
    return job.label.capitalize() if job.role is ProcessRole.LEARNER else f"The {job.label}"


def _options(job: JobScript, config: Config, run: RunDirectory, here: Path, asked: JobConfig) -> list[str]:
    slurm, log = config.launch.slurm, f"{job.role}-{'%a' if job.tasks else job.index}.log"
    folder = str(run.logs.resolve()).replace("%", "%%")
    options = [
        f"--job-name={job.name}",
        f"--output={shlex.quote(f'{folder}/{log}')}",
        "--open-mode=append",
        "--requeue",
        f"--signal=B:USR1@{slurm.lead}",
        f"--chdir={shlex.quote(str(here))}",
    ]
    if job.role is ProcessRole.LEARNER and config.launch.ranks > 1:
        options += [f"--nodes={slurm.nodes}", "--ntasks-per-node=1"]
    if job.tasks:
        options.append(f"--array={array(range(job.tasks), slurm.limit)}")
    return options + requests(asked)


def array(indices: Sequence[int], limit: int = 0) -> str:
    """Return indices as sbatch reads them.

    >>> array(range(4)), array([0, 1, 5], limit=2)
    ('0-3', '0-1,5%2')
    """
    runs: list[list[int]] = []
    for index in sorted(indices):
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    text = ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
    return f"{text}%{limit}" if limit else text


def requests(asked: JobConfig, but: Sequence[str] = ()) -> list[str]:
    """Return the options of sbatch and srun for where a job may run and what it needs."""
    wanted = {
        "partition": asked.partition,
        "account": asked.account,
        "qos": asked.qos,
        "constraint": asked.constraint,
        "exclude": asked.exclude,
        "gres": asked.gres,
        "time": asked.time,
        "cpus-per-task": asked.cpus,
        "mem": asked.memory,
    }
    named = [f"--{key}={shlex.quote(str(value))}" for key, value in wanted.items() if value and key not in but]
    return named + asked.sbatch


def preparation(asked: JobConfig) -> list[str]:
    """Return the shell lines that come before the program."""
    return [
        "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1",
        *asked.setup,
        f"export {SAFE}=1  # no Python below imports from the current directory",
    ]


def python(asked: JobConfig) -> str:
    """Return how Python is started in a job: without the current directory on its path, in a container as well."""
    return f"{asked.prefix or ''} {shlex.quote(asked.python or sys.executable)} -P".strip()


def command(job: JobScript, config: Config, allow: Sequence[str]) -> list[str]:
    """Return the program of a job, as words for a shell; with several ranks, torchrun starts them."""
    asked, ranks = config.launch.slurm.job(job.role), config.launch.ranks if job.role is ProcessRole.LEARNER else 1
    words = [python(asked), "-m"]
    if ranks > 1:
        nodes = config.launch.slurm.nodes
        words += [
            "torch.distributed.run",
            f"--nnodes={nodes}",
            f"--nproc-per-node={ranks // nodes}",
            "--max-restarts=0",
        ]
        words += ["--rdzv-backend=c10d", '--rdzv-id="$LUDUS_GROUP"', '--rdzv-endpoint="$LUDUS_HEAD"', "-m --"]
    words += ["launch.processes", '--run "$LUDUS_RUN"', f"--role {job.role}", f"--index {job.index}", "--lone"]
    return [*words, *(f"--allow {shlex.quote(package)}" for package in allow)]


def _asides(job: JobScript, config: Config, allow: Sequence[str]) -> list[str]:
    """Return what runs beside a job's program: trackers at the coordinator, inference and buffer at their learner."""
    parts = [part for part in topology(config) if ROLES[part.role].beside is job.role]
    if job.role is ProcessRole.LEARNER:
        parts = [part for part in parts if str(_learner_of(part, config)) == job.index]
    start = f'{python(config.launch.slurm.job(job.role))} -m launch.processes --run "$LUDUS_RUN"'
    words = "".join(f" --allow {shlex.quote(package)}" for package in allow)
    return [f"aside {part.name} {start} --role {part.role} --index {part.index} --lone{words}" for part in parts]


def _learner_of(part: Part, config: Config) -> int:
    """Return the index of the learner that a process stands beside."""
    return part.index // config.launch.ranks if ROLES[part.role].per_rank else part.index


def _service(job: JobScript, config: Config, words: Sequence[str], allow: Sequence[str]) -> list[str]:
    """Return the last lines of a script. Several ranks are a step of the job: a signal to it reaches all of them."""
    program, beside = " ".join(words), _asides(job, config, allow)
    if config.launch.ranks == 1 or job.role is not ProcessRole.LEARNER:
        return [*beside, f"serve {program}"]
    ranks = f"""
    trap "" USR1  # torchrun would die of it; the ranks have a handler of their own
    exec {program}"""
    return [
        *beside,
        "step  # sets where the ranks meet, LUDUS_HEAD, and what their group is called, LUDUS_GROUP",
        f"serve srun --kill-on-bad-exit=1 --export=ALL bash -c {shlex.quote(ranks)}",
    ]
