"""Standings: the sorted table people look at, and the payoff table beside it. Data only; viewers print it.

    for row in standings(state.population, state.evaluation, state.elo):
        print(row.place, row.player, row.rating)

None stands where nothing is known: no games, or no games that lead to an anchor.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from league.appraisal import Appraisal, appraise
from league.evaluation_payoff import EvaluationPayoff
from league.game_counts import FADED
from league.ids import PlayerId
from league.interval import quantile, wilson
from league.payoff import Payoff
from league.player import Player, Status
from league.population import Population
from league.ratings.elo import Elo
from league.role_returns import MeanReturn as MeanReturn
from league.role_returns import RoleReturn, role_returns


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a player, how strong it is, how sure that is, and what it scores against each anchor.

    `rating` is fitted to all games, `by` says whether in points of Elo or units of return; `online` is the Elo that the
    coordinator updates with each game. `nash` is its share of the Nash mixture, `win_share` what it scored against all,
    `pinned` where an anchor is pinned whose games refute that.
    In co-operation nobody is beaten: there `own` is what it returns with itself, and `cross` with others.
    Where returns are kept, `returns` has those in each role that it played.
    """

    place: int
    player: PlayerId
    kind: str
    rating: float | None
    low: float | None
    high: float | None
    online: float | None
    games: float
    anchors: dict[PlayerId, float | None]
    by: Literal["outcome", "return"] = "outcome"
    nash: float | None = None
    pinned: float | None = None
    win_share: float | None = None
    own: MeanReturn | None = None
    cross: MeanReturn | None = None
    returns: dict[str, RoleReturn] | msgspec.UnsetType = msgspec.UNSET


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What one player did against another: the plain score with its interval, and all games ever."""

    score: float
    low: float
    high: float
    games: float  # that still count
    wins: int
    draws: int
    losses: int
    margin: MeanReturn | None = None  # in a league by return: half of what it returned more than the other, a game
    returned: MeanReturn | msgspec.UnsetType | None = msgspec.UNSET  # where returns are kept: by the first, a game


class PayoffTable(msgspec.Struct, frozen=True, kw_only=True):
    """Cells by row player and column player; None where the two have not met.

    `filled` has what the ratings predict there, and None elsewhere; it is empty where nobody fitted ratings.
    """

    players: tuple[PlayerId, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    filled: tuple[tuple[float | None, ...], ...] = ()


class CrossPlay(msgspec.Struct, frozen=True, kw_only=True):
    """What each player returned with each other one; None where the two have not played together."""

    players: tuple[PlayerId, ...]
    cells: tuple[tuple[MeanReturn | None, ...], ...]


def standings(
    population: Population, evaluation: EvaluationPayoff, elo: Elo | None = None, appraisal: Appraisal | None = None
) -> list[Standing]:
    """Return all players, the strongest first and those without a rating last; no humans that never finished a game.

    `appraisal` is that of this population, if it was made elsewhere.
    """
    players = list(population)
    found = appraise(population, evaluation) if appraisal is None else appraisal
    if found.members != len(players):
        raise ValueError(f"ratings of {found.members} players do not fit a population of {len(players)}")
    rating, rated = found.fit.ratings.rating, found.fit.joined
    games, points = found.counts.games.sum(axis=1), found.counts.points.sum(axis=1)  # once: each is a whole matrix
    idle = ~rated & (games < FADED)
    shown = [i for i, player in enumerate(players) if player.status != Status.HUMAN or games[i]]
    apart = roles_in_order(players) if evaluation.asymmetric else [0] * len(players)
    order = sorted(shown, key=lambda i: (apart[i], not rated[i], idle[i], -rating[i]))
    anchors = [a.id for a in population.anchors()]
    scores = [{a: _score(evaluation, player.id, a) for a in anchors if a != player.id} for player in players]
    returns = role_returns(population, evaluation)
    rows = [
        _standing(found, i, place, players[i], elo, scores[i], (games[i], points[i]))
        for place, i in enumerate(order, start=1)
    ]
    return [msgspec.structs.replace(row, returns=returns[row.player]) if row.player in returns else row for row in rows]


def unrated_standings(population: Population, evaluation: EvaluationPayoff, elo: Elo | None = None) -> list[Standing]:
    """Return all players without a fit of ratings, which may take seconds: by online Elo, the strongest first."""
    players = list(population)
    counts = evaluation.game_counts([player.id for player in players])
    games, points = counts.games.sum(axis=1).tolist(), counts.points.sum(axis=1).tolist()
    shown = [i for i, player in enumerate(players) if player.status != Status.HUMAN or games[i]]
    online = [None if elo is None else elo[player.id] for player in players]
    shown.sort(key=lambda i: (games[i] < FADED, -(online[i] or 0.0)))
    anchors = [a.id for a in population.anchors()]
    return [
        Standing(
            place=place,
            player=players[i].id,
            kind=players[i].label,
            rating=None,
            low=None,
            high=None,
            online=online[i],
            games=games[i],
            anchors={a: _score(evaluation, players[i].id, a) for a in anchors if a != players[i].id},
            by="return" if evaluation.by_return else "outcome",
            win_share=points[i] / games[i] if games[i] >= FADED else None,
        )
        for place, i in enumerate(shown, start=1)
    ]


def roles_in_order(players: Sequence[Player]) -> list[int]:
    """Return the place of each player's role among all roles; those without one come last.

    >>> roles_in_order([Player(id="a", kind="main", role="fox"), Player(id="b", kind="scripted", bot="random")])
    [0, 1]
    """
    roles = [role for role in dict.fromkeys(player.role for player in players) if role is not None]
    return [len(roles) if player.role is None else roles.index(player.role) for player in players]


def _standing(
    appraisal: Appraisal,
    i: int,
    place: int,
    player: Player,
    elo: Elo | None,
    anchors: dict[PlayerId, float | None],
    played: tuple[float, float],
) -> Standing:
    """Return the row of one player; `played` are its games and points, None stands for what they do not say."""
    ratings, rated = appraisal.fit.ratings, bool(appraisal.fit.joined[i])
    games, points = map(float, played)
    return Standing(
        place=place,
        player=player.id,
        kind=player.label,
        rating=float(ratings.rating[i]) if rated else None,
        low=_finite(ratings.low[i]) if rated else None,
        high=_finite(ratings.high[i]) if rated else None,
        online=elo[player.id] if elo is not None else None,
        games=games,
        anchors=anchors,
        by=appraisal.fit.by,
        nash=float(appraisal.nash.shares[i]) if rated else None,
        pinned=appraisal.pinned().get(i),
        win_share=points / games if games >= FADED else None,
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
        if player.status != Status.HUMAN or own or cross:
            rows.append((player, own, cross))
    rows.sort(key=lambda row: -(row[1] or row[2] or NOTHING).mean)
    return [
        Standing(
            place=place,
            player=player.id,
            kind=player.label,
            rating=None,
            low=None,
            high=None,
            online=None,
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


def payoff_table(
    players: Sequence[PlayerId],
    payoff: Payoff,
    appraisal: Appraisal | None = None,
) -> PayoffTable:
    """Return what each of the players did against each other one, in the order given.

    With an appraisal, cells of players that have not met are filled by its ratings, and marked.
    """
    rows = payoff.find_all(players)
    returns = returned(players, payoff)
    found = {name: payoff.matrix[name][np.ix_(rows, rows)] for name in ("wins", "draws", "raw_wins", "raw_draws")}
    points, games = found["wins"] + found["draws"] / 2, found["wins"] + found["draws"] + found["wins"].T
    low, high = wilson(points, games) if payoff.by_return else payoff.intervals(players)
    tables = (points, low, high, games, found["raw_wins"], found["raw_draws"], found["raw_wins"].T)
    columns = [table.tolist() for table in tables]
    return PayoffTable(
        players=tuple(players),
        cells=tuple(
            tuple(
                None
                if i == j or values[3] < FADED
                else _seen(
                    values,
                    _margin(payoff, players[i], players[j]),
                    msgspec.UNSET if returns is None else returns[i][j],
                )
                for j, values in enumerate(zip(*lines, strict=True))
            )
            for i, lines in enumerate(zip(*columns, strict=True))
        ),
        filled=() if appraisal is None else _filled(players, appraisal),
    )


def _filled(players: Sequence[PlayerId], appraisal: Appraisal) -> tuple[tuple[float | None, ...], ...]:
    """Return the payoff that ratings predict for players that have not met."""
    place = {player: i for i, player in enumerate(appraisal.players)}
    rows = [place[player] for player in players]
    marked, payoff = (table[np.ix_(rows, rows)] for table in (appraisal.nash.filled, appraisal.nash.payoff))
    middle = 0.5 if appraisal.fit.by == "outcome" else 0.0
    return tuple(
        tuple(float(value) + middle if mark else None for value, mark in zip(values, marks, strict=True))
        for values, marks in zip(payoff, marked, strict=True)
    )


def _margin(payoff: Payoff, player: PlayerId, other: PlayerId) -> MeanReturn | None:
    """Return the mean margin of one player against another in a league by return."""
    if (found := payoff.margin(player, other)) is None:
        return None
    return MeanReturn(mean=found[0], low=_finite(found[1]), high=_finite(found[2]), games=payoff.games(player, other))


def returned(players: Sequence[PlayerId], payoff: Payoff) -> list[list[MeanReturn | None]] | None:
    """Return what each player returned a game against each other one, from whichever seat; None if it is not kept."""
    if not isinstance(payoff, EvaluationPayoff) or not payoff.keeps_returns:
        return None
    seats = (payoff.seat_returns(players, first) for first in (True, False))
    games, total, squares = (one + two for one, two in zip(*seats, strict=True))
    count = np.maximum(games, FADED)
    mean = total / count
    spread = np.maximum(squares / count - mean**2, 0.0)
    reach = quantile(0.95) * np.sqrt(spread / np.maximum(games - 1, FADED))
    reach[games <= 1] = np.inf
    return [
        [
            None if n < FADED else MeanReturn(mean=m, low=_finite(m - r), high=_finite(m + r), games=n)
            for m, r, n in zip(*row, strict=True)
        ]
        for row in zip(mean.tolist(), reach.tolist(), games.tolist(), strict=True)
    ]


def _seen(values: tuple[Any, ...], margin: MeanReturn | None, returns: MeanReturn | msgspec.UnsetType | None) -> Cell:
    """Return a cell, without the prior: people want what happened."""
    points, low, high, games, wins, draws, losses = values
    score = points / games
    counts = {"games": games, "wins": wins, "draws": draws, "losses": losses}
    return Cell(score=score, low=low, high=high, **counts, margin=margin, returned=returns)
