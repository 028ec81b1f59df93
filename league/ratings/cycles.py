"""Cycles: how much of a league no ratings describe, and who beats whom in a circle at its top.

A fit splits what the games say into a potential (differences of ratings) and the rest, which sums to nothing for each
player: the cyclic part of Hodge's decomposition. Chance alone leaves a rest, too, and its expectation is taken off.
"""

from dataclasses import dataclass

import numpy as np

from league.game_counts import Indices
from league.interval import quantile
from league.ratings.dispersion import SMALLEST_VARIANCE
from league.ratings.fits import Mask, RatingFit, reach

EXACT_GAMES = 30.0  # games up to which a score of one half has the variance of undrawn games, however few upsets


@dataclass(frozen=True, slots=True)
class CyclicPart:
    """Weighted sums of squares without what chance adds, and the share of the cyclic one."""

    potential: float
    cyclic: float

    @property
    def strength(self) -> float:
        """The share of the cyclic part: 0 if ratings say all, 1 if they say nothing."""
        total = self.potential + self.cyclic
        return self.cyclic / total if total > 0 else 0.0


def decompose(fit: RatingFit) -> CyclicPart:
    """Split a fit into potential and cyclic part, each less what chance is expected to add."""
    cells = fit.cells
    information = np.maximum(cells.information, SMALLEST_VARIANCE) if fit.by == "outcome" else cells.information
    noise = cells.variance / information
    cyclic = float((cells.residual**2 / information - noise * (1 - cells.leverage)).sum())
    potential = float((cells.information * cells.gap**2 - noise * cells.leverage).sum())
    return CyclicPart(potential=max(potential, 0.0), cyclic=max(cyclic, 0.0))


def surely_beats(fit: RatingFit, confidence: float = 0.95) -> Mask:
    """Return [i, j] whether i surely beats j by their own games: all pairs at once with this confidence."""
    cells, size = fit.cells, len(fit.joined)
    edges = np.zeros((size, size), dtype=np.bool_)
    if not len(cells.first):
        return edges
    middle, variance = 0.0, cells.variance
    if fit.by == "outcome":
        middle, variance = 0.5, np.maximum(variance, 0.25 * np.minimum(cells.games, EXACT_GAMES))
    ahead = (cells.observed - middle) * cells.games
    sure = np.abs(ahead) > quantile(1 - (1 - confidence) / len(ahead)) * np.sqrt(variance)
    edges[cells.first[sure & (ahead > 0)], cells.second[sure & (ahead > 0)]] = True
    edges[cells.second[sure & (ahead < 0)], cells.first[sure & (ahead < 0)]] = True
    return edges


def top_cycle(fit: RatingFit, members: int | None = None, confidence: float = 0.95) -> Indices:
    """Return the first strongly connected component of "surely beats": whom nobody outside surely beats, even in turn.

    Only the first `members` count, if given. It is the best player alone where there is no circle above it. From the
    best player we go to those who beat it, as long as that leads out of the circle.
    """
    played = np.zeros(len(fit.joined), dtype=np.bool_)
    played[fit.cells.first] = played[fit.cells.second] = True
    rated = np.flatnonzero((fit.joined & played)[:members])
    if not len(rated):
        return rated
    edges = surely_beats(fit, confidence)[:members, :members]
    place = rated[[int(fit.ratings.rating[rated].argmax())]]
    while True:
        above = reach(edges.T, place)
        circle = above & reach(edges, place)
        outside = np.flatnonzero(above & ~circle)
        if not len(outside):
            return np.flatnonzero(circle)
        place = outside[[int(fit.ratings.rating[outside].argmax())]]
