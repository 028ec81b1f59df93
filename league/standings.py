"""Standings: the sorted table people look at, and the payoff table beside it. Data only; viewers print it.

    for row in standings(state.population, state.evaluation, state.elo):
        print(row.place, row.player, row.rating)

None stands where nothing is known: no games, or no games that lead to an anchor.
"""

import math
from collections.abc import Sequence

import msgspec

from league.ids import PlayerId
from league.payoff import Payoff
from league.player import Kind
from league.population import Population
from league.ratings import FADED, Elo, Ratings, bradley_terry


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a player, how strong it is, how sure that is, and what it scores against each anchor."""

    place: int
    player: PlayerId
    kind: Kind
    rating: float | None
    low: float | None
    high: float | None
    elo: float | None
    games: float
    anchors: dict[PlayerId, float | None]


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What one player did against another: the plain score with its interval, and all games ever."""

    score: float
    low: float
    high: float
    games: float  # that still count
    wins: int
    draws: int
    losses: int


class PayoffTable(msgspec.Struct, frozen=True, kw_only=True):
    """Cells by row player and column player; None where the two have not met."""

    players: tuple[PlayerId, ...]
    cells: tuple[tuple[Cell | None, ...], ...]


def rate(population: Population, evaluation: Payoff) -> Ratings:
    """Fit ratings to the evaluation games, in the order of the population. Slow: not for the hot loop."""
    players = list(population)
    anchors = {i: p.anchor for i, p in enumerate(players) if p.anchor is not None}
    return bradley_terry(evaluation.points([p.id for p in players]), anchors)


def standings(
    population: Population, evaluation: Payoff, elo: Elo | None = None, ratings: Ratings | None = None
) -> list[Standing]:
    """Return all players, the strongest first and those without a rating last.

    `ratings` are those of `rate` for this population, if they were fitted elsewhere.
    """
    players = list(population)
    fitted = rate(population, evaluation) if ratings is None else ratings
    if len(fitted.rating) != len(players):
        raise ValueError(f"ratings of {len(fitted.rating)} players do not fit a population of {len(players)}")
    points = evaluation.points([p.id for p in players])
    games = (points + points.T).sum(axis=1).tolist()
    rated = [games[i] >= FADED or p.anchor is not None for i, p in enumerate(players)]
    order = sorted(range(len(players)), key=lambda i: (not rated[i], -fitted.rating[i] if rated[i] else 0.0))
    anchors = [a.id for a in population.anchors()]
    return [
        Standing(
            place=place,
            player=players[i].id,
            kind=players[i].kind,
            rating=float(fitted.rating[i]) if rated[i] else None,
            low=_finite(fitted.low[i]),
            high=_finite(fitted.high[i]),
            elo=elo[players[i].id] if elo is not None else None,
            games=games[i],
            anchors={a: _score(evaluation, players[i].id, a) for a in anchors if a != players[i].id},
        )
        for place, i in enumerate(order, start=1)
    ]


def _finite(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None


def _score(payoff: Payoff, a: PlayerId, b: PlayerId) -> float | None:
    cell = _cell(payoff, a, b)
    return None if cell is None else cell.score


def _cell(payoff: Payoff, a: PlayerId, b: PlayerId) -> Cell | None:
    games = payoff.games(a, b)
    if games < FADED:
        return None
    low, high = payoff.interval(a, b)
    wins, draws, losses = payoff.raw(a, b)
    score = float(payoff.points([a, b])[0, 1]) / games  # without the prior: people want what happened
    return Cell(score=score, low=low, high=high, games=games, wins=wins, draws=draws, losses=losses)


def payoff_table(players: Sequence[PlayerId], payoff: Payoff) -> PayoffTable:
    """Return what each of the players did against each other one, in the order given."""
    cells = tuple(tuple(None if a == b else _cell(payoff, a, b) for b in players) for a in players)
    return PayoffTable(players=tuple(players), cells=cells)
