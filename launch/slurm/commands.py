"""The only calls of Slurm's commands: submit, query, cancel. A refusal of Slurm is one line.

queue(["ludus.first.87bc92.coordinator"])       # [JobState(id="12", state="RUNNING", node="node3", ...)]
"""

import getpass
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from league.errors import InputError

COMMAND_SECONDS = 60.0  # for a command of Slurm to answer
COLUMNS = ("JobArrayID", "Name", "State", "NodeList", "Reason", "RestartCnt", "TimeUsed")
WAITING, RUNNING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED"), ("RUNNING", "COMPLETING")
SILENT, RESTS = (
    ("timed out", "Unable to contact"),
    (1.0, 2.0, 4.0),
)  # errors of a busy controller; seconds until the next try
BUSY = "nodes are busy"  # error of srun when --immediate found no node


class SlurmError(InputError):
    """Slurm refused; the message says what, and how to fix it."""


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of one job in Slurm, or of one task of an array."""

    id: str
    name: str
    state: str
    node: str
    reason: str
    restarts: int
    used: str

    @property
    def task(self) -> int | None:
        """Its index in the array."""
        _, found, index = self.id.partition("_")
        return int(index) if found and index.isdigit() else None

    @property
    def alive(self) -> bool:
        """Whether it runs, or waits to."""
        return self.state in WAITING + RUNNING


def require() -> None:
    """Refuse to go on where there is no Slurm."""
    if shutil.which("sbatch") is None:
        raise SlurmError(
            "there is no sbatch on the path: start this on a login node of a Slurm cluster (is there a module to "
            "load?), or only look at the scripts with launch.dry_run=true"
        )


def call(*words: str, seconds: float = COMMAND_SECONDS) -> str:
    """Run a command of Slurm and return what it prints; raise SlurmError with its error message."""
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env=_environment(),
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise SlurmError(f"there is no {words[0]} on the path: is this a node of a Slurm cluster?") from error
    except subprocess.TimeoutExpired as error:
        raise SlurmError(
            f"{words[0]} did not answer within {seconds:g} s: is Slurm's controller up? Try sinfo"
        ) from error
    if done.returncode:
        raise SlurmError(f"{words[0]} refused: {_complaint(done.stderr or done.stdout)}")
    return done.stdout


def ask(*words: str) -> str:
    """Run a command that changes nothing; try again if Slurm's controller is too busy to answer."""
    for rest in RESTS:
        try:
            return call(*words)
        except SlurmError as error:
            if not any(word in str(error) for word in SILENT):
                raise
        time.sleep(rest)
    return call(*words)


def _environment() -> dict[str, str]:
    """Return our environment without the variables of an allocation: `ludus` may itself run inside one."""
    kept = ("SLURM_CONF", "SLURM_TIME_FORMAT")
    return {key: value for key, value in os.environ.items() if not key.startswith("SLURM_") or key in kept}


def _complaint(text: str) -> str:
    """Return the lines of an error as one, without the name of the command in front of each."""
    lines = [line.split("error: ", 1)[-1].strip() for line in text.splitlines() if line.strip()]
    return "; ".join(line for line in lines if "queued and waiting" not in line) or "it did not say why"


def submit(script: str, *options: str) -> str:
    """Submit a script and return the id of its job."""
    return call("sbatch", "--parsable", *options, script).strip().partition(";")[0]


def queue(names: Sequence[str]) -> list[JobState]:
    """Return the state of the jobs with these names; of ended ones, too, while Slurm remembers them."""
    form = ",".join(f"{column}:|" for column in COLUMNS)
    text = ask("squeue", "-h", "-r", "-t", "all", "-u", getpass.getuser(), "-n", ",".join(names), "-O", form)
    rows = [line.split("|") for line in text.splitlines()]
    return [JobState(i, n, s, nodes, why, int(count or 0), used) for i, n, s, nodes, why, count, used, *_ in rows]


def cancel(ids: Sequence[str]) -> None:
    """End jobs; those that have already ended are ignored."""
    if ids:
        call("scancel", "--quiet", *ids)


def cancel_named(names: Sequence[str]) -> None:
    """End all jobs with these names."""
    cancel([row.id for row in queue(names) if row.alive])
