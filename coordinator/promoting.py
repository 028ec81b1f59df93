"""What follows from a new candidate: a freeze, a reset, old candidates pruned. Pure: state in, events out."""

from collections.abc import Collection

import numpy as np

from league.events import Event, PlayerFrozen, PlayerReset, SnapshotPruned
from league.ids import Hash, PlayerId, derive_seed
from league.player import Player
from league.promotion import POOL, Case, due, resets, snapshot_of
from league.rulebook import lenders
from league.state import LeagueState

KEPT_CANDIDATES = 3  # of each learning player; frozen ones and those in use stay anyway


def promote(state: LeagueState, player: Player, allow: Collection[str] = ()) -> list[Event]:
    """Freeze the newest candidate if that is due, and only then perhaps reset the player."""
    rules = state.config.rules(player.kind).promotion
    if rules.freeze_first and not state.population.frozen_of(player.id):
        return [_freeze(state, player, "its first candidate joins the pool at once")]
    why = due(freeze_case(state, player), rules, allow)
    if why is None:
        return []
    freeze = _freeze(state, player, why)
    rng = np.random.Generator(np.random.Philox(key=derive_seed(state.seed, "reset", freeze.player.id)))
    resetting = [reset(state, player, rng)] if resets(rules, rng) else []
    return [freeze, *resetting, *first_starts(state, player, rng)]


def first_starts(state: LeagueState, lender: Player, rng: np.random.Generator) -> list[Event]:
    """Let players that take the weights of this one, and have waited for some worth taking, begin from them.

    At the beginning of a league nobody has learned anything, so their first incarnation began at random weights.
    """
    learning = state.population.learning()
    waiting = [p for p in learning if not state.incarnations[p.id] and state.candidate(p.id) is not None]
    return [reset(state, p, rng) for p in waiting if lender in lenders(state.config, p, state.population)]


def freeze_case(state: LeagueState, player: Player) -> Case:
    """Return what a freeze rule looks at for this player."""
    return Case(
        player=player,
        decisions=state.since_freeze(player.id),
        population=state.population,
        training=state.training,
        evaluation=state.evaluation,
        env=state.env,
        games=state.proofs.get(player.id),
    )


def reset(state: LeagueState, player: Player, rng: np.random.Generator) -> PlayerReset:
    """Return the event by which a player begins again: from the newest weights of a player, or the file, of its rules.

    With a quarry these are the newest frozen ones, so that it wins by what it learns, and not by being newer. If the
    rules name nobody, or nobody of that kind has weights, it takes its own initial weights.
    """
    rules = state.config.rules(player.kind).promotion
    found = [_weights(state, p, rules.quarry) for p in lenders(state.config, player, state.population)]
    named = snapshot_of(rules)
    offered = [snapshot for snapshot in found if snapshot is not None] if named is None else [named]
    start = offered[int(rng.integers(len(offered)))] if offered else None
    return PlayerReset(player=player.id, incarnation=state.incarnations[player.id] + 1, start=start)


def _weights(state: LeagueState, lender: Player, frozen: bool) -> Hash | None:
    """Return the newest weights of a player, or the newest frozen ones.

    At its second freeze, when others begin from it for the first time, its newest candidate is about to be frozen.
    """
    past, newest = state.population.frozen_of(lender.id), state.candidate(lender.id)
    if frozen and len(past) > 1:
        return past[-1].snapshot
    return None if newest is None else newest.snapshot


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
        kind=player.kind,
        role=player.role,
        parent=player.id,
        snapshot=newest.snapshot,
    )
    return PlayerFrozen(player=frozen, decisions=newest.decisions, why=why, scores=_exploits(state, player))


def _exploits(state: LeagueState, player: Player) -> dict[PlayerId, float]:
    """Return what an exploiter of some kinds scores against its targets."""
    rules = state.config.rules(player.kind)
    if not rules.exploits or POOL in rules.promotion.targets:
        return {}
    found = [p.id for p in freeze_case(state, player).targets(rules.promotion)]
    return dict(zip(found, state.training.scores(player.id, found).round(3).tolist(), strict=True))
