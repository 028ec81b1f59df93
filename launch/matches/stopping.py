"""When a duel or a calibration has played enough: rules that see the scores of all pairs so far.

    rule = UntilSure(PairTest(0.5, 0.55))
    while (stop := rule.stop(scores)) is None:
        scores = play_more()

A pair is all seatings of one start (two games with seats swapped, or one where seats cannot be swapped), and its score
lies between 0 and 1.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from league.errors import InputError
from league.ids import PlayerId
from league.interval import quantile
from league.limits import ABSENT
from league.payoff import meetings
from league.sequential import PairTest, lower_bound, moments, upper_bound
from league.ticket import Episode

Floats = npt.NDArray[np.float64]

FEWEST = 32  # pairs before a width counts: it is an estimate, too


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a contest is over: 1 or -1 for one of two hypotheses, 0 without a decision; and the honest interval."""

    decision: int
    low: float
    high: float


class StopRule(Protocol):
    """Decides after each batch of pairs."""

    def stop(self, scores: Floats) -> Stop | None:
        """Return why it is over, or None to go on."""

    def report(self, scores: Floats) -> Stop:
        """Return the interval of a contest that ends without a decision."""

    def verdict(self, stop: Stop, first: str, second: str) -> str:
        """Say what was decided."""

    def how_far(self, scores: Floats) -> str:
        """Say how far it is, in a few words."""


@dataclass(frozen=True, slots=True)
class UntilSure:
    """Stops when the sequential test has decided. The interval holds at every look."""

    test: PairTest

    def stop(self, scores: Floats) -> Stop | None:
        """Return the decision of the test, with the interval."""
        values, counts = np.unique(scores, return_counts=True)
        decision = self.test.verdict(counts, values.tolist())
        return Stop(decision, *anytime(scores)) if decision else None

    def report(self, scores: Floats) -> Stop:
        """Return the interval."""
        return Stop(0, *anytime(scores))

    def verdict(self, stop: Stop, first: str, second: str) -> str:
        """Say which hypothesis the test accepts, and how often that is wrong."""
        test = self.test
        if stop.decision > 0:
            return f"sure: {first} scores more than {test.score0:.1%} against {second} (alpha {test.alpha:.1%})"
        if stop.decision < 0:
            return f"sure: {first} scores less than {test.score1:.1%} against {second} (beta {test.beta:.1%})"
        return "not sure yet: let them play more games, with --games"

    def how_far(self, scores: Floats) -> str:
        """Say where the test is between its stops."""
        values, counts = np.unique(scores, return_counts=True)
        low, high = self.test.stops
        return f"log-likelihood ratio {self.test.log_ratio(counts, values.tolist()):+.2f} of {low:.2f} or {high:+.2f}"


@dataclass(frozen=True, slots=True)
class UntilWidth:
    """Stops when the interval reaches this far to each side.

    The width says little of whether the score is high or low, so stopping by it keeps the coverage.
    """

    half_width: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse a width that is reached before the first game, or never."""
        if not 0 < self.half_width < 0.5:
            raise InputError(f"a half-width must lie between 0 and 0.5, got {self.half_width:g}")

    def stop(self, scores: Floats) -> Stop | None:
        """Return the interval once it is narrow enough."""
        enough = len(scores) >= FEWEST and half_width(scores, self.confidence) <= self.half_width
        return self.report(scores) if enough else None

    def report(self, scores: Floats) -> Stop:
        """Return the interval."""
        mean, reach = float(scores.mean()), half_width(scores, self.confidence)
        return Stop(0, max(0.0, mean - reach), min(1.0, mean + reach))

    def verdict(self, stop: Stop, first: str, second: str) -> str:
        """Say how wide the interval is."""
        return f"the interval of {self.confidence:.0%} reaches ±{(stop.high - stop.low) / 2:.2%}"

    def how_far(self, scores: Floats) -> str:
        """Say how wide the interval still is."""
        return f"±{half_width(scores, self.confidence):.2%} of ±{self.half_width:.2%}"


def anytime(scores: Floats, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of the mean score of pairs that holds at every look."""
    values, counts = np.unique(scores, return_counts=True)
    alpha, known = (1 - confidence) / 2, values.tolist()
    return float(lower_bound(counts, alpha, known)), float(upper_bound(counts, alpha, known))


def half_width(scores: Floats, confidence: float = 0.95) -> float:
    """Return how far the interval of the mean score of pairs reaches to each side, at this one look."""
    values, counts = np.unique(scores, return_counts=True)
    pairs, _, variance = moments(counts, values.tolist())
    return quantile(confidence) * float(np.sqrt(variance / pairs))


def pair_scores(outcomes: Sequence[Episode], own: Collection[int], sides: Sequence[int], turns: int) -> Floats:
    """Return the mean score of the entries `own` in each pair: `turns` episodes from the same start.

    The games are those of the standings (`league.payoff.meetings`): one for each two sides that meet.
    """
    players = [PlayerId("own" if entry in own else "rest") for entry in range(len(sides))]
    met = [(i, j) if i in own else (j, i) for i, j in meetings(players, sides)]
    ranks = np.array([outcome.ranks for outcome in outcomes])
    mine, yours = ranks[:, [i for i, _ in met]], ranks[:, [j for _, j in met]]
    points = (np.sign(yours - mine) + 1) / 2
    points[(mine == ABSENT) | (yours == ABSENT)] = 0.5  # no game: it speaks for nobody
    scores: Floats = points.mean(axis=1).reshape(-1, turns).mean(axis=1)
    return scores


def score_of(elo: float) -> float:
    """Return the score of a player that is this much stronger.

    >>> round(score_of(20.0), 4), round(score_of(400.0), 4)
    (0.5288, 0.9091)
    """
    return 1 / (1 + 10 ** (min(max(-elo, -4000.0), 4000.0) / 400))


def elo_of(score: float) -> float:
    """Return how much stronger a player with this score is; infinite for one that always wins.

    >>> round(elo_of(0.961)), elo_of(1.0)
    (557, inf)
    """
    return 400 * math.log10(score / (1 - score)) if 0 < score < 1 else math.copysign(math.inf, score - 0.5)
