"""Prioritised fictitious self-play: opponents weighted by the score against them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from league.matchmaking.choice import Choice, Part, mixture
from league.matchmaking.config import WEIGHTINGS, MatchmakingConfig
from league.matchmaking.pool import Roles, pool, rivals, selves
from league.payoff import Payoff
from league.player import Player
from league.population import Population

Floats = npt.NDArray[np.float64]

NOTHING = 1e-10  # with a sum of weights below this no opponent stands out


def probabilities(weighting: str, scores: Floats) -> Floats:
    """Return how probable each opponent is, given the score against it: uniform if no weight is left.

    >>> probabilities("hard", np.array([0.5, 0.9])).round(3).tolist()
    [0.962, 0.038]
    """
    weights = _weights(weighting, scores)
    total = float(weights.sum())
    if total < NOTHING:
        return np.full(len(scores), 1.0 / max(len(scores), 1))
    return weights / total


def _weights(weighting: str, scores: Floats) -> Floats:
    match weighting:
        case "hard":
            return (1.0 - scores) ** 2
        case "var":
            return scores * (1.0 - scores)
        case "linear":
            return 1.0 - scores
        case "capped":
            return np.minimum(0.5, 1.0 - scores)
        case "uniform":
            return np.ones(len(scores))
    raise ValueError(f"unknown weighting {weighting!r}; choose one of {', '.join(WEIGHTINGS)}")


def weighted(opponents: Sequence[Player], scores: Floats, weighting: str, share: float, why: str) -> Part:
    """Return the opponents by weight of the score against each, all together as probable as `share`."""
    return opponents, (share * probabilities(weighting, scores)).tolist(), why


def evenly(players: Sequence[Player], share: float, why: str) -> Part:
    """Return the players, each as probable as the others."""
    return players, [share / len(players)] * len(players), why


def pfsp(
    player: Player, population: Population, payoff: Payoff, config: MatchmakingConfig, roles: Roles = None
) -> list[Choice]:
    """Play the live self (or rivals, if some are named) for a share of the matches, else a frozen player by weight."""
    opponents = pool(population, config, roles)
    live = config.self_play if opponents else 1.0
    parts = []
    if live > 0 and config.rivals:
        parts.append(evenly(rivals(player, population, config, roles), live, "live rivals"))
    elif live > 0:
        parts.append(evenly(selves(player, population, roles), live, "self-play"))
    if opponents:
        scores = payoff.scores(player.id, [p.id for p in opponents])
        parts.append(weighted(opponents, scores, config.weighting, 1.0 - live, "pfsp"))
    return mixture(parts)
