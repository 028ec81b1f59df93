"""`ludus tournament`: everybody against everybody, in parallel collectors, into a ledger of its own.

    run = tournament(find_entrants(["a.safetensors", "first/main", "random"]), TournamentOrder(rounds=50))

It is an ordinary league in which nobody learns: tickets, leases and results are counted exactly once as in any other,
and every command that reads a run reads it. The same call goes on with it; more rounds play on.
"""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from collectors.envs.config import EnvConfig
from coordinator.scheduler import Scheduler
from launch.config.config import Config, LaunchConfig, from_plain, to_plain
from launch.spawn.exit_code import INTERRUPTED
from launch.start import begin, launch
from launch.tournaments.entrants import TournamentEntrant, TournamentError, common_environment
from launch.viewers.view import read_offline
from league.ids import PlayerId
from league.rulebook import EvaluationConfig, LeagueConfig
from league.state import OVER
from league.store.run_directory import RunDirectory
from league.tournament_rules import TournamentConfig

FEWEST = 2  # entrants
USUAL = 50  # rounds, if nothing else ends it


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentOrder:
    """How much is played, and where."""

    rounds: int | None = None
    until: float | None = None
    against: Sequence[str] = ()  # entrants, as they were named
    anchors: tuple[tuple[str, float], ...] = ()  # pinned ratings; none: the first entrant is at 0
    name: str = ""  # of its run; empty: after its entrants
    runs: str = "runs"
    seed: int = 1
    collectors: int = 0
    inline: bool = False

    def __post_init__(self) -> None:
        """Refuse a tournament without games, or without an end."""
        for name in ("rounds", "until"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise TournamentError(f"--{name} must be more than 0, got {value:g}")

    def rules(self, entrants: Sequence[TournamentEntrant]) -> TournamentConfig:
        """Return the settings of the league."""
        given = {one.given: one.name for one in entrants}
        rounds = USUAL if self.rounds is None and self.until is None else self.rounds
        return TournamentConfig(rounds=rounds, until=self.until, against=[given[name] for name in self.against])


def tournament(
    entrants: Sequence[TournamentEntrant],
    order: TournamentOrder,
    *,
    env: EnvConfig | None = None,
    allow: Collection[str] = (),
    quiet: bool = True,
) -> RunDirectory:
    """Play a tournament to its end, and return its run; at once if it was played before."""
    config = tournament_config(entrants, order, env)
    with begin(config, allow=allow, accept=True, notify=lambda line: None) as run:
        if not _complete(run):
            code = launch(run, plain=False, quiet=quiet, allow=list(allow), given=True)
            if code == INTERRUPTED:
                raise KeyboardInterrupt
            if code:
                raise TournamentError(f"the tournament {run.name} failed; its logs are in {run.logs}")
    return run


def _complete(run: RunDirectory) -> bool:
    """Whether a tournament is over, by the rules that it has now."""
    if not run.ledger.exists():
        return False
    state = read_offline(run).state
    return state.phase == OVER and Scheduler(state).final.done()


def tournament_config(
    entrants: Sequence[TournamentEntrant], order: TournamentOrder, env: EnvConfig | None = None
) -> Config:
    """Return the config of the league that plays a tournament."""
    if len(entrants) < FEWEST:
        raise TournamentError("a tournament needs at least two players")
    anchors = _anchors(entrants, order)
    found = common_environment(entrants, env)
    config = Config(
        name=order.name or tournament_name(entrants, order, found),
        runs=order.runs,
        seed=order.seed,
        env=found,
        league=LeagueConfig(
            players={one.name: one.row(anchors.get(one.name)) for one in entrants},
            kinds={},
            evaluation=EvaluationConfig(share=0.0),
            tournament=order.rules(entrants),
        ),
        launch=LaunchConfig(name="inline" if order.inline else "local", collectors=order.collectors),
    )
    return from_plain(to_plain(config))


def _anchors(entrants: Sequence[TournamentEntrant], order: TournamentOrder) -> dict[PlayerId | str, float]:
    """Return the pinned ratings by name; ratings need one, so by default the first entrant is at 0."""
    known = {one.given: one.name for one in entrants}
    for name in (*order.against, *(name for name, _ in order.anchors)):
        if name not in known:
            raise TournamentError(f"{name!r} does not take part: it must be one of {', '.join(known)}")
    if len(order.against) == len(entrants):
        raise TournamentError("--against names everybody: nobody is left to run the gauntlet")
    pinned: dict[PlayerId | str, float] = {known[name]: rating for name, rating in order.anchors}
    return pinned or {entrants[0].name: 0.0}


def tournament_name(entrants: Sequence[TournamentEntrant], order: TournamentOrder, env: EnvConfig) -> str:
    """Return the name of a tournament: the same weights in the same game and seed go on with the same one."""
    who = [(one.name, one.snapshot or one.bot) for one in entrants]
    plain = [who, sorted(order.against), order.anchors, order.seed, to_plain(replace(Config(), env=env))["env"]]
    return f"tournament-{hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:10]}"
