"""From a config to a run directory that holds it: a new run, or one that goes on.

with begin(config, allow=["my_package"], accept=False, notify=print) as run:
    launch(run, plain=False, quiet=False, allow=["my_package"])

Both hold the lock of the run: `begin` while its block runs, and for a run that exists there is `held(run)`.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec

from collectors.envs.config import EnvError, make_environment
from collectors.envs.names import is_ours
from collectors.envs.other_python.far_order import is_program
from collectors.envs.watched import silent
from coordinator.opening import check_seats
from launch.config.changes import Change, differences
from launch.config.config import Config, ConfigError, settings_of, stored, to_plain
from launch.config.data_sets import check_imitation, deciders_of
from launch.config.env_spec import check_rules
from launch.config.foreign import refuse_foreign
from launch.config.start_weights import check_weights, copy_weights, find_weights, with_hashes
from launch.config.strings import leaked
from launch.processes.nash_conv_meter import check_exploit_every
from launch.sandbox.apart import Limit, apart
from launch.sandbox.payoff_choice import choose_payoff
from launch.sandbox.trial import Tried, Try, try_environment
from launch.terminal.spinner import Spinner, hushed
from launch.terminal.wording import allowing
from launch.trackers.make_sink import check_trackers
from league.payoff import AUTO, OUTCOME, RETURN
from league.player import Player
from league.plugins import load
from league.policies.binding import bind
from league.policies.layout import BoundPolicy, PolicyConfig, describe
from league.rulebook import founders
from league.spec import EnvSpec
from league.store.ledger import Ledger, LedgerLocked
from league.store.run_directory import RunDirectory, RunError
from league.store.run_lock import RunLocked, locked
from league.store.snapshots import SnapshotStore
from learners.algorithms.abilities import able_to
from learners.algorithms.config import AlgoConfig, assign_groups

Notify = Callable[[str], None]

UNREPORTED = ("name", "runs")  # settings by which the run was found: a change of them is no news
REHEARSE = "league.policies.rehearsal:rehearse"  # by name: it imports torch, which only foreign networks need here
TRIAL_SLOTS = 2  # slots in which an environment is tried before its first run
RELEASE_SECONDS = 5.0  # for the processes of a league whose `ludus run` was killed to see that, and to end


@contextmanager
def held(run: RunDirectory, slurm: bool = False) -> Iterator[None]:
    """Hold the lock of a run; raise RunError, with nothing changed, if its league is under way or lost its ledger.

    After a kill -9 the lock is free at once, but the coordinator needs a moment to end: its ledger is waited for. Jobs
    of Slurm outlive the command that submits them, which looks for them in the queue itself.
    """
    try:
        with locked(run):
            run.refuse_lost_ledger()
            if run.ledger.exists() and not slurm:
                with Spinner("waiting for the ledger"):
                    Ledger.open(run.ledger, RELEASE_SECONDS).close()
            yield
    except (RunLocked, LedgerLocked) as error:
        raise RunError(
            f"the league {run.name} is under way already. {_how_to_reach(run)} Start another one: give another name="
        ) from error


def _how_to_reach(run: RunDirectory) -> str:
    """Return what can be done with a league that is under way; one in a single process serves nobody."""
    if run.config.exists() and stored(run).launch.name == "inline":
        return "It plays inside of the command that started it (launch=inline), and Ctrl-C there stops it."
    return f"Look at it: ludus attach {run.name}. Stop it: ludus stop {run.name}."


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
    refuse_foreign(to_plain(config), allow)
    allow = [one for one in allow if not is_program(one) or one == config.env.python]  # the league's processes get it
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
    from launch.processes.ending import finished
    from launch.slurm.submit import run as run_slurm
    from launch.slurm.trust import approve

    def over() -> str:
        found = finished(run)
        return "" if found is None else found.line

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
        tried = try_config(config, allow, progress.update)
    if tried.endless:
        notify(f"warning: {tried.endless}")
    _check_slurm(config)
    run = RunDirectory(Path(config.runs) / config.name)
    run.refuse_links()
    store = SnapshotStore(run.snapshots)
    weights = find_weights(config, store)
    check_weights(weights, config, tried.spec, allow)
    config = with_hashes(config, weights)
    with held(run, slurm=config.launch.name == "slurm"):
        config = _decided(config, tried, run, notify)
        if exists(run):
            copy_weights(weights, store)  # of players that are new in the config
            _go_on(run, config, accept, notify, allow)
        else:
            for note in tried.notes:
                notify(note)
            run.refuse_foreign_files()
            run.create()
            copy_weights(weights, store)
            run.write_config(to_plain(config))
        yield run


def _decided(config: Config, tried: Tried, run: RunDirectory, notify: Notify) -> Config:
    """Return the config with what counts as better, and say why if the trial decided it."""
    config, why = with_payoff(config, tried, run)
    if why:
        other = OUTCOME if config.league.payoff.by == RETURN else RETURN
        notify(f"the league goes by {config.league.payoff.by}: {why} (league.payoff={other} to change that)")
    return config


def _check_slurm(config: Config) -> None:
    """Refuse jobs where there is no Slurm, before a run is made for them or changed."""
    if config.launch.name == "slurm" and not config.launch.dry_run:
        from launch.slurm.commands import require

        require()


def exists(run: RunDirectory) -> bool:
    """Return whether there is a run to go on with; raise RunError if there is half of one."""
    if run.layout.exists() and run.check().config.exists():
        return True
    lacking = run.config if run.layout.exists() else run.layout
    for path in (run.ledger, run.config):
        if path.exists():
            raise RunError(
                f"{run.root} has a file {path.name}, but no file {lacking.name}: it is not a whole run. Choose another "
                "name="
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
    return try_config(config, allow, progress).spec


def try_config(config: Config, allow: Collection[str] = (), progress: Notify = silent) -> Tried:
    """Do what `rehearse` does; return all that the trial of the environment showed."""
    if secret := leaked(to_plain(config)):
        raise ConfigError(secret)
    refuse_foreign(to_plain(config), allow)
    _founders(config)
    _check_device(config)
    check_trackers(config.track.to)
    tried = _tried_apart(config, allow, progress)
    if tried is not None:
        _check_against(config, tried.spec, allow, progress)
        return _shown(tried, config, allow)
    env = make_environment(config.env, TRIAL_SLOTS, allow)
    try:
        _check_against(config, env.spec, allow, progress)
        players = _founders(config, env.spec.roles)
        tried = try_environment(env, players, config.league, allow, config.env, config.collector.slots)
        return _shown(tried, config, allow)
    finally:
        env.close()


def _shown(tried: Tried, config: Config, allow: Collection[str]) -> Tried:
    """Refuse what only the trial shows: episodes that do not end, and agents of a seat who act in turns."""
    if tried.never_ends:  # its league would neither learn nor end
        raise EnvError(tried.endless)
    settings = settings_of(config, allow)
    for seat in tried.turns:
        agents = [tried.spec.agents[agent] for agent in tried.spec.seats[seat].agents]
        for name, player in [("", settings.default), *settings.own.items()]:
            with _blaming(name):
                player.algo.refuse_turns(tried.spec.name, agents)
    return tried


@contextmanager
def _blaming(player: str) -> Iterator[None]:
    """Turn a ValueError into a ConfigError that names the player whose settings are at fault, if it has its own."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"league.players.{player}: {error}" if player else str(error)) from error


