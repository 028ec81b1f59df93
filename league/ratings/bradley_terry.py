"""Bradley-Terry: ratings from outcomes. All games are fitted at once, so their order does not matter.

fit = fit_outcomes(counts, anchors={0: 0.0, 3: 558.0}, predecessors={1: 2})
fit.ratings.rating, fit.ratings.low, fit.dispersion.misfit

On the scale 400 points are odds of ten to one, and anchors stay where they are pinned.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from league.game_counts import Floats, GameCounts, Indices
from league.ratings.dispersion import Cells, Dispersion, measure
from league.ratings.fits import Estimate, RatingFit, Ratings, check_anchors, levels
from league.ratings.seat_games import CellInformation, Link, SeatGames
from league.ratings.units import draw_variances, fit_draw_odds, pairing_of, unit_ratio

SCALE = 400 / math.log(10)  # Elo points for one unit of log-odds
TOLERANCE = 1e-6  # log-odds of the last step: what is left then is its square
MOST_STEPS, MOST_HALVINGS = 200, 60
DRIFT = 100.0  # Elo: standard deviation of the change from one candidate to the next, beyond the parent's uncertainty


def fit_outcomes(
    counts: GameCounts,
    anchors: Mapping[int, float],
    predecessors: Mapping[int, int] | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    start: RatingFit | None = None,
    asymmetric: bool = False,
) -> RatingFit:
    """Fit ratings to wins, draws and losses: the likeliest ones, anchors pinned.

    `asymmetric`: the first seat is another role than the second one. What that is worth is fitted beside the ratings,
    so they compare players of one role against the same opposition.

    Each player has `prior` virtual draws, shared out among the opponents that it met, so somebody who won all
    games stays finite. They join only those who met, so that a long line of ever stronger players is not
    pressed together, as it would be if everybody drew with one fixed mean.

    `predecessors` names for a new candidate the one before it: its rating starts there, with doubled uncertainty and
    `DRIFT` on top, and its own games take over. `start` is a fit in which every candidate stands alone, if there is
    one already.

    Ratings mean something only along chains of games to an anchor. A group of players without such a chain is
    centred on the mean anchor, with an infinite interval; so is a player without games. If there are no
    anchors at all, each group is centred on 0 and has intervals relative to its own mean.

    >>> counts = GameCounts.unpaired([[0, 10], [1, 0]], [[0, 0], [0, 0]])
    >>> fit_outcomes(counts, {1: 0.0}, prior=1e-9).ratings.rating.round().tolist()
    [400.0, 0.0]
    """
    check_anchors(anchors, len(counts))
    if not prior > 0:
        raise ValueError(f"prior must be positive, or a player without a loss has no rating; got {prior}")
    if start is None or not predecessors:
        start = _Fit(counts, anchors, prior, start=start, asymmetric=asymmetric).result(confidence)
    if not predecessors:
        return start
    return _Fit(counts, anchors, prior, _links(start, predecessors), start, asymmetric).result(confidence)


def _links(alone: RatingFit, predecessors: Mapping[int, int]) -> list[Link]:
    """Return the priors of new candidates, from a fit in which every candidate stands alone."""
    variance = np.diag(alone.covariance)
    own = {child: variance[parent] if alone.joined[parent] else 0.0 for child, parent in predecessors.items()}
    return [
        Link(child, parent, (3 * float(own[child]) + DRIFT**2) / SCALE**2)  # 3 + the parent's own 1: twice the error
        for child, parent in predecessors.items()
    ]


class _Fit:
    """One fit: Newton's method on a concave function, where a step that leads too far is halved."""

    def __init__(
        self,
        counts: GameCounts,
        anchors: Mapping[int, float],
        prior: float,
        links: Sequence[Link] = (),
        start: RatingFit | None = None,
        asymmetric: bool = False,
    ) -> None:
        self._counts, self._anchors = counts, dict(anchors)
        self._games, size = SeatGames(counts, prior, links, asymmetric), len(counts)
        self._centre = float(np.mean(list(anchors.values()))) if anchors else 0.0
        met = np.zeros((size, size), dtype=np.bool_)
        first, second = self._games.edges()
        met[first, second] = met[second, first] = True
        self._joined, level = levels(met, anchors)
        self._level = np.pad(level, (0, 1))  # the seat has none
        self._free: Indices = np.setdiff1d(np.arange(size + 1), list(anchors))
        self._strength, self._seat = self._solve(start)

    def _solve(self, start: RatingFit | None) -> tuple[Floats, float]:
        games, inside = self._games, np.ix_(self._free, self._free)
        parameters = np.zeros(games.size + 1)
        if start is not None:
            parameters[:-1] = np.where(start.joined, (start.ratings.rating - self._centre) / SCALE, 0.0)
            parameters[-1] = start.seat.value / SCALE
        parameters[list(self._anchors)] = (np.array(list(self._anchors.values())) - self._centre) / SCALE
        level, height = self._level[inside], games.likelihood(parameters[:-1], parameters[-1])
        for _ in range(MOST_STEPS):
            gradient = games.gradient(parameters[:-1], parameters[-1])[self._free]
            curvature = games.curvature(parameters[:-1], parameters[-1])[inside] + level
            step = np.zeros_like(parameters)
            step[self._free] = np.linalg.solve(curvature, gradient)
            step, height = self._shortened(step, parameters, height)
            parameters = parameters + step
            if np.abs(step).max() < TOLERANCE:
                break
        return parameters[:-1], float(parameters[-1])

    def _shortened(self, step: Floats, parameters: Floats, here: float) -> tuple[Floats, float]:
        """Return the step, halved until it does not lead down (but for rounding), and the likelihood there."""
        floor = here - 1e-12 * (1 + abs(here))
        height = here
        for _ in range(MOST_HALVINGS):
            there = parameters + step
            height = self._games.likelihood(there[:-1], there[-1])
            if height >= floor:
                break
            step = step / 2
        return step, height

    def result(self, confidence: float) -> RatingFit:
        """Return the ratings with intervals from the spread of independent units, and what they leave unexplained."""
        size, inside = self._games.size, np.ix_(self._free, self._free)
        bread = np.zeros((size + 1, size + 1))
        curvature = self._games.curvature(self._strength, self._seat) + self._level
        bread[inside] = np.linalg.inv(curvature[inside])
        nu = fit_draw_odds(self._counts, self._games, self._games.chances(self._strength, self._seat))
        cells, pairing = self._cells(bread, nu)
        dispersion = measure(cells)
        covariance = self._sandwich(bread, cells, dispersion)
        error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        rating = self._centre + SCALE * self._strength
        rating[list(self._anchors)] = list(self._anchors.values())  # exactly, without the rounding of the scale
        reach = np.where(self._joined, dispersion.reach(confidence) * SCALE * error[:-1], np.inf)
        reach[list(self._anchors)] = 0.0
        return RatingFit(
            by="outcome",
            ratings=Ratings(rating=rating, low=rating - reach, high=rating + reach),
            covariance=SCALE**2 * covariance[:-1, :-1],
            joined=self._joined,
            anchors=self._anchors,
            cells=cells,
            dispersion=dispersion,
            seat=Estimate(SCALE * self._seat, SCALE * float(error[-1])),
            draw_odds=nu,
            pairing=pairing,
        )

    def _cells(self, bread: Floats, nu: float) -> tuple[Cells, Estimate]:
        """Return the cells of the fit with the variances of their residuals, and how games of a pair go together."""
        games, counts = self._games, self._counts
        first, second = games.first, games.second
        chances = games.chances(self._strength, self._seat)
        played = games.real[0] + games.real[1]
        variances = draw_variances(chances, nu)
        independent = games.real[0] * variances[0] + games.real[1] * variances[1]
        units = counts.pairs[first, second]
        pairing, deviations = pairing_of(counts, games, units)
        size = played / np.maximum(units, 1e-12)  # games of a unit
        single = independent / played / size
        own = unit_ratio(deviations, (units - 1) * single, math.exp(pairing.value))
        weights = games.weights(self._strength, self._seat)
        information = weights.there + weights.back
        cells = Cells(
            first=first,
            second=second,
            games=played,
            gap=self._strength[first] - self._strength[second],
            predicted=(games.real[0] * chances[0] + games.real[1] * chances[1]) / played,
            observed=(games.real_points[0] + games.real_points[1]) / played,
            information=information,
            variance=own * independent,
            leverage=np.clip(information * self._spread(bread, weights), 0.0, 1.0),
        )
        return cells, pairing

    def _spread(self, bread: Floats, weights: CellInformation) -> Floats:
        """Return the variance of what the fit predicts for each cell, the seat included.

        Where roles bind players to seats, a cell has games from one seat only, and the seat counts in full.
        """
        first, second, both = self._games.first, self._games.second, weights.there + weights.back
        lean = np.divide(weights.there - weights.back, both, out=np.zeros_like(both), where=both > 0)
        players = np.diag(bread)[first] + np.diag(bread)[second] - 2 * bread[first, second]
        spread: Floats = players + 2 * lean * (bread[first, -1] - bread[second, -1]) + lean**2 * bread[-1, -1]
        return spread

    def _sandwich(self, bread: Floats, cells: Cells, dispersion: Dispersion) -> Floats:
        """Return the covariance of the parameters: bread, times the spread of what was observed, times bread."""
        total = cells.variance + dispersion.spread * cells.information**2
        weights = self._games.weights(self._strength, self._seat)
        both = weights.there + weights.back
        share = np.divide(weights.there, both, out=np.full_like(both, 0.5), where=both > 0)
        filling = self._games.bordered(total * share, total * (1 - share)) + self._games.prior_information()
        covariance: Floats = bread @ filling @ bread
        return covariance
