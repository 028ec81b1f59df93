"""From a config to a run directory that holds it: a new run, or one that goes on.

with begin(config, allow=["my_package"], accept=False, notify=print) as run:
    launch(run, plain=False, quiet=False, allow=["my_package"])

Both hold the lock of the run: `begin` while its block runs, and for a run that exists there is `held(run)`.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from collectors.check import try_out
from collectors.envs.config import make_environment
from collectors.envs.names import is_ours
from collectors.envs.watched import silent
from collectors.players.scripted import make_bots
from coordinator.opening import check_seats
from launch.config.changes import Change, differences
from launch.config.config import Config, ConfigError, settings_of, stored, to_plain
from launch.config.strings import leaked
from launch.sandbox.apart import Limit, apart
from launch.sandbox.trial import Try
from launch.terminal.spinner import Spinner, hushed
from launch.terminal.wording import allowing
from launch.trackers.make_sink import check_trackers
from league.player import Player
from league.plugins import load
from league.policies.layout import describe
from league.rulebook import founders
from league.spec import EnvSpec
from league.store.ledger import Ledger, LedgerLocked
from league.store.run_directory import RunDirectory, RunError
from league.store.run_lock import RunLocked, locked
from learners.algorithms.config import AlgoConfig

Notify = Callable[[str], None]

UNREPORTED = ("name", "runs")  # settings by which the run was found: a change of them is no news
TRIAL_SLOTS = 2  # slots in which an environment is tried before its first run
RELEASE_SECONDS = 5.0  # for the processes of a league whose `ludus run` was killed to see that, and to end


@contextmanager
def held(run: RunDirectory, slurm: bool = False) -> Iterator[None]:
    """Hold the lock of a run; raise RunError, with nothing changed, if its league is under way.

    After a kill -9 the lock is free at once, but the coordinator needs a moment to end: its ledger is waited for. Jobs
    of Slurm outlive the command that submits them, which looks for them in the queue itself.
    """
    try:
        with locked(run):
            if run.ledger.exists() and not slurm:
                with Spinner("waiting for the ledger"):
                    Ledger.open(run.ledger, RELEASE_SECONDS).close()
            yield
    except (RunLocked, LedgerLocked) as error:
        raise RunError(
            f"the league {run.name} is under way already. Look at it: ludus attach {run.name}. Stop it: ludus stop "
            f"{run.name}. Start another one: give another name="
        ) from error


def launch(
    run: RunDirectory, *, plain: bool, quiet: bool, allow: list[str], as_json: bool = False, given: bool = False
) -> int:
    """Start a league in the way that its stored config names; return the exit code when it ends.

    Quiet: nothing is printed but errors, and those to standard error. The caller holds the lock of the run (`begin`,
    `held`). `given`: the user gave the config in this call, or trusts it, so that the shell in it may run.
    """
    with hushed(quiet):
        return _launch(run, plain=plain, quiet=quiet, allow=allow, as_json=as_json, given=given)


def _launch(run: RunDirectory, *, plain: bool, quiet: bool, allow: list[str], as_json: bool, given: bool) -> int:
    config = stored(run)
    if config.launch.transport == "tcp" and config.launch.name != "inline":
        from launch.slurm.trust import approve_keys

        approve_keys(run, given)
    if config.launch.name == "slurm":
        return _submit(config, run, quiet=quiet, allow=allow, given=given)
    if config.launch.name == "inline":
        from launch.processes.inline import run as run_inline

        code = run_inline(config, run, quiet=quiet, allow=allow, as_json=as_json)
    else:
        from launch.processes.local import run as run_local

        code = run_local(config, run, plain=plain, quiet=quiet, allow=allow, as_json=as_json)
    if not code and not quiet:
        _report(run)
    return code


def _submit(config: Config, run: RunDirectory, *, quiet: bool, allow: list[str], given: bool) -> int:
    """Launch a league as Slurm jobs, unless it is over and has no budget left."""
    from launch.processes.ending import OVER_ALREADY, finished
    from launch.slurm.submit import run as run_slurm
    from launch.slurm.trust import approve

    def over() -> str:
        return "" if finished(run) is None else OVER_ALREADY

    approve(run, config, given)
    return run_slurm(config, run, over=over, notify=(lambda line: None) if quiet else _print, allow=allow)


def _report(run: RunDirectory) -> None:
    """Write the report of a league that is over; a failure of the report is no failure of the league."""
    try:
        from launch.viewers.reporting import write_report

        line = f"the report, to look at or to send: {write_report(run)}"
    except Exception as error:
        line = f"no report was written ({type(error).__name__}: {error}); try again with: ludus report {run.name}"
    sys.stderr.write(f"ludus: {line}\n")


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def begin(config: Config, *, allow: Collection[str], accept: bool, notify: Notify) -> Iterator[RunDirectory]:
    """Hold the run of this config: made now, or found with the same config, or with changes that are allowed."""
    with Spinner("trying the environment") as progress:
        rehearse(config, allow, progress.update)
    _check_slurm(config)
    run = RunDirectory(Path(config.runs) / config.name)
    with held(run, slurm=config.launch.name == "slurm"):
        if exists(run):
            run.refuse_links()
            _go_on(run, config, accept, notify, allow)
        else:
            run.create().write_config(to_plain(config))
        yield run


def _check_slurm(config: Config) -> None:
    """Refuse jobs where there is no Slurm, before a run is made for them or changed."""
    if config.launch.name == "slurm" and not config.launch.dry_run:
        from launch.slurm.commands import require

        require()


def exists(run: RunDirectory) -> bool:
    """Return whether there is a run to go on with; raise RunError if there is half of one."""
    if run.layout.exists() and run.check().config.exists():
        return True
    if run.ledger.exists():
        raise RunError(
            f"{run.root} has a ledger, but no {run.config.name}: it is not a whole run. Choose another name="
        )
    return False


def accepted_changes(run: RunDirectory, config: Config, accept: bool, allow: Collection[str] = ()) -> list[Change]:
    """Return what is different from the config that a run has; raise ConfigError if it may not change."""
    changes = differences(to_plain(stored(run)), to_plain(config))
    grave = [change for change in changes if not change.harmless]
    if grave and not accept:
        raise ConfigError(_refusal(run, grave, allow))
    return changes


def _go_on(run: RunDirectory, config: Config, accept: bool, notify: Notify, allow: Collection[str]) -> None:
    changes = accepted_changes(run, config, accept, allow)
    if not changes:
        return
    for change in changes:
        if change.key not in UNREPORTED:
            notify(f"changed: {change}")
    if run.ledger.exists():
        Ledger.open(run.ledger, 0.0).close()  # on Slurm a coordinator may have it: its config must not change
    run.write_config(to_plain(config))


def _refusal(run: RunDirectory, changes: Sequence[Change], allow: Collection[str]) -> str:
    lines = "\n".join(f"  {change}" for change in changes)
    return (
        f"the run {run.name!r} exists with another config:\n{lines}\n"
        f"Go on with the old one: ludus resume {run.name}{allowing(allow)}. "
        "Go on with the new one: add --accept-changes. Start another run: add name=ANOTHER."
    )


def rehearse(config: Config, allow: Collection[str] = (), progress: Notify = silent) -> EnvSpec:
    """Make every part once, so that a config that cannot work fails here, before there is a run directory."""
    if secret := leaked(to_plain(config)):
        raise ConfigError(secret)
    _founders(config)
    _check_device(config)
    check_trackers(config.track.to)
    spec = _tried_apart(config, allow, progress)
    if spec is not None:
        _check_against(config, spec, allow)
        return spec
    env = make_environment(config.env, TRIAL_SLOTS, allow)
    try:
        _check_against(config, env.spec, allow)
        try_out(env, bots=make_bots(_founders(config, env.spec.roles), env.spec, allow))
        return env.spec
    finally:
        env.close()


def _tried_apart(config: Config, allow: Collection[str], progress: Notify) -> EnvSpec | None:
    """Try foreign code in another process; None if that is not needed, or its error has to be raised here."""
    if is_ours(config.env.name) and config.env.outcome is None:
        return None
    order = Try(env=config.env, slots=TRIAL_SLOTS, league=config.league, allow=tuple(allow))
    who = config.env.id or config.env.name
    answer = apart(order, Limit(who, config.collector.hang_seconds, "collector.hang_seconds="), progress)
    return None if answer is None else msgspec.json.decode(answer, type=EnvSpec)


def _check_against(config: Config, spec: EnvSpec, allow: Collection[str]) -> None:
    check_seats(config.league, spec)
    _founders(config, spec.roles)
    _check_parts(config, spec, allow)


def _founders(config: Config, roles: Sequence[str] = ()) -> list[Player]:
    try:
        return founders(config.league, roles)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _check_device(config: Config) -> None:
    """Refuse a GPU that is not there. On Slurm it is elsewhere: whether a node has one shows when its job starts."""
    if config.learner.device != "cuda" or config.launch.name == "slurm":
        return
    import torch

    if not torch.cuda.is_available():
        raise ConfigError(
            "learner.device=cuda: torch finds no GPU here. Use learner.device=auto, which takes a GPU if there is one, "
            "or install a driver and a torch with CUDA"
        )


def _check_span(algo: AlgoConfig, config: Config) -> None:
    """Refuse an anneal that would never end."""
    budget = config.league.budget
    if algo.anneals and not algo.anneal_decisions and budget.minutes is None and budget.env_steps is None:
        raise ConfigError(
            f"algo.{algo.anneals} is annealed over the league's budget, but it has none. Set league.budget.minutes or "
            "league.budget.env_steps, or say in algo.anneal_decisions over how many decisions to anneal"
        )


def _check_parts(config: Config, spec: EnvSpec, allow: Collection[str]) -> None:
    settings = settings_of(config, allow)
    for name, player in [("", settings.default), *settings.own.items()]:
        try:
            player.algo.refuse(player.policy)
            _check_span(player.algo, config)
            describe(player.policy, spec)
        except ValueError as error:
            raise ConfigError(f"league.players.{name}: {error}" if name else str(error)) from error
    if config.learner.replay_in == "buffer" and not any(player.replays for player in settings):
        raise ConfigError(
            "learner.replay_in=buffer: no player learns from a replay (algo is "
            f"{', '.join(sorted({player.algo.name for player in settings}))}). Leave it at learner, or use algo=dqn"
        )
    for player in settings:
        if not player.algo.algorithm.startswith("learners."):  # ours are there, and loading them takes time
            load(player.algo.algorithm)
