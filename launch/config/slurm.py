"""What the jobs of a league ask Slurm for."""

import re
from dataclasses import dataclass, field, fields

from league.errors import InputError

_TIME = re.compile(
    r"\d+|\d+:\d\d|\d+:\d\d:\d\d|\d+-\d+|\d+-\d+:\d\d|\d+-\d+:\d\d:\d\d|UNLIMITED|INFINITE", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z0-9_\[(][\w.,:;=@+*&|!()\[\]{}/%-]*", re.ASCII)  # no blank, no quote, no second line
_WORDS = ("partition", "account", "qos", "constraint", "exclude", "gres")
_MEMORY = re.compile(r"\d+[KMGT]?", re.IGNORECASE)


@dataclass(kw_only=True, slots=True)
class JobConfig:
    """What the jobs of one role ask for; null: the same as `launch.slurm` says for all."""

    partition: str | None = None  # --partition
    account: str | None = None  # --account
    qos: str | None = None  # --qos
    constraint: str | None = None  # --constraint: features that a node must have
    exclude: str | None = None  # --exclude: nodes that must not be used
    gres: str | None = None  # --gres: generic resources, e.g. gpu:1
    time: str | None = None  # --time: the limit, after which the job requeues itself and goes on
    cpus: int | None = None  # --cpus-per-task
    memory: str | None = None  # --mem
    sbatch: list[str] = field(default_factory=list)  # more options of sbatch, after those of all roles
    setup: list[str] = field(default_factory=list)  # shell lines before the program, after those of all roles
    prefix: str | None = None  # what the program is started with, e.g. apptainer exec league.sif
    python: str | None = None  # the Python that runs it

    def __post_init__(self) -> None:
        """Refuse what sbatch would not read."""
        _check(self)


@dataclass(kw_only=True, slots=True)
class SlurmConfig:
    """How a league is laid out as Slurm jobs, and what every job asks for unless its role says otherwise."""

    partition: str | None = None  # --partition; null: the cluster's default
    account: str | None = None  # --account
    qos: str | None = None  # --qos
    constraint: str | None = None  # --constraint: features that a node must have
    exclude: str | None = None  # --exclude: nodes that must not be used
    gres: str | None = None  # --gres: generic resources, e.g. gpu:1
    time: str = "24:00:00"  # --time: the limit, after which a job requeues itself and goes on
    cpus: int = 1  # --cpus-per-task
    memory: str = "2G"  # --mem
    sbatch: list[str] = field(default_factory=list)  # more options of sbatch, e.g. [--mail-type=FAIL]
    setup: list[str] = field(default_factory=list)  # shell lines before the program, e.g. [module load cuda]
    prefix: str | None = None  # what the program is started with, e.g. apptainer exec league.sif
    python: str | None = None  # the Python that runs it; null: the one that runs `ludus`
    coordinator: JobConfig = field(default_factory=JobConfig)  # the job that decides
    learner: JobConfig = field(default_factory=JobConfig)  # one job for each learner
    collector: JobConfig = field(default_factory=JobConfig)  # an array with a task for each collector
    nodes: int = 1  # over which the ranks of each learner are spread
    limit: int = 0  # collectors that run at the same time; 0: all of them
    interface: str | None = None  # the network interface whose address the others use, e.g. ib0; null: host names
    lead: int = 120  # seconds before the time limit at which a job writes its checkpoint and requeues itself
    requeues: int = 1000  # restarts of one job after which the league is given up
    probe: int = 30  # seconds to wait for a free node on which to try things before the league; 0: do not try

    def __post_init__(self) -> None:
        """Refuse what cannot be laid out."""
        _check(self)
        if self.interface is not None and not re.fullmatch(r"\w[\w.@:-]{0,14}", self.interface, re.ASCII):
            raise InputError(f"interface: {self.interface!r} names no network interface; write e.g. ib0")
        if self.nodes < 1:
            raise InputError("nodes: a learner needs at least one")
        if min(self.limit, self.lead, self.requeues, self.probe) < 0:
            raise InputError("limit, lead, requeues and probe must not be negative")

    def job(self, role: str) -> "JobConfig":
        """Return what the jobs of a role ask for, with nothing left open but what the cluster decides.

        >>> SlurmConfig(cpus=2, learner=JobConfig(gres="gpu:1")).job("learner").cpus
        2
        """
        own: JobConfig = getattr(self, role)
        settled = JobConfig()
        for name in (one.name for one in fields(JobConfig)):
            mine, common = getattr(own, name), getattr(self, name)
            both = [*common, *mine] if isinstance(mine, list) else common if mine is None else mine
            setattr(settled, name, both)
        return settled


def _check(asked: JobConfig | SlurmConfig) -> None:
    time, cpus, memory = asked.time, asked.cpus, asked.memory
    for name in _WORDS:
        word = getattr(asked, name)
        if word and not _WORD.fullmatch(word):
            raise InputError(f"{name}: Slurm cannot read {word!r}; write one word, as in --{name}=WORD")
    if time is not None and not _TIME.fullmatch(time):
        raise InputError(f"time: Slurm cannot read {time!r}; write minutes, hours:minutes:seconds or days-hours")
    if cpus is not None and cpus < 1:
        raise InputError("cpus: a job needs at least one")
    if memory is not None and not _MEMORY.fullmatch(memory):
        raise InputError(f"memory: Slurm cannot read {memory!r}; write a number and K, M, G or T, e.g. 8G")
    for option in asked.sbatch:
        if not option.startswith("-"):
            raise InputError(f"sbatch: {option!r} is no option; write e.g. --mail-type=FAIL")
