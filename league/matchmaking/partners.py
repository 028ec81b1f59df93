"""Partners: who takes the other seats of a player's own side."""

import numpy as np
import numpy.typing as npt

from league.matchmaking.choice import Choice, mixture
from league.matchmaking.config import MatchmakingConfig
from league.matchmaking.pfsp import evenly, weighted
from league.matchmaking.pool import Roles, pool, selves
from league.payoff import NEUTRAL, Payoff
from league.player import Player
from league.population import Population

Floats = npt.NDArray[np.float64]


def partners(
    player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles = None
) -> list[Choice]:
    """Play with the live self for a share of the matches, else with a frozen player by weight.

    Where a player of its role cannot sit, the live players that can stand for the self. While the pool is empty,
    they are all there is.
    """
    frozen = pool(population, config, roles)
    live = config.partner_self if frozen else 1.0
    parts = [evenly(selves(player, population, roles), live, "own team")] if live > 0 else []
    if frozen:
        ease = relative(payoff.returns_with(player.id, [p.id for p in frozen]))
        parts.append(weighted(frozen, ease, config.partner_weighting, 1.0 - live, "partner"))
    return mixture(parts)


def relative(returns: Floats) -> Floats:
    """Return mean returns on a scale from 0, with the worst partner, to 1, with the best; unknown ones between.

    >>> relative(np.array([-8.0, np.nan, -4.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    known = ~np.isnan(returns)
    if not known.any() or np.ptp(returns[known]) == 0:
        return np.full(len(returns), NEUTRAL)
    low, high = float(returns[known].min()), float(returns[known].max())
    return np.where(known, (np.where(known, returns, low) - low) / (high - low), NEUTRAL)
