"""Ratings by return: the least-squares potential of mean margins, for games where the size of a win counts.

fit = fit_returns(counts, anchors={0: 0.0})

A difference of two ratings is the margin a game: half the difference of the two returns, chips in a game of poker.
"""

from collections.abc import Mapping

import numpy as np

from league.game_counts import FADED, Floats, GameCounts
from league.ratings.dispersion import Cells, laplacian, measure, unit_variance
from league.ratings.fits import Estimate, Mask, RatingFit, Ratings, check_anchors, levels

UNKNOWN = Estimate(0.0, 0.0)  # of the seat and of pairs, which margins do not keep apart
PRIOR_GAMES = 1e-9  # with which a player is at the centre: only who has no games notices


def fit_returns(counts: GameCounts, anchors: Mapping[int, float], confidence: float = 0.95) -> RatingFit:
    """Return the potential of the margins, weighted by games, anchors pinned in units of return.

    As for outcomes, players that no games join to an anchor have infinite intervals.

    >>> counts = GameCounts.unpaired([[0, 7, 5], [1, 0, 0], [3, 0, 0]], np.zeros((3, 3)))
    >>> fit_returns(counts, {0: 0.0}).ratings.rating.round(3).tolist()
    [0.0, -0.75, -0.25]
    """
    check_anchors(anchors, len(counts))
    rating, bread, joined = _potential(counts, anchors)
    cells = _cells(counts, rating, bread)
    dispersion = measure(cells, smallest=float(np.finfo(float).tiny))
    total = cells.variance + dispersion.spread * cells.information**2
    covariance = bread @ laplacian(cells.first, cells.second, total, len(counts)) @ bread
    reach = dispersion.reach(confidence) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    reach = np.where(joined, reach, np.inf)
    reach[list(anchors)] = 0.0
    return RatingFit(
        by="return",
        ratings=Ratings(rating=rating, low=rating - reach, high=rating + reach),
        covariance=covariance,
        joined=joined,
        anchors=dict(anchors),
        cells=cells,
        dispersion=dispersion,
        seat=UNKNOWN,
        draw_odds=0.0,
        pairing=UNKNOWN,
    )


def _potential(counts: GameCounts, anchors: Mapping[int, float]) -> tuple[Floats, Floats, Mask]:
    """Return the ratings, the inverse of the matrix that they solve (0 for pins), and who is joined to an anchor."""
    size, games = len(counts), counts.games
    first, second = np.nonzero(np.triu(games >= FADED, 1))
    margin, weights = counts.margins[first, second], laplacian(first, second, games[first, second], size)
    joined, level = levels(games >= FADED, anchors)
    free = np.setdiff1d(np.arange(size), list(anchors))
    rating = np.full(size, float(np.mean(list(anchors.values()))) if anchors else 0.0)
    rating[list(anchors)] = list(anchors.values())
    bread = np.zeros((size, size))
    bread[np.ix_(free, free)] = np.linalg.inv((weights + level + PRIOR_GAMES * np.eye(size))[np.ix_(free, free)])
    pull = np.bincount(first, margin, size) - np.bincount(second, margin, size)
    return rating + bread @ (pull - weights @ rating), bread, joined


def _cells(counts: GameCounts, rating: Floats, bread: Floats) -> Cells:
    """Return the cells with the variance of their margins, from the spread of their units."""
    games = counts.games
    first, second = np.nonzero(np.triu(games >= FADED, 1))
    played, units = games[first, second], np.maximum(counts.pairs[first, second], FADED)
    mean = counts.margins[first, second] / played
    deviations = np.maximum(counts.margin_squares[first, second] - units * mean**2, 0.0)
    freedom = float(np.maximum(units - 1, 0.0).sum())
    pooled = float(deviations.sum()) / freedom if freedom > 0 else float((mean**2).mean()) if len(mean) else 0.0
    single = unit_variance(deviations, units, np.full(len(units), pooled))
    spread = np.diag(bread)[first] + np.diag(bread)[second] - 2 * bread[first, second]
    return Cells(
        first=first,
        second=second,
        games=played,
        gap=rating[first] - rating[second],
        predicted=rating[first] - rating[second],
        observed=mean,
        information=played,
        variance=units * (played / units) ** 2 * single,
        leverage=np.clip(played * spread, 0.0, 1.0),
    )
