"""Opening a league: the fold of what is in the ledger, or the founding of a new one."""

import logging
from pathlib import Path

from league.errors import InputError
from league.events import ConfigChanged, Event, LeagueFounded, PlayerAdded, TermBegan
from league.ids import Hash
from league.matchmaking.pool import fits
from league.player import EXPLOITERS
from league.rulebook import EACH, LeagueConfig, founders
from league.spec import EnvSpec
from league.state import LeagueState, apply
from league.store.fold import fold_all, resume_fold, write_fold
from league.store.ledger import Ledger

log = logging.getLogger("ludus.coordinator")


class OpeningError(InputError):
    """The ledger and the config do not fit together."""


def refold(ledger: Ledger, config: LeagueConfig, checkpoint: Path | bytes | None = None) -> LeagueState:
    """Return the state of the ledger's events; a checkpoint of the fold, if there is a good one, saves time."""
    return _resume(ledger, config, checkpoint)[0]


def _resume(ledger: Ledger, config: LeagueConfig, checkpoint: Path | bytes | None) -> tuple[LeagueState, int]:
    """Return the state, and after which event the checkpoint left it: 0 if there was none to be used."""
    state, since = resume_fold(checkpoint, config, ledger)
    fold_all(state, ledger, since)
    return state, since


def _replace(checkpoint: Path, state: LeagueState, ledger: Ledger) -> None:
    """Write a checkpoint that could not be used again: else the next start would have to fold everything, too."""
    try:
        write_fold(checkpoint, state, ledger.head, ledger.mark(ledger.head))
    except OSError as error:
        log.warning("no checkpoint of the fold was written: %s", error)


def open_league(
    ledger: Ledger, config: LeagueConfig, seed: int, env: EnvSpec, config_hash: Hash, checkpoint: Path | None = None
) -> LeagueState:
    """Begin a new term: found the league if the ledger is empty, else go on where it stopped."""
    state, since = _resume(ledger, config, checkpoint)
    if checkpoint is not None and ledger.head and not since:
        _replace(checkpoint, state, ledger)
    check_seats(config, env)
    events: list[Event] = []
    if state.env is None:
        events.append(LeagueFounded(seed=seed, config=config_hash, env=env))
        events += [PlayerAdded(player=player) for player in founders(config, env.roles)]
    else:
        if state.env != env:
            raise OpeningError(
                f"this run was founded on {state.env.name} {state.env.observation} with {state.env.actions} actions, "
                f"but the config names {env.name} {env.observation} with {env.actions}: start a new run"
            )
        if state.config_hash != config_hash:
            events.append(ConfigChanged(config=config_hash))
        events += [PlayerAdded(player=p) for p in founders(config, env.roles) if p.id not in state.population]
    events.append(TermBegan(term=state.term + 1))
    ledger.commit(events)
    for event in events:
        apply(state, event)
    return state


def check_seats(config: LeagueConfig, env: EnvSpec) -> None:
    """Refuse players bound to roles that the environment does not have, and roles that no player could learn."""
    for name, player in config.players.items():
        if player.role not in (None, EACH, *env.roles):
            raise OpeningError(
                f"league.players.{name}.role is {player.role!r}, but {env.name} has the roles {sorted(set(env.roles))}"
            )
    learning = [player for player in founders(config, env.roles) if player.learning]
    for learner in learning:
        if env.cooperative and learner.kind in EXPLOITERS:
            raise OpeningError(
                f"league.players.{learner.id} is a {learner.kind}, but all seats of {env.name} are on one side: "
                "there is nobody to exploit. Add league=cooperative, or make it a main."
            )
    for role in sorted(set(env.roles)):
        if not any(fits(player, frozenset({role})) for player in learning):
            raise OpeningError(
                f"no learning player can take the role {role!r} of {env.name}: add one to league.players, "
                f"e.g. {role}: {{kind: main, role: {role}}}"
            )
