"""`ludus run --dry-run`: everything that is checked before a league starts, and what would be started. Writes nothing.

print(as_lines(preview(compose(["env=tic_tac_toe"]), allow=(), accept=False)))
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from launch.config.config import Config
from launch.config.start_weights import check_weights, find_weights, with_hashes
from launch.processes.ending import finished
from launch.start import UNREPORTED, accepted_changes, exists, try_config, with_payoff
from launch.terminal.spinner import Spinner
from launch.topology.parts import processes, topology
from league.player import Status
from league.rulebook import founders
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore

WHERE = {"local": "processes on this machine", "inline": "in one process", "slurm": "as jobs of Slurm"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What `ludus run` would do."""

    run: str
    new: bool
    changes: list[str]  # of the config of a run that exists
    environment: str
    seats: int
    learning: list[str]  # players
    scripted: list[str]
    mixtures: list[str]
    launch: str
    processes: dict[str, int]  # how many of each role; nothing if all is in one process
    minutes: float | None
    env_steps: int | None
    final_games: int
    over: str  # why nothing would be started: the league has ended, and no budget is left


def preview(config: Config, *, allow: Collection[str], accept: bool) -> Preview:
    """Do what `ludus run` does before it writes anything, and raise what it would raise."""
    with Spinner("trying the environment") as progress:
        tried = try_config(config, allow, progress.update)
    spec, run = tried.spec, RunDirectory(Path(config.runs) / config.name)
    config, _ = with_payoff(config, tried, run)
    weights = find_weights(config, SnapshotStore(run.snapshots))
    check_weights(weights, config, spec, allow)
    config = with_hashes(config, weights)
    found = exists(run)
    changes = accepted_changes(run, config, accept, allow) if found else []
    ended = finished(run, config.league.budget) if found else None
    players = founders(config.league, spec.roles)
    return Preview(
        run=str(run.root),
        new=not found,
        changes=[str(change) for change in changes if change.key not in UNREPORTED],
        environment=config.env.id or config.env.name,
        seats=len(spec.seats),
        learning=[str(player.id) for player in players if player.learning],
        scripted=[str(player.id) for player in players if player.status == Status.SCRIPTED],
        mixtures=[str(player.id) for player in players if player.status == Status.MIXTURE],
        launch=config.launch.name,
        processes={} if config.launch.name == "inline" else processes(topology(config)),
        minutes=config.league.budget.minutes,
        env_steps=config.league.budget.env_steps,
        final_games=config.league.evaluation.final_games,
        over="" if ended is None else ended.line,
    )


def as_lines(found: Preview) -> str:
    """Return a preview for people."""
    return "\n".join(_lines(found))


def _lines(found: Preview) -> Iterator[str]:
    goes_on = "it exists, and goes on with " + ("these changes" if found.changes else "its config")
    state = "new" if found.new else "nothing would be played" if found.over else goes_on
    yield f"run          {found.run} ({state})"
    yield from (f"             {change}" for change in found.changes)
    yield from [f"over         {found.over}"] * bool(found.over)
    yield f"environment  {found.environment}, {_several(found.seats, 'seat')}; played at random for a moment: it works"
    yield f"learning     {', '.join(found.learning)}"
    yield f"scripted     {', '.join(found.scripted) or 'nobody'}"
    yield from [f"mixtures     {', '.join(found.mixtures)}"] * bool(found.mixtures)
    total = sum(found.processes.values())
    roles = ", ".join(_several(count, role) for role, count in found.processes.items())
    yield f"launch       {found.launch}: " + (
        f"{total} {WHERE[found.launch]}: {roles}" if total else WHERE[found.launch]
    )
    yield f"budget       {_budget(found)}"
    yield f"at the end   {_several(found.final_games, 'game')} of each learning player against each anchor"


def _budget(found: Preview) -> str:
    minutes = [] if found.minutes is None else [f"{found.minutes:g} minutes of play"]
    steps = [] if found.env_steps is None else [f"{found.env_steps:,} env steps"]
    return " or ".join(minutes + steps) or "none: it plays until it is stopped"


def _several(count: int, what: str) -> str:
    """Return a count with its noun.

    >>> _several(1, "collector"), _several(2, "collector")
    ('1 collector', '2 collectors')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"
