"""Appraisal: all that the evaluation games of a league say about strength, and where ratings mislead.

    appraisal = appraise(state.population, state.evaluation)
    appraisal.fit.ratings, appraisal.nash.shares, appraisal.cyclic.strength, appraisal.findings

Viewers and trackers compute it beside play; the coordinator never does. It fits all games at once: half a second with
a thousand players.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np

from league.evaluation_payoff import EvaluationPayoff, predecessor
from league.game_counts import FADED, GameCounts
from league.ids import PlayerId
from league.interval import quantile
from league.population import Population
from league.ratings.anchoring import Anchored, fit_anchored
from league.ratings.cycles import CyclicPart, decompose, top_cycle
from league.ratings.dispersion import SMALLEST_VARIANCE
from league.ratings.fits import RatingFit
from league.ratings.nash import NashView, nash_view
from league.ratings.probes import Defect, Finding, find_defects
from league.ratings.return_ratings import fit_returns

SLIGHT = 0.05  # a score that is off by less than this is not worth a word, however sure it is


class Misfit(msgspec.Struct, frozen=True, kw_only=True):
    """A pair whose games contradict the ratings: what they predict for the first player, and what it scored.

    In a league by return both are mean margins.
    """

    player: PlayerId
    opponent: PlayerId
    predicted: float
    scored: float
    games: float


@dataclass(frozen=True, slots=True, eq=False)
class Appraisal:
    """The ratings of a league with what they leave unexplained. Indices are those of `players`."""

    players: tuple[PlayerId, ...]  # the population in its order, then the rows of previous candidates
    members: int  # how many of them are the population
    counts: GameCounts
    anchored: Anchored
    findings: tuple[Finding, ...]
    cyclic: CyclicPart
    top: tuple[PlayerId, ...]  # nobody outside surely beats them; more than one beat each other in a circle
    nash: NashView

    @property
    def fit(self) -> RatingFit:
        """The fit that ratings come from."""
        return self.anchored.fit

    def found(self, wanted: Defect) -> list[Finding]:
        """Return what one probe found."""
        return [finding for finding in self.findings if finding.defect == wanted]

    def pinned(self) -> Mapping[int, float]:
        """Return the pins that games refute, by player."""
        return {one.player: one.pinned for one in self.anchored.refuted}


def appraise(population: Population, evaluation: EvaluationPayoff) -> Appraisal:
    """Fit ratings to the evaluation games and probe them. Slow: not for the hot loop.

    By return the first anchor is at 0 and the others are free: pins are points of Elo.
    """
    players, predecessors = _rows(population, evaluation)
    counts, members = evaluation.game_counts(players), len(population)
    anchors = {i: player.anchor for i, player in enumerate(population) if player.anchor is not None}
    if evaluation.by_return:
        origin = dict.fromkeys(list(anchors)[:1], 0.0)
        anchored = Anchored(fit_returns(counts, origin, predecessors, asymmetric=evaluation.asymmetric))
    else:
        anchored = fit_anchored(counts, anchors, predecessors, evaluation.asymmetric)
    return Appraisal(
        players=tuple(players),
        members=members,
        counts=counts,
        anchored=anchored,
        findings=tuple(find_defects(counts, anchored, predecessors, members)),
        cyclic=decompose(anchored.fit),
        top=tuple(players[i] for i in top_cycle(anchored.fit, members).tolist()),
        nash=nash_view(anchored.fit, counts, members),
    )


def _rows(population: Population, evaluation: EvaluationPayoff) -> tuple[list[PlayerId], dict[int, int]]:
    """Return the players to rate, previous candidates with games at the end, and the predecessor of each newest one."""
    players, predecessors = [player.id for player in population], dict[int, int]()
    for i, player in enumerate(population):
        before = predecessor(player.id)
        if player.learning and evaluation.matrix["pairs"][evaluation.find(before)].sum() >= FADED:
            predecessors[i] = len(players)
            players.append(before)
    return players, predecessors


def worst_pairs(appraisal: Appraisal, most: int = 3, confidence: float = 0.95) -> list[Misfit]:
    """Return the pairs that are furthest from what their ratings predict, of those that are so by more than chance.

    All pairs are looked at, so each must pass a stricter test (Bonferroni's). The player with the higher rating is
    the first of a pair. A rating is one number for each player: where some players beat others in a circle, no numbers
    predict all pairs.
    """
    fit, cells = appraisal.fit, appraisal.fit.cells
    inside = np.maximum(cells.first, cells.second) < appraisal.members
    tested = np.flatnonzero(inside & fit.joined[cells.first] & fit.joined[cells.second] & (cells.games >= 1))
    if not len(tested):
        return []
    floor = SMALLEST_VARIANCE if fit.by == "outcome" else 0.0
    error = np.sqrt(np.maximum(cells.variance, floor)) / cells.games
    off = np.abs(cells.observed - cells.predicted)
    least = np.maximum(quantile(1 - (1 - confidence) / len(tested)) * error, SLIGHT if fit.by == "outcome" else 0.0)
    certain = tested[off[tested] > least[tested]]
    order = certain[np.argsort(-off[certain], kind="stable")][:most]
    return [_misfit(appraisal, int(cell)) for cell in order]


def _misfit(appraisal: Appraisal, cell: int) -> Misfit:
    """Return a cell as the player with the higher rating sees it."""
    fit, cells = appraisal.fit, appraisal.fit.cells
    first, second = int(cells.first[cell]), int(cells.second[cell])
    predicted, scored = float(cells.predicted[cell]), float(cells.observed[cell])
    if fit.ratings.rating[first] < fit.ratings.rating[second]:
        first, second = second, first
        whole = 1.0 if fit.by == "outcome" else 0.0
        predicted, scored = whole - predicted, whole - scored
    return Misfit(
        player=appraisal.players[first],
        opponent=appraisal.players[second],
        predicted=predicted,
        scored=scored,
        games=float(cells.games[cell]),
    )
