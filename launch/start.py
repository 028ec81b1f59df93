"""From a config to a run directory that holds it: a new run, or one that goes on.

run = begin(config, allow=["my_package"], accept=False, say=print)
launch(run, plain=False, quiet=False, allow=["my_package"])
"""

import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import msgspec

from collectors.check import try_out
from collectors.envs.config import is_ours, make_environment
from collectors.players.scripted import make_bots
from coordinator.opening import check_seats
from launch.apart import Limit, apart
from launch.changes import Change, differences
from launch.config import Config, ConfigError, algo_of, from_plain, own_algos, own_policies, to_plain
from launch.progress import Progress
from launch.trackers.sink import check_trackers
from launch.trial import Try
from league.player import Player
from league.plugins import resolve
from league.policies.layout import describe
from league.rulebook import founders
from league.spec import EnvSpec
from league.store.ledger import Ledger
from league.store.run_directory import RunDirectory, RunError
from learners.algorithms.config import AlgoConfig
from learners.algorithms.replay_config import ReplayConfig

Say = Callable[[str], None]

TRIALS = 2  # slots in which an environment is tried before its first run


def launch(run: RunDirectory, *, plain: bool, quiet: bool, allow: list[str], as_json: bool = False) -> int:
    """Start a league in the way that its stored config names; return the exit code when it ends."""
    config = stored(run)
    if config.launch.name == "slurm":
        from launch.slurm.submit import run as run_slurm

        return run_slurm(config, run, say=(lambda line: None) if quiet else _print, allow=allow)
    if config.launch.name == "inline":
        from launch.inline import run as run_inline

        code = run_inline(config, run, quiet=quiet, allow=allow, as_json=as_json)
    else:
        from launch.local import run as run_local

        code = run_local(config, run, plain=plain, quiet=quiet, allow=allow, as_json=as_json)
    if not code and not quiet:
        _report(run)
    return code


def _report(run: RunDirectory) -> None:
    """Write the report of a league that is over; whatever is wrong with it, the league is well."""
    try:
        from launch.reporting import write_report

        line = f"the report, to look at or to send: {write_report(run)}"
    except Exception as error:
        line = f"no report was written ({type(error).__name__}: {error}); try again with: ludus report {run.name}"
    sys.stderr.write(f"ludus: {line}\n")


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def begin(config: Config, *, allow: Collection[str], accept: bool, say: Say) -> RunDirectory:
    """Return the run of this config: made now, or found with the same config, or with changes that are allowed."""
    with Progress("trying the environment"):
        rehearse(config, allow)
    run = RunDirectory(Path(config.runs) / config.name)
    if run.layout.exists() and run.check().config.exists():
        _go_on(run, config, accept, say)
        return run
    if run.ledger.exists():
        raise RunError(
            f"{run.root} has a ledger, but no {run.config.name}: it is not a whole run. Choose another name="
        )
    run.create().write_config(to_plain(config))
    return run


def stored(run: RunDirectory) -> Config:
    """Return the config that a run was started with last."""
    try:
        return from_plain(run.read_config())
    except ConfigError as error:
        raise ConfigError(f"{run.config} was written by another version of Ludus, or by hand: {error}") from error


def _go_on(run: RunDirectory, config: Config, accept: bool, say: Say) -> None:
    changes = differences(to_plain(stored(run)), to_plain(config))
    told = [change for change in changes if change.key not in ("name", "runs")]
    grave = [change for change in told if not change.harmless]
    if grave and not accept:
        raise ConfigError(_refusal(run, grave))
    if not changes:
        return
    for change in told:
        say(f"changed: {change}")
    if run.ledger.exists():
        Ledger.open(run.ledger, 0.0).close()  # raises if a coordinator has it: its config must not change beneath it
    run.write_config(to_plain(config))


def _refusal(run: RunDirectory, changes: Sequence[Change]) -> str:
    lines = "\n".join(f"  {change}" for change in changes)
    return (
        f"the run {run.name!r} exists with another config:\n{lines}\n"
        f"Go on with the old one: ludus resume {run.name}. Go on with the new one: add --accept-changes. "
        "Start another run: add name=ANOTHER."
    )


def rehearse(config: Config, allow: Collection[str] = ()) -> EnvSpec:
    """Make every part once, so that what cannot work fails here, in one line, before there is a run directory."""
    _founders(config)
    check_trackers(config.track.to)
    spec = _tried_apart(config, allow)
    if spec is not None:
        _check_against(config, spec, allow)
        return spec
    env = make_environment(config.env, TRIALS, allow)
    try:
        _check_against(config, env.spec, allow)
        try_out(env, bots=make_bots(_founders(config, env.spec.roles), env.spec, allow))
        return env.spec
    finally:
        env.close()


def _tried_apart(config: Config, allow: Collection[str]) -> EnvSpec | None:
    """Try foreign code where it can break nothing; None if that is not needed, or has to be done here to know why."""
    if is_ours(config.env.name) and config.env.outcome is None:
        return None
    order = Try(env=config.env, slots=TRIALS, league=config.league, allow=tuple(allow))
    who = config.env.id or config.env.name
    answer = apart(order, Limit(who, config.collector.hang_seconds, "collector.hang_seconds="))
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


def _check_span(algo: AlgoConfig, config: Config) -> None:
    """Refuse an anneal that would never come to its end."""
    budget = config.league.budget
    if algo.anneals and not algo.anneal_decisions and budget.minutes is None and budget.env_steps is None:
        raise ValueError(
            f"algo.{algo.anneals} is annealed over the league's budget, but it has none. Set league.budget.minutes or "
            "league.budget.env_steps, or say in algo.anneal_decisions over how many decisions to anneal"
        )


def _check_parts(config: Config, spec: EnvSpec, allow: Collection[str]) -> None:
    policies = {"": config.policy, **own_policies(config)}
    algos = {"": algo_of(config, allow), **own_algos(config, allow)}
    for name in policies | algos:
        policy = policies.get(name, config.policy)
        try:
            algo = algos.get(name, algos[""])
            algo.refuse(policy)
            _check_span(algo, config)
            describe(policy, spec)
        except ValueError as error:
            raise ConfigError(f"league.players.{name}: {error}" if name else str(error)) from error
    if config.learner.replay_in == "buffer" and not any(isinstance(algo, ReplayConfig) for algo in algos.values()):
        raise ConfigError(
            "learner.replay_in=buffer: no player learns from a replay (algo is "
            f"{', '.join(sorted({algo.name for algo in algos.values()}))}). Leave it at learner, or use algo=dqn"
        )
    for algo in algos.values():
        if not algo.algorithm.startswith("learners."):  # ours are there, and loading them takes time
            resolve("ludus.algorithms", algo.algorithm, allow)
