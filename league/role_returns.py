"""Returns beside ratings: the mean return of each player in each role, and its value over replacement.

    role_returns(state.population, state.evaluation)["main_tiger"]["tiger"].over

They are kept where a game is not zero-sum, or its roles differ: there who is ahead does not say who plays well.
"""

from collections.abc import Iterator

import msgspec
import numpy as np

from league.evaluation_payoff import EvaluationPayoff
from league.game_counts import Floats
from league.ids import PlayerId
from league.population import Population
from league.ratings.fits import Mask
from league.ratings.role_values import RoleValues, SeatedReturns, fit_role_values


class MeanReturn(msgspec.Struct, frozen=True, kw_only=True):
    """A mean return with its interval (None with fewer than two games), and the games that still count."""

    mean: float
    low: float | None
    high: float | None
    games: float


class RoleReturn(msgspec.Struct, frozen=True, kw_only=True):
    """What a player's side returns in one role: on average, and more than with the pool's median player in its seat.

    `over` is None where no opponent was met by another player of the role.
    """

    mean: MeanReturn
    over: MeanReturn | None


def role_returns(population: Population, evaluation: EvaluationPayoff) -> dict[PlayerId, dict[str, RoleReturn]]:
    """Return the returns of all players by role, of those that have games in it; nothing where they are not kept."""
    found: dict[PlayerId, dict[str, RoleReturn]] = {}
    if not evaluation.keeps_returns:
        return found
    rows = evaluation.players
    members = np.array([row in population for row in rows], np.bool_)
    for role, seen in _by_role(population, evaluation, rows):
        values = fit_role_values(seen, members)
        for i in np.flatnonzero(members & (values.games > 0)).tolist():
            found.setdefault(rows[i], {})[role] = _role_return(values, i)
    return found


def _by_role(
    population: Population, evaluation: EvaluationPayoff, rows: list[PlayerId]
) -> Iterator[tuple[str, SeatedReturns]]:
    """Yield each role with the games of those who played it.

    Of two sides the first one has the first seat. Where there are more sides of several kinds, only players that are
    bound to a role are compared.
    """
    seats = [evaluation.seat_returns(rows, first) for first in (True, False)]
    kinds = list(dict.fromkeys(evaluation.kinds))
    if len(kinds) == 1:
        yield kinds[0], SeatedReturns(*(np.hstack(tables) for tables in zip(*seats, strict=True)))
    elif len(evaluation.kinds) == 2:
        for role, tables in zip(evaluation.kinds, seats, strict=True):
            yield role, SeatedReturns(*tables)
    else:
        everything = [np.hstack(tables) for tables in zip(*seats, strict=True)]
        for role in kinds:
            bound = np.array([_bound_to(population, row) == role for row in rows], np.bool_)
            yield role, SeatedReturns(*(_only(table, bound) for table in everything))


def _bound_to(population: Population, row: PlayerId) -> str | None:
    return population[row].role if row in population else None


def _only(table: Floats, rows: Mask) -> Floats:
    return np.where(rows[:, None], table, 0.0)


def _role_return(values: RoleValues, i: int) -> RoleReturn:
    games, over = float(values.games[i]), float(values.over[i])
    mean = _with_interval(float(values.mean[i]), values.reach * float(values.mean_error[i]), games)
    reach = values.reach * float(values.error[i])
    return RoleReturn(mean=mean, over=None if np.isnan(over) else _with_interval(over, reach, games))


def _with_interval(mean: float, reach: float, games: float) -> MeanReturn:
    known = bool(np.isfinite(reach))
    return MeanReturn(mean=mean, low=mean - reach if known else None, high=mean + reach if known else None, games=games)