def _tried_apart(config: Config, allow: Collection[str], progress: Notify) -> Tried | None:
    """Try foreign code in another process; None if that is not needed, or its error has to be raised here."""
    if is_ours(config.env.name) and config.env.outcome is None:
        return None
    order = Try(
        env=config.env,
        slots=TRIAL_SLOTS,
        league=config.league,
        allow=tuple(allow),
        wanted=config.collector.slots,
    )
    who = config.env.id or config.env.name
    answer = apart(order, Limit(who, config.collector.hang_seconds, "collector.hang_seconds="), progress)
    return None if answer is None else msgspec.json.decode(answer, type=Tried)


def with_payoff(config: Config, tried: Tried, run: RunDirectory) -> tuple[Config, str]:
    """Return the config with what counts as better if the trial has to decide it, and why; a run keeps what it has.

    The trial also decides whether returns are kept beside scores.
    """
    payoff, why = config.league.payoff, ""
    known = stored(run).league.payoff if exists(run) else None
    if payoff.by == AUTO and known is not None:
        payoff = replace(payoff, by=known.by)
    elif payoff.by == AUTO:
        by, why = choose_payoff(tried.margins, tried.spec)
        payoff = replace(payoff, by=by)
    if payoff.returns is None:
        payoff = replace(payoff, returns=tried.returns if known is None else known.returns)
    return replace(config, league=replace(config.league, payoff=payoff)), why


def _check_against(config: Config, spec: EnvSpec, allow: Collection[str], progress: Notify) -> None:
    check_seats(config.league, spec)
    if config.league.probe.enabled and spec.cooperative:
        raise ConfigError(f"league.probe: all seats of {spec.name} are on one side, so nobody can be exploited")
    _founders(config, spec.roles)
    check_rules(config, spec, allow)
    _check_parts(config, spec, allow, progress)
    check_exploit_every(config, spec, allow)


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


def _check_parts(config: Config, spec: EnvSpec, allow: Collection[str], progress: Notify) -> None:
    settings = settings_of(config, allow)
    deciders = cache(lambda data: deciders_of(data, config.env, spec, progress))  # several players may imitate one
    checked: list[PolicyConfig] = []
    for name, player in [("", settings.default), *settings.own.items()]:
        with _blaming(name):
            player.algo.refuse_game(spec, config.launch.ranks)
            player.algo.refuse(player.policy)
            if not config.league.tournament.enabled:
                _check_span(player.algo, config)
            policy = bind(player.policy, spec, allow)
            player.algo.refuse(policy)  # once more: only its code says whether it has a memory
            check_imitation(player.algo, spec, deciders, allow)
            assign_groups(player.algo.groups, describe(policy, spec))
            if isinstance(policy, BoundPolicy) and policy not in checked:
                checked.append(policy)
                load(REHEARSE)(policy, spec, config.collector.slots)
    asked = {"replay_in=buffer": config.learner.replay_in == "buffer", "keep_replay=true": config.learner.keep_replay}
    for setting in (name for name, on in asked.items() if on and not any(player.replays for player in settings)):
        raise ConfigError(
            f"learner.{setting}: no player learns from a replay (algo is "
            f"{', '.join(sorted({player.algo.name for player in settings}))}). Leave it at its default, or use one "
            f"with a replay: {', '.join(able_to('replays'))}"
        )
    if config.collector.inference == "central" and any(player.algo.weight_noise for player in settings):
        raise ConfigError(
            "collector.inference=central: algo=es plays each episode with other weights, and an inference process has "
            "only those of the learner. Set collector.inference=local"
        )
    for player in settings:
        if not player.algo.algorithm.startswith("learners."):  # ours are there, and loading them takes time
            load(player.algo.algorithm)
