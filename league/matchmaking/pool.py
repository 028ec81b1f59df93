"""The pool: whom a player can meet at all."""

from collections.abc import Iterable

from league.matchmaking.config import MatchmakingConfig
from league.player import Kind, Player
from league.population import Population

Roles = frozenset[str] | None
"""The roles that an opponent may take; None: any."""


def fits(player: Player, roles: Roles) -> bool:
    """Whether a player can take one of these roles."""
    return roles is None or player.role is None or player.role in roles


def eligible(players: Iterable[Player], config: MatchmakingConfig, roles: Roles) -> list[Player]:
    """Return those of some frozen players that may be trained against."""
    anchors = config.train_against_anchors
    return [p for p in players if (anchors or p.anchor is None) and fits(p, roles)]


def pool(population: Population, config: MatchmakingConfig, roles: Roles) -> list[Player]:
    """Return everybody that may be trained against and does not learn."""
    scripted = [p for p in population.anchors() if p.kind == Kind.SCRIPTED] if config.train_against_anchors else []
    return eligible([*population.frozen(), *scripted], config, roles)


def mains(population: Population, roles: Roles) -> list[Player]:
    """Return the live mains that can take one of these roles."""
    return [p for p in population.of_kind(Kind.MAIN) if fits(p, roles)]


def selves(player: Player, population: Population, roles: Roles) -> list[Player]:
    """Return the player itself, or, where its role cannot sit there, the live players that can: mains first."""
    if fits(player, roles):
        return [player]
    others = mains(population, roles) or [p for p in population.learning() if fits(p, roles)]
    if not others:
        wanted = ", ".join(sorted(roles or ()))
        raise ValueError(f"no learning player can take the role {wanted}: add one to league.players")
    return others
