"""The pool: whom a player can meet at all."""

from collections.abc import Iterable

from league.matchmaking.config import MatchmakingConfig
from league.player import Player, Status
from league.population import Population

Roles = frozenset[str] | None
"""The roles that an opponent may take; None: any."""


def fits(player: Player, roles: Roles) -> bool:
    """Whether a player can take one of these roles."""
    return roles is None or player.role is None or player.role in roles


def eligible(players: Iterable[Player], config: MatchmakingConfig, roles: Roles) -> list[Player]:
    """Return those of some frozen players that may be trained against."""
    anchors, kinds = config.train_against_anchors, config.pool
    return [p for p in players if (anchors or p.anchor is None) and fits(p, roles) and (not kinds or p.kind in kinds)]


def pool(population: Population, config: MatchmakingConfig, roles: Roles) -> list[Player]:
    """Return everybody that may be trained against and does not learn."""
    anchors = population.anchors() if config.train_against_anchors else []
    others = [p for p in anchors if p.status in (Status.SCRIPTED, Status.MIXTURE)]
    return eligible([*population.frozen(), *others], config, roles)


def rivals(player: Player, population: Population, config: MatchmakingConfig, roles: Roles) -> list[Player]:
    """Return the live players of the kinds that a player is up against; if none can sit there, those that can."""
    found = population.learning_of(config.rivals or [player.kind])
    return [p for p in found if fits(p, roles)] or selves(player, population, roles)


def selves(player: Player, population: Population, roles: Roles) -> list[Player]:
    """Return the player itself, or, where its role cannot sit there, live players that can: of its kind, if any."""
    if fits(player, roles):
        return [player]
    can = [p for p in population.learning() if fits(p, roles)]
    if not can:
        wanted = ", ".join(sorted(roles or ()))
        raise ValueError(f"no learning player can take the role {wanted}: add one to league.players")
    return [p for p in can if p.kind == player.kind] or can
