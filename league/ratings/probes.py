"""Probes: what may be wrong with a table of ratings. Each looks for one thing and finds nothing elsewhere.

for finding in find_defects(counts, anchored, predecessors):
    print(finding.defect, finding.players, finding.value)

A probe that tests a hypothesis raises a false alarm in 1 % of leagues (`FALSE_ALARM`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy as np

from league.game_counts import GameCounts
from league.ratings.anchoring import FALSE_ALARM, Anchored
from league.ratings.dispersion import Dispersion
from league.ratings.fits import Estimate, RatingFit

FEW_GAMES = 30.0  # of one player: with fewer, an interval reaches more than 100 Elo
MANY_DRAWS = 0.1  # share of games
SAME = 25.0  # Elo: players that are surely closer than this may be clones
MOST_CLONES = 20  # pairs that are compared opponent by opponent


class Defect(StrEnum):
    """What a probe looks for."""

    FEW_GAMES = "few games"
    SEAT = "favoured seat"
    DRAWS = "many draws"
    MISFIT = "misfit"
    PAIRING = "overdispersion"
    IMPROVING = "improving player"
    CLONE = "clone"
    ISLAND = "island"
    ANCHOR = "wrong anchor"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe found: the players that it is about (all if empty), and how much it is."""

    defect: Defect
    players: tuple[int, ...] = ()
    value: float = 0.0
    error: float = 0.0


def find_defects(
    counts: GameCounts,
    anchored: Anchored,
    predecessors: Mapping[int, int] | None = None,
    members: int | None = None,
) -> list[Finding]:
    """Return what the probes found; those for outcomes are silent on ratings by return.

    Islands, clones and players with few games are looked for among the first `members`, if given: previous candidates
    behind them are nobody's concern.
    """
    fit = anchored.fit
    found = [*_islands(counts, fit, members), *_few_games(counts, fit, members), *_misfit(fit)]
    found += _improving(fit, predecessors or {})
    found += [Finding(Defect.ANCHOR, (r.player,), r.rating - r.pinned, (r.high - r.low) / 4) for r in anchored.refuted]
    if fit.by == "outcome":
        found += [*_seat(fit), *_draws(counts), *_pairing(fit), *_clones(counts, fit, predecessors or {}, members)]
    return found


def _certain(tests: int = 1) -> float:
    """Return the one-sided quantile of one of some tests that raise a false alarm in 1 % together."""
    return NormalDist().inv_cdf(1 - FALSE_ALARM / max(tests, 1))


def _islands(counts: GameCounts, fit: RatingFit, members: int | None) -> Iterator[Finding]:
    alone = np.flatnonzero((~fit.joined & (counts.games.sum(axis=1) >= 1))[:members])
    if len(alone):
        yield Finding(Defect.ISLAND, tuple(alone.tolist()), float(len(alone)))


def _few_games(counts: GameCounts, fit: RatingFit, members: int | None) -> Iterator[Finding]:
    games = counts.games.sum(axis=1)
    few = [i for i in np.flatnonzero((fit.joined & (games < FEW_GAMES))[:members]).tolist() if i not in fit.anchors]
    if few:
        yield Finding(Defect.FEW_GAMES, tuple(few), float(games[few].min()))


def _misfit(fit: RatingFit) -> Iterator[Finding]:
    dispersion: Dispersion = fit.dispersion
    if dispersion.surprise > _certain(2):  # the variances of cells are estimated, too
        yield Finding(Defect.MISFIT, value=dispersion.misfit or 0.0)


def _seat(fit: RatingFit) -> Iterator[Finding]:
    if abs(fit.seat.surprise) > _certain(2):
        yield Finding(Defect.SEAT, value=fit.seat.value, error=fit.seat.error)


def _draws(counts: GameCounts) -> Iterator[Finding]:
    games, draws = float(counts.first_games.sum()), float(counts.draws.sum())
    if games and draws / games - MANY_DRAWS > _certain() * (MANY_DRAWS * (1 - MANY_DRAWS) / games) ** 0.5:
        yield Finding(Defect.DRAWS, value=draws / games)


def _pairing(fit: RatingFit) -> Iterator[Finding]:
    if fit.pairing.surprise > _certain():
        yield Finding(Defect.PAIRING, value=float(np.exp(fit.pairing.value)), error=fit.pairing.error)


def _improving(fit: RatingFit, predecessors: Mapping[int, int]) -> Iterator[Finding]:
    for child, parent in predecessors.items():
        gain: Estimate = fit.difference(child, parent)
        if fit.joined[child] and gain.surprise > _certain(len(predecessors)):
            yield Finding(Defect.IMPROVING, (child, parent), gain.value, gain.error)


def _clones(
    counts: GameCounts, fit: RatingFit, predecessors: Mapping[int, int], members: int | None
) -> Iterator[Finding]:
    """Find players that are surely as strong as each other, and score the same against every opponent."""
    rating, variance = fit.ratings.rating, np.diag(fit.covariance)
    error = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * fit.covariance, 0.0))
    close = np.abs(rating[:, None] - rating[None, :]) + _certain(2) * error < SAME
    close &= fit.joined[:, None] & fit.joined[None, :] & (counts.games >= 1)
    family = {frozenset(pair) for pair in predecessors.items()}
    for i, j in np.argwhere(np.triu(close, 1)[:members, :members])[:MOST_CLONES].tolist():
        if frozenset((i, j)) not in family and _same_scores(counts, i, j):
            yield Finding(Defect.CLONE, (i, j), float(rating[i] - rating[j]), float(error[i, j]))


def _same_scores(counts: GameCounts, i: int, j: int) -> bool:
    """Whether the scores of two players against those that both met differ by no more than chance."""
    games, points = counts.games[[i, j]], counts.points[[i, j]]
    both = np.flatnonzero((games >= 1).all(axis=0))
    if len(both) < 2:
        return False
    score = (points[:, both] + 0.5) / (games[:, both] + 1)
    variance = (score * (1 - score) / games[:, both]).sum(axis=0)
    chi_square = float(((score[0] - score[1]) ** 2 / variance).sum())
    return Dispersion(chi_square=chi_square, freedom=float(len(both)), spread=0.0).surprise < _certain()
