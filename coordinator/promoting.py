"""What follows from a new candidate: a freeze, a reset, old candidates pruned. Pure: state in, events out."""

import numpy as np

from league.events import Event, PlayerFrozen, PlayerReset, SnapshotPruned
from league.ids import PlayerId, derive_seed
from league.player import Kind, Player
from league.promotion import due, resets
from league.state import LeagueState

KEPT_CANDIDATES = 3  # of each learning player; frozen ones and those in use stay anyway


def promote(state: LeagueState, player: Player) -> list[Event]:
    """Freeze the newest candidate if that is due, and only then perhaps reset the player."""
    if player.kind == Kind.MAIN and not state.population.frozen_of(player.id):
        return [_freeze(state, player, "the pool starts with one frozen player for every main")]
    assert state.env is not None
    decisions, rules = state.since_freeze(player.id), state.config.promotion
    why = due(player, decisions, state.population, state.training, state.evaluation, rules, state.env)
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
