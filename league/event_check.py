"""Checks whether an event can follow on a state: a ledger may come from anybody, with a hash chain that is whole.

    if reason := unfit(state, event): ...       # "names a player that does not exist: 'nobody'"

`ludus verify` checks every event so. A fold does not, because it takes time: whoever folds a ledger looks at the result
with `contradiction`, and only if that finds something at the events one by one (`league.store.fold`).
"""

from collections.abc import Iterable

from league.evaluation_payoff import predecessor
from league.events import (
    CandidateWritten,
    DuelCounted,
    Event,
    LeagueFounded,
    PhaseBegan,
    PlayerAdded,
    PlayerFrozen,
    PlayerReset,
    ResultCounted,
    TermBegan,
    TicketIssued,
    TicketReissued,
    TicketVoided,
    TicketWithdrawn,
)
from league.ids import PlayerId
from league.plain_state import FINAL, OVER, TRAINING
from league.player import Player
from league.result_check import problem
from league.spec import EnvSpec
from league.state import LeagueState
from league.ticket import Ticket

LARGEST_RATING, LARGEST_RATE = 1e6, 1e6  # of an anchor, and the share of a player in the games of all
NAME = 200  # characters of a player


def unfit(state: LeagueState, event: Event) -> str:
    """Return why an event cannot follow on a state, as the rest of a sentence about it; "" if it can."""
    match event:
        case LeagueFounded():
            return "founds a league that exists" if state.env is not None else _unfit_env(event.env)
        case TermBegan():
            return "" if event.term >= state.term else f"begins term {event.term} after term {state.term}"
        case PhaseBegan():
            return "" if event.phase in (TRAINING, FINAL, OVER) else f"begins a phase that is none: {event.phase!r}"
        case PlayerAdded() | PlayerFrozen() | PlayerReset() | CandidateWritten():
            return _unfit_player(state, event)
        case TicketIssued(ticket=ticket):
            return _unfit_ticket(state, ticket)
        case TicketReissued() | TicketVoided() | TicketWithdrawn() | ResultCounted():
            return _unfit_settling(state, event)
    return ""


def _unfit_env(env: EnvSpec) -> str:
    if not env.seats or not all(seat.agents for seat in env.seats):
        return "founds a league in which nobody plays"
    if (
        not env.parts
        or env.continuous < 0
        or min(env.heads, default=1) < 1
        or min(env.observation.shape, default=1) < 0
    ):
        return "founds a league in an environment without observations or actions"
    return ""


def _unfit_player(state: LeagueState, event: PlayerAdded | PlayerFrozen | PlayerReset | CandidateWritten) -> str:
    match event:
        case PlayerAdded(player=player):
            return _unfit_newcomer(state, player)
        case PlayerFrozen(player=player):
            if player.parent is None or player.snapshot is None:
                return f"freezes {player.id!r}, which has no parent or no snapshot"
            if any(not 0 <= score <= 1 for score in event.scores.values()):
                return "has scores that are none"
            return (
                _unfit_newcomer(state, player) or _unfit_learner(state, player.parent) or _unknown(state, event.scores)
            )
        case PlayerReset(player=player):
            wrong = _unfit_learner(state, player)
            if not wrong and event.incarnation <= state.incarnations[player]:
                return f"resets {player!r} to incarnation {event.incarnation}, not a later one"
            return wrong
        case CandidateWritten(player=player):
            wrong = _unfit_learner(state, player)
            if not wrong and event.incarnation != state.incarnations[player]:
                return f"has a candidate of incarnation {event.incarnation} of {player!r}, which has another one"
            return wrong


def _unfit_newcomer(state: LeagueState, player: Player) -> str:
    if player.id in state.population:
        return f"adds a player that is there: {player.id!r}"
    if not 0 < len(player.id) <= NAME:
        return "adds a player without a name, or with an endless one"
    if player.parent is not None:
        return _unknown(state, [player.parent]) or _unfit_numbers(player)
    return _unfit_numbers(player)


