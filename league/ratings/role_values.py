"""Role values: what a side returns with a player in it, compared with others of its role against the same opposition.

values = fit_role_values(SeatedReturns(games, sums, squares), pool)
values.over, values.error                 # value over replacement, with its standard error

What a player returns depends on whom it meets. So returns are fitted as the value of the player plus what each opponent
concedes in each seat: players are compared through opponents that both met, and nobody gains by an easy schedule. The
value over replacement is a player's value less that of the median player of the pool.
"""

from dataclasses import dataclass

import numpy as np

from league.game_counts import FADED, Floats, Indices
from league.ratings.dispersion import student
from league.ratings.fits import Mask, groups

LEAST_FREEDOM = 4.0  # degrees of freedom with which an interval is given


@dataclass(frozen=True, slots=True, eq=False)
class SeatedReturns:
    """The games of the players of one role: a row for each player, a column for each opponent in each seat."""

    games: Floats
    sums: Floats  # of the returns of the player
    squares: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RoleValues:
    """The plain mean return of each player, and its value over replacement; nan where there is nothing to compare."""

    games: Floats
    mean: Floats
    mean_error: Floats
    over: Floats
    error: Floats
    reach: float  # standard errors that an interval of 95 % reaches


def fit_role_values(seen: SeatedReturns, pool: Mask) -> RoleValues:
    """Fit the values of players; `pool` has those whose median is the replacement.

    >>> games = np.array([[4.0, 4.0], [4.0, 0.0], [0.0, 4.0]])      # the second met only the first opponent
    >>> means = np.array([[1.0, 5.0], [2.0, 0.0], [0.0, 4.0]])      # who concedes four less than the other
    >>> fitted = fit_role_values(SeatedReturns(games, games * means, games * means**2 + 1), np.ones(3, bool))
    >>> fitted.over.round(2).tolist(), fitted.mean.tolist()
    ([0.0, 1.0, -1.0], [3.0, 2.0, 4.0])
    """
    total = seen.games.sum(axis=1)
    count = np.maximum(total, FADED)
    mean = seen.sums.sum(axis=1) / count
    spread = np.maximum(seen.squares.sum(axis=1) / count - mean**2, 0.0)
    over, error = np.full(len(total), np.nan), np.full(len(total), np.nan)
    rows, columns = np.flatnonzero(total >= FADED), np.flatnonzero(seen.games.sum(axis=0) >= FADED)
    freedom = 0.0
    if len(rows):
        table = SeatedReturns(*(one[np.ix_(rows, columns)] for one in (seen.games, seen.sums, seen.squares)))
        over[rows], error[rows], freedom = _over_median(table, pool[rows])
    return RoleValues(
        games=total,
        mean=np.where(total >= FADED, mean, np.nan),
        mean_error=np.where(total > 1, np.sqrt(spread / np.maximum(total - 1, FADED)), np.inf),
        over=over,
        error=error,
        reach=student(0.95, max(freedom, LEAST_FREEDOM)),
    )


def _over_median(seen: SeatedReturns, pool: Mask) -> tuple[Floats, Floats, float]:
    """Return values over the median of their group with standard errors, and the degrees of freedom of these."""
    against = seen.games.sum(axis=0)
    shared = seen.games / against
    information = np.diag(seen.games.sum(axis=1)) - shared @ seen.games.T
    pull = seen.sums.sum(axis=1) - shared @ seen.sums.sum(axis=0)
    met = (shared @ seen.games.T) > FADED
    teams = list(groups(met))
    for team in teams:  # the level of a group is free: fix its mean at 0
        information[np.ix_(team, team)] += 1.0 / len(team)
    inverse = np.linalg.inv(information)
    value = inverse @ pull
    variance, freedom = _variance(seen, value, len(teams))
    over, error = np.full(len(value), np.nan), np.full(len(value), np.nan)
    for team in teams:
        weights = _median_weights(value, team[pool[team]])
        if weights is not None:
            contrast = np.eye(len(value))[team] - weights
            over[team] = contrast @ value
            spread = np.maximum(np.einsum("ij,jk,ik->i", contrast, inverse, contrast), 0.0)
            error[team] = np.sqrt(variance * spread) if np.isfinite(variance) else np.inf
    return over, error, freedom


def _variance(seen: SeatedReturns, value: Floats, teams: int) -> tuple[float, float]:
    """Return the variance of a game, more where the fit does not explain the means, and its degrees of freedom."""
    cells = seen.games > FADED
    games, sums = seen.games[cells], seen.sums[cells]
    freedom = float(np.maximum(games - 1, 0.0).sum())
    within = float(np.maximum(seen.squares[cells] - sums**2 / games, 0.0).sum())
    conceded = (seen.sums.sum(axis=0) - value @ seen.games) / seen.games.sum(axis=0)
    left = (sums / games - (value[:, None] + conceded[None, :])[cells]) ** 2 * games
    more = float(cells.sum() - cells.shape[0] - cells.shape[1] + teams)
    single = within / freedom if freedom else np.inf
    misfit = float(left.sum()) / more if more >= 1 else 0.0
    return max(single, misfit), (freedom if single >= misfit else more)


def _median_weights(value: Floats, members: Indices) -> Floats | None:
    """Return the weights with which values make their median over some players; None with fewer than two."""
    if len(members) < 2:
        return None
    order = members[np.argsort(value[members], kind="stable")]
    weights = np.zeros(len(value))
    weights[order[(len(order) - 1) // 2]] += 0.5
    weights[order[len(order) // 2]] += 0.5
    return weights
