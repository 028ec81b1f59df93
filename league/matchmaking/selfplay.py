"""Self-play without a payoff: against the newest self, or against all that it ever was."""

from league.matchmaking.choice import Choice, mixture
from league.matchmaking.config import MatchmakingConfig
from league.matchmaking.pfsp import evenly
from league.matchmaking.pool import Roles, eligible, selves
from league.payoff import Payoff
from league.player import Player
from league.population import Population


def selfplay(
    player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles = None
) -> list[Choice]:
    """Naive self-play: always the live self."""
    return mixture([evenly(selves(player, population, roles), 1.0, "self-play")])


def fsp(
    player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles = None
) -> list[Choice]:
    """Fictitious self-play: the player's own frozen pasts and its live self, each equally often."""
    live = selves(player, population, roles)
    past = eligible((p for one in live for p in population.frozen_of(one.id)), config, roles)
    each = 1.0 / (len(live) + len(past))
    parts = [evenly(live, each * len(live), "self-play")]
    if past:
        parts.append(evenly(past, each * len(past), "past self"))
    return mixture(parts)
