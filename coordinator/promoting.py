"""What follows from a new candidate: a freeze, a reset, old candidates that may go. Pure: state in, events out."""

import numpy as np

from league.events import Event, PlayerFrozen, PlayerReset, SnapshotPruned
from league.ids import PlayerId, derive_seed
from league.player import Kind, Player
from league.promotion import due, due_together, resets
from league.spec import EnvSpec
from league.state import LeagueState

KEPT_CANDIDATES = 3  # of each learning player; frozen ones and those in use stay anyway


def promote(state: LeagueState, player: Player) -> list[Event]:
    """Freeze the newest candidate if the rules say so, and only then reset the player, perhaps."""
    if player.kind == Kind.MAIN and not state.population.frozen_of(player.id):
        return [_freeze(state, player, "the pool starts with one frozen player for every main")]
    assert state.env is not None
    decisions, rules = state.since_freeze(player.id), state.config.promotion
    if state.env.cooperative:
        why = due_together(player, decisions, state.population, state.evaluation, rules)
    else:
        roles = opponent_roles(state.env, player)
        why = due(player, decisions, state.population, state.training, rules, roles)
    if why is None:
        return []
    freeze = _freeze(state, player, why)
    rng = np.random.Generator(np.random.Philox(key=derive_seed(state.seed, "reset", freeze.player.id)))
    if not resets(player, state.config.promotion, rng):
        return [freeze]
    return [freeze, PlayerReset(player=player.id, incarnation=state.incarnations[player.id] + 1)]


def prune(state: LeagueState, player: PlayerId) -> list[Event]:
    """Let go of old candidates that nothing refers to; the service deletes their files after the commit."""
    kept = state.kept[player]
    if len(kept) <= KEPT_CANDIDATES:
        return []
    pinned = state.referenced()
    return [SnapshotPruned(snapshot=s) for s in kept[:-KEPT_CANDIDATES] if s not in pinned]


def _freeze(state: LeagueState, player: Player, why: str) -> PlayerFrozen:
    newest = state.candidates[player.id]
    frozen = Player(
        id=PlayerId(f"{player.id}.{len(state.population.frozen_of(player.id))}"),
        kind=Kind.FROZEN,
        role=player.role,
        parent=player.id,
        snapshot=newest.snapshot,
    )
    return PlayerFrozen(player=frozen, decisions=newest.decisions, why=why)


def opponent_roles(env: EnvSpec, player: Player) -> frozenset[str]:
    """Return the roles of those that the player can meet: on other sides than the one it sits on."""
    seats = list(zip(env.roles, env.sides, strict=True))
    mine = {side for role, side in seats if player.role in (None, role)}
    return frozenset(role for role, side in seats if mine - {side})
