"""Ratings by return: the least-squares potential of mean margins, for games where the size of a win counts.

fit = fit_returns(counts, anchors={0: 0.0}, predecessors={1: 2})

A difference of two ratings is the margin a game: half the difference of the two returns, chips in a game of poker.
Where sides differ in their roles, one number for the first side is fitted beside the ratings: then they compare players
of one role by what they return against the same opposition, however much more one role returns than the other.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from league.game_counts import FADED, Floats, GameCounts, Indices
from league.ratings.dispersion import Cells, laplacian, measure, unit_variance
from league.ratings.fits import Estimate, Mask, RatingFit, Ratings, check_anchors, levels

UNKNOWN = Estimate(0.0, 0.0)  # of the seat and of pairs, which margins do not keep apart
PRIOR_GAMES = 1e-9  # with which a player is at the centre: only who has no games notices
DRIFT_GAMES = 12.0  # as many say how far a candidate is from the one before it: 100 Elo, where games decide outcomes


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Priors: each child is as strong as its parent, as if they had drawn some games."""

    child: Indices
    parent: Indices
    games: Floats
    variance: float  # of one of these games

    def laplacian(self, size: int) -> Floats:
        """Return the information of the games."""
        return laplacian(self.child, self.parent, self.games, size)


NO_LINKS = Links(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0), 0.0)


def fit_returns(
    counts: GameCounts,
    anchors: Mapping[int, float],
    predecessors: Mapping[int, int] | None = None,
    confidence: float = 0.95,
    asymmetric: bool = False,
) -> RatingFit:
    """Return the potential of the margins, weighted by games, anchors pinned in units of return.

    `asymmetric` adds what the first side returns more than the second one, whoever plays.

    As for outcomes, players that no games join to an anchor have infinite intervals, and the rating of a new candidate
    starts at that of the one before it, its predecessor, with doubled uncertainty and a change of its own on top.

    >>> counts = GameCounts.unpaired([[0, 7, 5], [1, 0, 0], [3, 0, 0]], np.zeros((3, 3)))
    >>> fit_returns(counts, {0: 0.0}).ratings.rating.round(3).tolist()
    [0.0, -0.75, -0.25]
    """
    check_anchors(anchors, len(counts))
    fit = _fit_roles if asymmetric else _fit
    alone = fit(counts, anchors, NO_LINKS, confidence)
    return fit(counts, anchors, _links(alone, predecessors), confidence) if predecessors else alone


def _links(alone: RatingFit, predecessors: Mapping[int, int]) -> Links:
    """Return the priors of new candidates, from a fit in which every candidate stands alone."""
    child, parent = np.array(list(predecessors)), np.array(list(predecessors.values()))
    games = float(alone.cells.games.sum())
    variance = float(alone.cells.variance.sum()) / games if games else 0.0  # of a game
    known = np.where(alone.joined[parent], np.diag(alone.covariance)[parent], 0.0)
    own = known / variance if variance > 0 else np.zeros(len(parent))
    return Links(child, parent, 1 / (1 / DRIFT_GAMES + 3 * own), variance)  # 3 + the parent's own 1: twice the error


def _smallest(cells: Cells) -> float:
    """Return the variance that counts as none: games whose pairs always end alike have none, and divide by it."""
    return max(1e-12 * float(np.max(cells.variance, initial=0.0)), math.sqrt(np.finfo(float).tiny))


def _fit(counts: GameCounts, anchors: Mapping[int, float], links: Links, confidence: float) -> RatingFit:
    rating, bread, joined = _potential(counts, anchors, links)
    cells, size = _cells(counts, rating, bread), len(counts)
    dispersion = measure(cells, smallest=_smallest(cells))
    total = cells.variance + dispersion.spread * cells.information**2
    filling = laplacian(cells.first, cells.second, total, size) + links.variance * links.laplacian(size)
    covariance = bread @ filling @ bread
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


