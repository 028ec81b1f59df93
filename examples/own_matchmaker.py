"""A matchmaker of your own: one pure function that returns exact probabilities with reasons.

ludus run --allow own_matchmaker league=pfsp league.matchmaking.name=own_matchmaker:nearest env=tic_tac_toe name=nearest
"""

from league.matchmaking.choice import Choice
from league.matchmaking.config import MatchmakingConfig
from league.matchmaking.pool import Roles, pool
from league.payoff import Payoff
from league.player import Player
from league.population import Population


def nearest(
    player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles
) -> list[Choice]:
    """Play the frozen player whose score against this one is nearest to one half, and the live self as often."""
    past = pool(population, config, roles)
    if not past:
        return [Choice(player.id, True, 1.0, "self-play")]
    scores = payoff.scores(player.id, [p.id for p in past])
    rival = past[int(abs(scores - 0.5).argmin())]
    return [Choice(player.id, True, 0.5, "self-play"), Choice(rival.id, False, 0.5, "nearest")]
