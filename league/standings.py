"""Standings: the sorted table people look at, and the payoff table beside it. Data only; viewers print it.

    for row in standings(state.population, state.evaluation, state.elo):
        print(row.place, row.player, row.rating)

None stands where nothing is known: no games, or no games that lead to an anchor.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from league.ids import PlayerId
from league.interval import quantile, wilson
from league.payoff import Payoff
from league.player import Kind
from league.population import Population
from league.ratings import FADED, Elo, Ratings, bradley_terry

SLIGHT = 0.05  # a score that is off by less than this is not worth a word, however sure it is


class MeanReturn(msgspec.Struct, frozen=True, kw_only=True):
    """A mean return with its interval (None with fewer than two games), and the games that still count."""

    mean: float
    low: float | None
    high: float | None
    games: float


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a player, how strong it is, how sure that is, and what it scores against each anchor.

    In co-operation nobody is beaten: there `own` is what it returns with itself, and `cross` with others.
    """

    place: int
    player: PlayerId
    kind: Kind
    rating: float | None
    low: float | None
    high: float | None
    elo: float | None
    games: float
    anchors: dict[PlayerId, float | None]
    own: MeanReturn | None = None
    cross: MeanReturn | None = None


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


class CrossPlay(msgspec.Struct, frozen=True, kw_only=True):
    """What each player returned with each other one; None where the two have not played together."""

    players: tuple[PlayerId, ...]
    cells: tuple[tuple[MeanReturn | None, ...], ...]


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


class Misfit(msgspec.Struct, frozen=True, kw_only=True):
    """A pair whose games contradict the ratings: what they predict for the first player, and what it scored."""

    player: PlayerId
    opponent: PlayerId
    predicted: float
    scored: float
    games: float


def worst_misfit(rows: Sequence[Standing], evaluation: Payoff, confidence: float = 0.95) -> Misfit | None:
    """Return the pair that is furthest from what its ratings predict, of those that are so by more than chance.

    `rows` are the standings, so the player with the higher rating is the first of a pair.
    All pairs are looked at, so each must pass a stricter test (Bonferroni's). None if every pair passes it. A
    rating is one number for each player: where some players beat others in a circle, no numbers predict all pairs.
    """
    rated = [row for row in rows if row.rating is not None and row.low is not None]
    ratings = np.array([row.rating for row in rated], dtype=np.float64)
    points = evaluation.points([row.player for row in rated])
    games = points + points.T
    first, second = np.nonzero(np.triu(games >= 1.0, k=1))
    if not len(first):
        return None
    count = games[first, second]
    predicted = 1 / (1 + 10 ** np.minimum((ratings[second] - ratings[first]) / 400, 300))
    scored = points[first, second] / count
    reach = quantile(1 - (1 - confidence) / len(first)) * np.sqrt(predicted * (1 - predicted) / count)
    off = np.abs(scored - predicted)
    off[off < np.maximum(reach, SLIGHT)] = 0.0
    worst = int(off.argmax())
    if not off[worst]:
        return None
    return Misfit(
        player=rated[first[worst]].player,
        opponent=rated[second[worst]].player,
        predicted=float(predicted[worst]),
        scored=float(scored[worst]),
        games=float(count[worst]),
    )


def cooperative_standings(population: Population, evaluation: Payoff) -> list[Standing]:
    """Return all players where nobody is beaten: by what they return with themselves, the best first.

    `cross` gives every partner the same weight, however often they met.
    """
    rows = []
    everybody = [p.id for p in population]
    for player in population:
        own = mean_return(evaluation, player.id, player.id)
        with_others = [mean_return(evaluation, player.id, other) for other in everybody if other != player.id]
        cross = _mean_of([found for found in with_others if found is not None])
        rows.append((player, own, cross))
    rows.sort(key=lambda row: -(row[1] or row[2] or NOTHING).mean)
    return [
        Standing(
            place=place,
            player=player.id,
            kind=player.kind,
            rating=None,
            low=None,
            high=None,
            elo=None,
            games=(own.games if own else 0.0) + (cross.games if cross else 0.0),
            anchors={},
            own=own,
            cross=cross,
        )
        for place, (player, own, cross) in enumerate(rows, start=1)
    ]


NOTHING = MeanReturn(mean=-math.inf, low=None, high=None, games=0.0)


def mean_return(payoff: Payoff, a: PlayerId, b: PlayerId) -> MeanReturn | None:
    """Return what a returned with b; None if they have not played together."""
    games = payoff.return_games(a, b)
    if games < FADED:
        return None
    mean, low, high = payoff.return_interval(a, b)
    return MeanReturn(mean=mean, low=_finite(low), high=_finite(high), games=games)


def _mean_of(returns: Sequence[MeanReturn]) -> MeanReturn | None:
    """Return the mean of some means, each with the same weight."""
    if not returns:
        return None
    mean = sum(r.mean for r in returns) / len(returns)
    reaches = [r.high - r.mean if r.high is not None else math.inf for r in returns]
    reach = math.sqrt(sum(one * one for one in reaches)) / len(returns)
    games = sum(r.games for r in returns)
    return MeanReturn(mean=mean, low=_finite(mean - reach), high=_finite(mean + reach), games=games)


def cross_play(players: Sequence[PlayerId], payoff: Payoff) -> CrossPlay:
    """Return what each of the players returned with each other one, itself included, in the order given."""
    cells = tuple(tuple(mean_return(payoff, a, b) for b in players) for a in players)
    return CrossPlay(players=tuple(players), cells=cells)


def _finite(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None


def _score(payoff: Payoff, a: PlayerId, b: PlayerId) -> float | None:
    games = payoff.games(a, b)
    return None if games < FADED else float(payoff.points([a, b])[0, 1]) / games  # without the prior


def payoff_table(players: Sequence[PlayerId], payoff: Payoff) -> PayoffTable:
    """Return what each of the players did against each other one, in the order given."""
    rows = payoff.find_all(players)
    found = {name: payoff.matrix[name][np.ix_(rows, rows)] for name in ("wins", "draws", "raw_wins", "raw_draws")}
    points, games = found["wins"] + found["draws"] / 2, found["wins"] + found["draws"] + found["wins"].T
    low, high = wilson(points, games)
    tables = (points, low, high, games, found["raw_wins"], found["raw_draws"], found["raw_wins"].T)
    columns = [table.tolist() for table in tables]
    return PayoffTable(
        players=tuple(players),
        cells=tuple(
            tuple(None if i == j else _seen(*values) for j, values in enumerate(zip(*lines, strict=True)))
            for i, lines in enumerate(zip(*columns, strict=True))
        ),
    )


def _seen(points: float, low: float, high: float, games: float, wins: int, draws: int, losses: int) -> Cell | None:
    """Return a cell, without the prior: people want what happened."""
    if games < FADED:
        return None
    return Cell(score=points / games, low=low, high=high, games=games, wins=wins, draws=draws, losses=losses)
