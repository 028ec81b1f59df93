"""Units: the variance of outcomes, by Davidson's rule for draws and by how games of a pair go together."""

import math

import numpy as np

from league.game_counts import Floats, GameCounts
from league.ratings.dispersion import PRIOR_UNITS
from league.ratings.fits import Estimate
from league.ratings.seat_games import SeatGames

MOST_DRAW_ODDS = 1e6
TYPICAL_VARIANCE = 0.125  # of the mean score of two games between equals
PRIOR_DECIDED = (
    4.0  # games that somebody won beside those played: some draws in a row do not make a game drawn for ever
)
PRIOR_PAIRS = 10.0  # pairs of independent games that everybody is given: a few pairs prove little


def draw_chance(score: Floats, nu: float) -> Floats:
    """Return the chance of a draw in games with this score: P(draw) = nu sqrt(P(win) P(loss)).

    >>> [round(float(p), 3) for p in draw_chance(np.array([0.5, 0.9]), 2.0)]
    [0.5, 0.18]
    """
    decided = 1 - nu * nu / 4  # d^2 decided + d nu^2 / 2 - nu^2 score (1 - score) = 0
    square = nu * nu * score * (1 - score)
    root = np.sqrt(np.maximum((nu * nu / 2) ** 2 + 4 * decided * square, 0.0))
    chance: Floats = np.divide(2 * square, nu * nu / 2 + root, out=np.zeros_like(square), where=square > 0)
    return chance


def draw_variances(chances: tuple[Floats, Floats], nu: float) -> tuple[Floats, Floats]:
    """Return the variance of the score of one game, in either seat."""
    there, back = (chance * (1 - chance) - draw_chance(chance, nu) / 4 for chance in chances)
    return there, back


def fit_draw_odds(counts: GameCounts, games: SeatGames, chances: tuple[Floats, Floats]) -> float:
    """Return the nu with which as many draws are expected as there were, but for a few games; 0 without draws."""
    first, second = games.first, games.second
    seen = float(counts.draws[first, second].sum() + counts.draws[second, first].sum())
    if seen <= 0:
        return 0.0
    played = float(games.real[0].sum() + games.real[1].sum())
    seen *= played / (played + PRIOR_DECIDED)
    low, high = math.log(1e-6), math.log(MOST_DRAW_ODDS)
    for _ in range(40):  # bisection: the number of draws rises with nu
        middle = (low + high) / 2
        odds = math.exp(middle)
        wanted = sum(float((games.real[k] * draw_chance(chances[k], odds)).sum()) for k in (0, 1))
        low, high = (middle, high) if wanted < seen else (low, middle)
    return math.exp((low + high) / 2)


def pairing_of(counts: GameCounts, games: SeatGames, units: Floats) -> tuple[Estimate, Floats]:
    """Return the log of the variance of units by that of independent games, and the squared deviations of each cell.

    Both are taken about the means of each cell, so that a pair of players that no rating describes does not count.
    Above 0 the two games of a pair go the same way: one start decides both. Below 0 they go opposite ways.
    """
    first, second = games.first, games.second
    played = games.real[0] + games.real[1]
    mean = (games.real_points[0] + games.real_points[1]) / played
    deviations = np.maximum(counts.pair_squares[first, second] - units * mean**2, 0.0)
    single = _variance_of_games(counts, games) / np.maximum(played / np.maximum(units, 1e-12), 1.0)
    known = (units >= 2) & (played > 1.5 * units)  # lone games say nothing on pairs
    seen, wanted = float(deviations[known].sum()), float(((units - 1) * single)[known].sum())
    freedom = float((units - 1)[known].sum())
    typical = wanted / freedom if freedom > 0 and wanted > 0 else 0.25
    ratio = (seen + PRIOR_PAIRS * typical) / (wanted + PRIOR_PAIRS * typical)
    return Estimate(math.log(max(ratio, 1e-3)), math.sqrt(2 / (freedom + PRIOR_PAIRS))), deviations


def unit_ratio(deviations: Floats, expected: Floats, pooled: float) -> Floats:
    """Return the variance of the units of each cell by that of independent games: its own, moderated by the pooled one.

    Squared deviations are weighed as such: in a cell that one player always wins they say nothing, however many.
    """
    prior = PRIOR_UNITS * TYPICAL_VARIANCE
    ratio: Floats = (deviations + prior * pooled) / (np.maximum(expected, 0.0) + prior)
    return ratio


def _variance_of_games(counts: GameCounts, games: SeatGames) -> Floats:
    """Return the variance of the score of one game in each cell: within seats, and for lone games between them."""
    first, second = games.first, games.second
    squares = (counts.wins + counts.draws / 4)[first, second], (counts.losses + counts.draws / 4)[second, first]
    played = games.real[0] + games.real[1]
    total = np.zeros_like(played)
    for k in (0, 1):
        count = games.real[k]
        within = squares[k] - games.real_points[k] ** 2 / np.maximum(count, 1e-12)
        total += np.maximum(within, 0.0) * count / np.maximum(count - 1, 1.0)
    means = [games.real_points[k] / np.maximum(games.real[k], 1e-12) for k in (0, 1)]
    paired = played / np.maximum(counts.pairs[first, second], 1e-12)
    between = games.real[0] * games.real[1] / played * (means[0] - means[1]) ** 2 * np.clip(2 - paired, 0.0, 1.0)
    variance: Floats = (total + between) / played
    return variance
