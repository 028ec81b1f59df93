"""Dispersion: how far results lie from a fit, and how sure its numbers are although it is not the whole truth.

Every rating view here is a fit of one number for each player to cells, the pairs of players that met. A cell has a
residual (what was scored less what the fit predicts), the information it gives on the difference of its two players,
and the variance of its residual by the spread of its independent units. Where residuals exceed those variances, pairs
have something of their own that no ratings describe (a cycle, a style): `spread` is its variance on the scale of the
fit, the method of moments of random-effects meta-analysis, and intervals include it.
"""

import math
from dataclasses import dataclass

import numpy as np

from league.game_counts import Floats, Indices
from league.interval import quantile

SMALLEST_VARIANCE = 0.25  # of points: below it one upset would decide the whole chi-square
LEAST_FREEDOM = 0.5  # degrees of freedom below which no cell is left to test a fit
PRIOR_UNITS = 50.0  # units at the pooled variance that each cell counts beside its own
MODERATION = 4.0  # degrees of freedom that the estimated spread has beyond those of the fit


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Pairs of players that met, each once, after a fit: arrays with an element for each cell."""

    first: Indices
    second: Indices
    games: Floats
    gap: Floats  # how far the fit puts the first above the second, on the scale of the information
    predicted: Floats  # mean score, or mean margin, of the first player
    observed: Floats
    information: Floats  # on the difference of the two
    variance: Floats  # of the sum of residuals, by independent units
    leverage: Floats  # which share of its residual the fit absorbs

    @property
    def residual(self) -> Floats:
        """What the first player has beyond what the fit predicts, summed over games."""
        return self.games * (self.observed - self.predicted)


@dataclass(frozen=True, slots=True)
class Dispersion:
    """Chi-square of a fit with its degrees of freedom, and the variance of what pairs have of their own."""

    chi_square: float
    freedom: float
    spread: float  # on the scale of the fit, squared

    @property
    def misfit(self) -> float | None:
        """Chi-square for each degree of freedom: about 1 if the fit says all; None if no cell is left to test it."""
        return self.chi_square / self.freedom if self.freedom >= LEAST_FREEDOM else None

    @property
    def surprise(self) -> float:
        """How far the chi-square is from what chance gives, in standard deviations (Wilson and Hilferty)."""
        if self.freedom < LEAST_FREEDOM:
            return 0.0
        width = 2 / (9 * self.freedom)
        return (math.cbrt(self.chi_square / self.freedom) - (1 - width)) / math.sqrt(width)

    def reach(self, confidence: float) -> float:
        """Return how many standard errors an interval reaches: by Student's t where the spread was estimated."""
        return student(confidence, self.freedom + MODERATION) if self.spread > 0 else quantile(confidence)


def measure(cells: Cells, smallest: float = SMALLEST_VARIANCE) -> Dispersion:
    """Return how far the residuals of a fit exceed the variances of their cells."""
    variance = np.maximum(cells.variance, smallest)
    kept = 1 - cells.leverage
    chi_square = float((cells.residual**2 / variance).sum())
    freedom = float((cells.variance / variance * kept).sum())
    weight = float((cells.information**2 / variance * kept).sum())
    excess = chi_square - freedom
    found = excess / weight if freedom >= LEAST_FREEDOM and weight > 0 else 0.0
    return Dispersion(chi_square=chi_square, freedom=max(freedom, 0.0), spread=max(found, 0.0))


def unit_variance(deviations: Floats, units: Floats, pooled: Floats) -> Floats:
    """Return the variance of a unit in each cell: its own, moderated by `PRIOR_UNITS` units of the pooled one."""
    moderated: Floats = (deviations + PRIOR_UNITS * pooled) / (np.maximum(units - 1, 0.0) + PRIOR_UNITS)
    return moderated


def laplacian(first: Indices, second: Indices, weights: Floats, size: int) -> Floats:
    """Return the sum over cells of weight (e_first - e_second)(e_first - e_second)^T."""
    matrix = np.zeros((size, size))
    matrix[first, second] = matrix[second, first] = -weights
    diagonal = np.bincount(first, weights, size) + np.bincount(second, weights, size)
    matrix[np.diag_indices(size)] = diagonal
    return matrix


def student(confidence: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's t, by the expansion of Cornish and Fisher: to 1 % from 4 degrees on.

    >>> round(student(0.95, 10), 2), round(student(0.95, 30), 2)
    (2.23, 2.04)
    """
    z = quantile(confidence)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom ** (power + 1) for power, term in enumerate(terms))
