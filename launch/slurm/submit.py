"""From a run directory to jobs in the queue: all of them, or none.

    submit(config, run, allow, notify=print)

The scripts are tried by `sbatch --test-only`, a probe job tries the nodes. Then the coordinator's job is submitted
held, and the others to start after it; it is released when all are there and the run directory has their ids. A
submission that is killed in between leaves a held job, and nothing that runs; `ludus stop` ends it.
"""

import secrets
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from launch.config.config import Config
from launch.config.env_spec import prepare_league
from launch.slurm.commands import BUSY, SlurmError, call, cancel, cancel_named, queue, require
from launch.slurm.commands import submit as sbatch
from launch.slurm.record import Submitted, write
from launch.slurm.script import SHARED, JobScript, array, jobs, preparation, python, requests, script, stem_of
from launch.terminal.spinner import Spinner
from launch.topology.parts import key_holders, topology
from launch.topology.roles import JOB_ROLES, ProcessRole
from league import limits
from league.store.files import publish
from league.store.regular_file import read_regular
from league.store.run_directory import RunDirectory
from league.wire.keys import make_keys

Notify = Callable[[str], None]


def run(
    config: Config, run: RunDirectory, *, over: Callable[[], str], notify: Notify, allow: Sequence[str] = ()
) -> int:
    """Launch a league as Slurm jobs, and return at once. `over` returns why nothing is to be launched, or ""."""
    prepare_league(config, run, allow)
    with Spinner("making the keys"):
        make_keys(run.keys, key_holders(topology(config)))
    if config.launch.dry_run:
        for path in write_scripts(config, run, allow).values():
            notify(str(path))
        notify("nothing was submitted: launch.dry_run=true")
        return 0
    require()
    wanted = jobs(config, run)
    _refuse_twice(run, wanted)
    if why := over():
        notify(why)
        return 0
    paths = write_scripts(config, run, allow)
    with Spinner("asking Slurm"):
        for path in paths.values():
            call("sbatch", "--test-only", str(path))
    probe(config, run, notify)
    run.ended.unlink(missing_ok=True)
    run.drop_claims()
    submitted = submit(run, wanted, paths)
    _report(run, wanted, submitted, notify)
    return 0


def write_scripts(config: Config, run: RunDirectory, allow: Sequence[str]) -> dict[str, Path]:
    """Write the scripts of all jobs into the run directory; return them by label."""
    run.slurm.mkdir(exist_ok=True)
    publish(run.slurm / SHARED.name, SHARED.read_bytes())
    paths = {}
    for job in jobs(config, run):
        paths[job.label] = run.slurm.resolve() / f"{job.label}.sbatch"
        publish(paths[job.label], script(job, config, run, Path.cwd(), allow).encode())
    return paths


def _refuse_twice(run: RunDirectory, wanted: Sequence[JobScript]) -> None:
    alive = [row.id for row in queue([job.name for job in wanted]) if row.alive]
    if alive:
        raise SlurmError(
            f"the run {run.name} has jobs in the queue already ({', '.join(alive[:8])}); look with: "
            f"ludus status {run.name}. End them with: ludus stop {run.name}"
        )


# --- the probe -----------------------------------------------------------------------------------------------


def probe(config: Config, run: RunDirectory, notify: Notify) -> None:
    """Try on a node of each kind whether it sees the run directory and can start the program."""
    slurm = config.launch.slurm
    if not slurm.probe:
        return
    token = secrets.token_hex(8)
    publish(run.slurm / "probe", token.encode())
    asked = {
        tuple(requests(slurm.job(role), but=("gres", "time", "cpus-per-task", "mem"))): role
        for role in reversed(JOB_ROLES)
    }
    for options, role in asked.items():
        with Spinner(f"trying whether a node can start a {role}"):
            _probe_role(config, run, role, options, token, notify)


def _probe_role(
    config: Config, run: RunDirectory, role: ProcessRole, options: Sequence[str], token: str, notify: Notify
) -> None:
    slurm, root = config.launch.slurm, run.root.resolve()
    asked, words = slurm.job(role), [word for option in options for word in shlex.split(option)]
    text = "\n".join(
        [
            f'[ "$(cat {shlex.quote(f"{root}/slurm/probe")} 2>/dev/null)" = {token} ] || {{ echo unseen; exit 3; }}',
            *preparation(asked),
            f"{python(asked)} -c 'import launch.processes' || exit 4",
        ]
    )
    flags = [f"--immediate={slurm.probe}", "--quiet", "--ntasks=1", "--time=2", f"--chdir={Path.cwd()}"]
    flags.append(f"--job-name={stem_of(run)}.probe")
    try:
        call("srun", *flags, *words, "bash", "-c", text, seconds=slurm.probe + 120.0)
    except SlurmError as error:
        if BUSY in str(error):
            notify(f"no node was free for a probe of the {role}'s jobs within {slurm.probe} s: they go untried")
        elif "Exited with exit code 3" in str(error) or "chdir" in str(error):
            raise SlurmError(
                f"the node that a {role} would run on does not see {root}: put the runs where all nodes can read and "
                "write them, with runs=DIRECTORY on a shared file system"
            ) from error
        else:
            raise SlurmError(
                f"a {role} cannot be started on a node ({error}); launch.slurm.setup, prefix and python say how"
            ) from error


# --- all or none ---------------------------------------------------------------------------------------------


def submit(run: RunDirectory, wanted: Sequence[JobScript], paths: dict[str, Path]) -> list[Submitted]:
    """Submit all jobs, or none; return them with their ids."""
    done: list[Submitted] = []
    before = read_regular(run.jobs, limits.SMALL_FILE) if run.jobs.exists() else None
    try:
        for job in wanted:
            order = [f"--dependency=after:{done[0].id}"] if done else ["--hold"]
            number = sbatch(str(paths[job.label]), *order)
            done.append(Submitted(role=job.role, label=job.label, name=job.name, id=number))
            write(run, done)  # after each: if this is killed, the jobs so far are on record
        call("scontrol", "release", done[0].id)
    except BaseException:
        cancel([job.id for job in done])
        cancel_named([job.name for job in wanted])  # one whose id did not arrive
        _restore(run, before)
        raise
    return done


def _restore(run: RunDirectory, before: bytes | None) -> None:
    if before is None:
        run.jobs.unlink(missing_ok=True)
    else:
        publish(run.jobs, before)


def _report(run: RunDirectory, wanted: Sequence[JobScript], done: Sequence[Submitted], notify: Notify) -> None:
    notify(f"{run.name}: {len(done)} jobs are in the queue, and go on without you")
    for job, submitted in zip(wanted, done, strict=True):
        tasks = f"_[{array(range(job.tasks))}]" if job.tasks else ""
        notify(f"  {job.label:12} {submitted.id}{tasks}")
    notify(f"look: ludus status {run.name}    ludus attach {run.name}    ludus logs {run.name} -f")
    notify(f"end:  ludus stop {run.name}")