def _potential(counts: GameCounts, anchors: Mapping[int, float], links: Links) -> tuple[Floats, Floats, Mask]:
    """Return the ratings, the inverse of the matrix that they solve (0 for pins), and who is joined to an anchor."""
    size, games = len(counts), counts.games
    first, second = np.nonzero(np.triu(games >= FADED, 1))
    weights = laplacian(first, second, games[first, second], size) + links.laplacian(size)
    met = games >= FADED
    met[links.child, links.parent] = met[links.parent, links.child] = True
    joined, level = levels(met, anchors)
    free = np.setdiff1d(np.arange(size), list(anchors))
    rating = np.full(size, float(np.mean(list(anchors.values()))) if anchors else 0.0)
    rating[list(anchors)] = list(anchors.values())
    bread = np.zeros((size, size))
    bread[np.ix_(free, free)] = np.linalg.inv((weights + level + PRIOR_GAMES * np.eye(size))[np.ix_(free, free)])
    margin = counts.margins[first, second]
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


# --- with roles ----------------------------------------------------------------------------------------------


def _fit_roles(counts: GameCounts, anchors: Mapping[int, float], links: Links, confidence: float) -> RatingFit:
    """Fit ratings and, as the last parameter, what the first side returns more than the second one."""
    size, games = len(counts), counts.games
    first, second = np.nonzero(np.triu(games >= FADED, 1))
    played = games[first, second]
    lead = (counts.first_games[first, second] - counts.first_games[second, first]) / played
    design = np.zeros((len(first), size + 1))
    design[np.arange(len(first)), first], design[np.arange(len(first)), second], design[:, size] = 1.0, -1.0, lead
    parameters, bread, joined = _solve(design, played, counts.margins[first, second], anchors, links)
    predicted = design @ parameters
    cells = replace(
        _cells(counts, parameters[:size], bread[:size, :size]),
        predicted=predicted,
        leverage=np.clip(played * np.einsum("ci,ij,cj->c", design, bread, design), 0.0, 1.0),
    )
    dispersion = measure(cells, smallest=_smallest(cells))
    total = cells.variance + dispersion.spread * cells.information**2
    filling = design.T @ (total[:, None] * design)
    filling[:size, :size] += links.variance * links.laplacian(size)
    covariance = bread @ filling @ bread
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    reach = np.where(joined, dispersion.reach(confidence) * error[:size], np.inf)
    reach[list(anchors)] = 0.0
    rating = parameters[:size]
    return RatingFit(
        by="return",
        ratings=Ratings(rating=rating, low=rating - reach, high=rating + reach),
        covariance=covariance[:size, :size],
        joined=joined,
        anchors=dict(anchors),
        cells=cells,
        dispersion=dispersion,
        seat=Estimate(float(parameters[size]), float(error[size])),
        draw_odds=0.0,
        pairing=UNKNOWN,
    )


def _solve(
    design: Floats, played: Floats, margins: Floats, anchors: Mapping[int, float], links: Links
) -> tuple[Floats, Floats, Mask]:
    """Return the parameters of least squares, the inverse of their matrix (0 for pins), and who is joined."""
    size = design.shape[1] - 1
    weights = design.T @ (played[:, None] * design) + PRIOR_GAMES * np.eye(size + 1)
    weights[:size, :size] += links.laplacian(size)
    met = (np.abs(weights[:size, :size]) > FADED) & ~np.eye(size, dtype=np.bool_)
    joined, level = levels(met, anchors)
    weights[:size, :size] += level
    free = np.setdiff1d(np.arange(size + 1), list(anchors))
    parameters = np.full(size + 1, float(np.mean(list(anchors.values()))) if anchors else 0.0)
    parameters[size] = 0.0
    parameters[list(anchors)] = list(anchors.values())
    bread = np.zeros((size + 1, size + 1))
    bread[np.ix_(free, free)] = np.linalg.inv(weights[np.ix_(free, free)])
    return parameters + bread @ (design.T @ margins - weights @ parameters), bread, joined
