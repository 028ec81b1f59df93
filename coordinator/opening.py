"""Opens a league: folds its ledger, or founds a new league."""

import logging
from pathlib import Path
from typing import Literal

import msgspec

from league.errors import InputError
from league.events import ConfigChanged, Event, LeagueFounded, PlayerAdded, PlayerReset, TermBegan
from league.ids import Hash
from league.matchmaking.pool import fits
from league.payoff import AUTO, OUTCOME, RETURN
from league.player import FROZEN, Player
from league.recipe_check import check_recipe
from league.rulebook import EACH, LeagueConfig, founders, lenders
from league.spec import EnvSpec
from league.state import LeagueState, apply
from league.store.fold import folded, write_fold
from league.store.ledger import Ledger

log = logging.getLogger("ludus.coordinator")


class OpeningError(InputError):
    """The config does not fit the ledger or the environment."""


def refold(ledger: Ledger, config: LeagueConfig, checkpoint: Path | bytes | None = None) -> LeagueState:
    """Return the fold of the ledger's events, starting from the checkpoint if it can be used."""
    return folded(checkpoint, config, ledger)[0]


def _replace(checkpoint: Path, state: LeagueState, ledger: Ledger) -> None:
    """Replace a checkpoint that could not be used: otherwise the next start would fold all events again."""
    try:
        write_fold(checkpoint, state, ledger.head, ledger.mark(ledger.head))
    except OSError as error:
        log.warning("no checkpoint of the fold was written: %s", error)


def open_league(
    ledger: Ledger, config: LeagueConfig, seed: int, env: EnvSpec, config_hash: Hash, checkpoint: Path | None = None
) -> LeagueState:
    """Begin a new term and return the state: found the league if the ledger is empty, else resume it."""
    state, since = folded(checkpoint, config, ledger)
    if checkpoint is not None and ledger.head and not since:
        _replace(checkpoint, state, ledger)
    check_seats(config, env)
    events: list[Event] = []
    if state.env is None:
        if not ledger.head and checkpoint is not None and checkpoint.exists():
            raise OpeningError(
                f"the ledger {ledger.path} is empty, but {checkpoint.name} is of a league that was played here: put "
                "the ledger of that league back, or start a new run under another name="
            )
        by: Literal["outcome", "return"] = RETURN if config.payoff.by == RETURN else OUTCOME
        kept = env.asymmetric if config.payoff.returns is None else config.payoff.returns
        founded = LeagueFounded(seed=seed, config=config_hash, env=env, payoff=by, returns=kept or msgspec.UNSET)
        events.append(founded)
        events += [PlayerAdded(player=player) for player in founders(config, env.roles)]
    else:
        if state.env != env:
            raise OpeningError(
                f"this run was founded on {state.env.name} {state.env.observation} with {state.env.actions} actions, "
                f"but the config names {env.name} {env.observation} with {env.actions}: start a new run"
            )
        _check_rows(state, config)
        _check_tickets(state, env)
        if config.payoff.by not in (AUTO, state.payoff_by):
            raise OpeningError(
                f"this run goes by {state.payoff_by}, but the config has league.payoff.by={config.payoff.by}: "
                "start a new run"
            )
        if state.config_hash != config_hash:
            events.append(ConfigChanged(config=config_hash))
        joining = [p for p in founders(config, env.roles) if p.id not in state.population]
        events += [event for player in joining for event in _join(state, player)]
    events.append(TermBegan(term=state.term + 1))
    ledger.commit(events)
    for event in events:
        apply(state, event)
    return state


def _check_rows(state: LeagueState, config: LeagueConfig) -> None:
    """Refuse a config without rules for players that are in the league already."""
    for player in state.population.learning():
        if player.kind not in config.kinds:
            raise OpeningError(
                f"this run has the player {player.id!r} of the kind {player.kind!r}, but league.kinds has no such row: "
                "add it, or start a new run"
            )


def _check_tickets(state: LeagueState, env: EnvSpec) -> None:
    """Refuse open tickets that nobody can play; the league never issues one."""
    for ticket in state.open.values():
        if len(ticket.entries) != len(env.seats):
            wrong = f"has {len(ticket.entries)} entries, but {env.name} has {len(env.seats)} seats"
        elif any(entry.members and not any(m.share > 0 for m in entry.members) for entry in ticket.entries):
            wrong = "has a mixture of which no member has a share"
        else:
            continue
        raise OpeningError(f"the open ticket {ticket.number} {wrong}: the ledger was changed. Start a new run")


def _join(state: LeagueState, player: Player) -> list[Event]:
    """Return the events by which a player joins a running league: it begins where a reset would take it."""
    added = PlayerAdded(player=player)
    if not player.learning:
        return [added]
    newest = [state.candidate(p.id) for p in lenders(state.config, player, state.population)]
    start = next((candidate.snapshot for candidate in newest if candidate is not None), None)
    return [added] if start is None else [added, PlayerReset(player=player.id, incarnation=1, start=start)]


def check_seats(config: LeagueConfig, env: EnvSpec) -> None:
    """Raise OpeningError if the recipe does not suit the sides, or a player's role is unknown, or nobody learns one."""
    check_recipe(config)
    if config.cooperative and not env.cooperative:
        raise OpeningError(
            f"league=cooperative is a recipe for seats on one side, but in {env.name} seats are up against each other: "
            "choose another one, such as league=pfsp (or set league.cooperative=false)"
        )
    for name, player in config.players.items():
        if player.role not in (None, EACH, *env.roles):
            raise OpeningError(
                f"league.players.{name}.role is {player.role!r}, but {env.name} has the roles {sorted(set(env.roles))}"
            )
    players = founders(config, env.roles)
    learning = [player for player in players if player.learning]
    frozen = players if config.tournament.enabled else [player for player in players if player.kind == FROZEN]
    for learner in learning:
        if env.cooperative and config.rules(learner.kind).exploits:
            raise OpeningError(
                f"league.players.{learner.id} is up against others, but all seats of {env.name} are on one side: "
                "there is nobody to exploit. Add league=cooperative, or make it a main."
            )
    for role in sorted(set(env.roles)):
        if not any(fits(player, frozenset({role})) for player in (*learning, *frozen)):
            raise OpeningError(
                f"no learning player can take the role {role!r} of {env.name}: add one to league.players, "
                f"e.g. {role}: {{kind: main, role: {role}}}"
            )