def _unfit_numbers(player: Player) -> str:
    if abs(player.anchor or 0.0) > LARGEST_RATING or player.rate > LARGEST_RATE:
        return f"adds {player.id!r} with an impossible rating or rate"
    if any(not 0 <= share <= 1 for _, share in player.members):
        return f"adds {player.id!r} with impossible shares"
    return ""


def _unfit_learner(state: LeagueState, player: PlayerId) -> str:
    return _unknown(state, [player]) or ("" if state.population[player].learning else f"says that {player!r} learns")


def _unknown(state: LeagueState, players: Iterable[PlayerId]) -> str:
    for player in players:
        if player not in state.population:
            return f"names a player that does not exist: {player[:NAME]!r}"
    return ""


def _unfit_ticket(state: LeagueState, ticket: Ticket) -> str:
    if ticket.number <= state.tickets:
        return f"issues ticket {ticket.number} after ticket {state.tickets}"
    if not ticket.entries or (state.env is not None and len(ticket.entries) != len(state.env.seats)):
        return f"has a ticket for {len(ticket.entries)} entries, not one for each seat"
    if not ticket.episodes:
        return "has a ticket for no episodes"
    for player in ticket.trains:
        if wrong := _unfit_learner(state, player):
            return wrong
    members = [member.player for entry in ticket.entries for member in entry.members]
    return _unknown(state, [*(entry.player for entry in ticket.entries), *members])


def _unfit_settling(
    state: LeagueState, event: TicketReissued | TicketVoided | TicketWithdrawn | ResultCounted | DuelCounted
) -> str:
    ticket = state.open.get(event.ticket)
    if ticket is None:
        return f"is about ticket {event.ticket}, which is not open"
    if isinstance(event, TicketReissued) and event.attempt <= ticket.attempt:
        return f"has attempt {event.attempt} of ticket {event.ticket} after attempt {ticket.attempt}"
    if isinstance(event, ResultCounted):
        if event.attempt != ticket.attempt:
            return f"has the result of attempt {event.attempt} of ticket {event.ticket}, which has another one"
        found = problem(ticket, event.episodes, state.env)
        return f"has {found}" if found else ""
    return ""


def contradiction(state: LeagueState) -> str:
    """Return how a state contradicts itself, "" if it does not: no events that fit one another lead to such a state."""
    known = {player.id for player in state.population}
    rows = known | {predecessor(player) for player in known}
    learning = {player.id for player in state.population.learning()}
    if state.incarnations.keys() != learning or not state.frozen_at.keys() >= learning:
        return "it has incarnations of players that do not learn"
    if not all(player in state.elo for player in known):
        return "it has players without a rating"
    trained = (state.trained_episodes, state.trained_steps)
    for named in (
        state.candidates,
        state.initial,
        state.starts,
        state.previous,
        state.kept,
        state.asked,
        state.proofs,
        *trained,
    ):
        if not named.keys() <= learning:
            return f"it says that {_first(named.keys() - learning)} learns"
    of_all = (state.training.players, state.evaluation.players, state.games, state.evaluated, state.exploits)
    for some in of_all:
        if not rows.issuperset(some):
            return f"it names a player that does not exist: {_first(set(some) - rows)}"
    entries = (entry for ticket in state.open.values() for entry in ticket.entries)
    if missing := {entry.player for entry in entries} - known:
        return f"it names a player that does not exist: {_first(missing)}"
    counts = (
        state.results,
        state.episodes,
        state.steps,
        state.games,
        state.outstanding,
        state.evaluated,
        state.asked,
        *trained,
    )
    if any(count < 0 for tally in counts for count in tally.values()) or state.phase not in (TRAINING, FINAL, OVER):
        return "it has numbers below zero, or no phase"
    return ""


def _first(names: Iterable[PlayerId]) -> str:
    return repr(min(names)[:NAME])
