"""Sequential tests: bounds and verdicts that stay right although somebody looks after every game and stops when sure.

    low, high = anytime_interval(points=70.0, games=100.0)          # for numbers or arrays
    surely_above(won_drawn_lost, 0.7)                               # a promotion: [targets, starts, 3] -> [targets]
    verdict = PairTest(score0=0.5, score1=0.55).verdict(counts)     # -1, 0 or 1: for score0, go on, for score1

The bounds hold for scores x_1, x_2, ... in [0, 1] that may depend on each other and come from a player that changes.
Let m_i be the mean of x_i given the past. For every k > 0 the product of (1 + k x_i) / (1 + k m_i) is a martingale that
starts at 1. As log(1 + k m) is concave, exp(sum log(1 + k x_i) - n log(1 + k m)), with m the average of m_1 to m_n, is
at most that product. So its mean over fixed values of k, the e-value of "the average score is at most m", ever reaches
1 / alpha with a probability of alpha at most (Ville's inequality). It is the capital of somebody who bets against m.

For wins and losses this is a mixture of likelihood ratios, ((1 + k) / (1 + k m))^wins (1 / (1 + k m))^losses.
Where only the points are known, x counts as x wins and 1 - x losses: log(1 + k x) >= x log(1 + k), so it stays valid.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

OUTCOMES = (1.0, 0.5, 0.0)  # the scores of a game: won, drawn, lost
PAIRS = (1.0, 0.75, 0.5, 0.25, 0.0)  # the mean scores of two games from the same start with seats swapped
BETS = 2.0 ** np.arange(-7, 8.5, 0.5)  # k: the smallest is for scores close to the bound, the largest for few games
HALVINGS = 40  # of the range in which a bound is searched
VIRTUAL_PAIRS = 16.0  # a few equal pairs do not prove that all are equal: so many have the variance
VIRTUAL_VARIANCE = 0.125  # of two fair games without draws


# --- bounds --------------------------------------------------------------------------------------------------


def log_evidence(counts: npt.ArrayLike, score: npt.ArrayLike, values: Sequence[float] = OUTCOMES) -> Floats:
    """Return the log e-value against "the average score is at most this": log(1 / alpha) or more refutes it.

    `counts` [..., values] says how many games had each of the values; `score` is a number or [...].
    """
    gains, games = _gains(counts, values)
    return _log_capital(gains, games, np.asarray(score, np.float64))


def lower_bound(counts: npt.ArrayLike, alpha: npt.ArrayLike = 0.025, values: Sequence[float] = OUTCOMES) -> Floats:
    """Return what the average score is at least: all looks together are wrong with a probability of `alpha` at most.

    >>> float(lower_bound([70, 0, 30]).round(3)), float(lower_bound([0, 140, 0]).round(3))
    (0.531, 0.483)
    """
    gains, games = _gains(counts, values)
    needed = -np.log(np.asarray(alpha, np.float64))
    low = np.zeros(games.shape)
    high = (np.asarray(counts) * np.asarray(values)).sum(axis=-1) / np.maximum(games, 1e-300)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        refuted = _log_capital(gains, games, middle) >= needed
        low, high = np.where(refuted, middle, low), np.where(refuted, high, middle)
    return low


def upper_bound(counts: npt.ArrayLike, alpha: npt.ArrayLike = 0.025, values: Sequence[float] = OUTCOMES) -> Floats:
    """Return what the average score is at most: the lower bound of the opponent, seen from the other side."""
    highest: Floats = 1.0 - lower_bound(counts, alpha, [1.0 - value for value in values])
    return highest


def anytime_interval(points: Any, games: Any, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the interval of the score points / games, for numbers or arrays; (0, 1) without games.

    Any scores in [0, 1] add up to points. Where wins, draws and losses are known, the bounds of their counts are
    closer. At the 100th game the interval is 1.7 times as wide as one that may be looked at only once, at the
    10,000th 1.8 times.

    >>> [round(float(bound), 3) for bound in anytime_interval(80.0, 100.0)]
    [0.644, 0.912]
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    counts = np.stack(np.broadcast_arrays(points, np.subtract(games, points)), axis=-1).astype(np.float64)
    each = (1 - confidence) / 2
    return lower_bound(counts, each, (1.0, 0.0)), upper_bound(counts, each, (1.0, 0.0))


def _gains(counts: npt.ArrayLike, values: Sequence[float]) -> tuple[Floats, Floats]:
    """Return [..., bets] the sum of log(1 + k x) over all games, and [...] how many there are."""
    found = np.asarray(counts, np.float64)
    if found.shape[-1:] != (len(values),) or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(
            f"counts must be finite, not negative, and one for each of {list(values)}; got {found.tolist()}"
        )
    return found @ _log_factors(tuple(values)), found.sum(axis=-1)


@lru_cache(maxsize=64)
def _log_factors(values: tuple[float, ...]) -> Floats:
    if not values or min(values) < 0 or max(values) > 1:
        raise ValueError(f"scores must lie between 0 and 1, got {list(values)}")
    factors: Floats = np.log1p(np.multiply.outer(values, BETS))
    return factors


def _log_capital(gains: Floats, games: Floats, score: Floats) -> Floats:
    bets = gains - games[..., None] * np.log1p(score[..., None] * BETS)
    best = bets.max(axis=-1)
    capital: Floats = best + np.log(np.exp(bets - best[..., None]).mean(axis=-1))
    return capital


# --- a learning player ---------------------------------------------------------------------------------------


def surely_above(
    counts: npt.ArrayLike,
    threshold: float,
    starts: Sequence[int] = (0,),
    alpha: float = 0.025,
    values: Sequence[float] = OUTCOMES,
) -> Bools:
    """Return for each target whether the average score since one of the starts is surely above the threshold.

    `counts` [targets, starts, 3] has the games won, drawn and lost since each start, none of them faded; a start is
    the number of a candidate since the last freeze or reset, 0 for all games since then. One may look after each game.
    Where scores are mapped returns, the values are (1, 0) and the counts are points and games - points.

    A player that learns has no one score, so the claim is about an average, and faded counts would not do: with a
    memory of 100 games evidence is lost as fast as it comes. Of the error, start s gets the share 1 / ((s + 1)(s + 2)):
    all starts together have all of it. So a player that was weak at first does not drag its first games along.

    A promotion needs this to be true of *all* targets, each at `alpha` and not at alpha / targets: it is wrong only if
    some target is not beaten, and then already the claim about that target is wrong (an intersection-union test).
    """
    found = np.asarray(counts, np.float64)
    if found.ndim != 3 or found.shape[1:] != (len(starts), len(values)):
        raise ValueError(f"counts must have the shape [targets, {len(starts)}, {len(values)}], got {found.shape}")
    surely: Bools = np.asarray(log_evidence(found, threshold, values) >= -np.log(alpha * start_shares(starts)))
    return np.asarray(surely.any(axis=1))


def average_at_least(
    counts: npt.ArrayLike, starts: Sequence[int] = (0,), alpha: float = 0.025, values: Sequence[float] = OUTCOMES
) -> Floats:
    """Return for each target the highest bound that holds for the average score since one of the starts.

    It is above a threshold where `surely_above` says so, and costs 40 times as much.
    """
    bounds: Floats = lower_bound(counts, alpha * start_shares(starts), values).max(axis=1)
    return bounds


def start_shares(starts: Sequence[int]) -> Floats:
    """Return the share of the error that each start has; those of 0, 1, 2, ... add up to 1.

    >>> start_shares([0, 1, 2]).round(3).tolist()
    [0.5, 0.167, 0.083]
    """
    number = np.asarray(starts, np.float64)
    shares: Floats = 1 / ((number + 1) * (number + 2))
    return shares


def kept_starts(now: int) -> list[int]:
    """Return the starts to keep at candidate `now` since the freeze: all, and the further back the fewer.

    A start that was dropped never comes back, and fewer than 3 log2(now) + 4 are kept, the first one always.

    >>> kept_starts(20)
    [0, 8, 12, 14, 16, 17, 18, 19, 20]
    """
    return [start for start in range(now + 1) if start % (1 << max(0, ((now - start) // 2).bit_length() - 1)) == 0]


# --- pairs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairTest:
    """The generalised sequential probability ratio test of "the score is score0" against "the score is score1".

    If the score is score0 or less, it ends for score1 with a probability of about `alpha` at most; if it is score1 or
    more, for score0 with `beta` at most. A score between them may end either way.

    >>> test = PairTest(score0=0.5, score1=0.55)
    >>> test.verdict([20, 40, 30, 10, 0]), test.verdict([1, 2, 2, 1, 0]), test.verdict([0, 10, 30, 40, 20])
    (1, 0, -1)
    """

    score0: float
    score1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Refuse hypotheses that no number of games could tell apart."""
        if not 0 < self.score0 < self.score1 < 1:
            raise ValueError(f"0 < score0 < score1 < 1 must hold, got {self.score0:g} and {self.score1:g}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(f"alpha and beta must lie between 0 and 0.5, got {self.alpha:g} and {self.beta:g}")

    @property
    def stops(self) -> tuple[float, float]:
        """The log-likelihood ratios at which it ends: for score0, and for score1."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def log_ratio(self, counts: npt.ArrayLike, values: Sequence[float] = PAIRS) -> Floats:
        """Return the log-likelihood ratio of score1 to score0, for counts [..., values] of pairs."""
        pairs, mean, variance = moments(counts, values)
        about0, about1 = variance + (mean - self.score0) ** 2, variance + (mean - self.score1) ** 2
        ratio: Floats = pairs / 2 * np.log(about0 / about1)
        return ratio

    def verdict(self, counts: npt.ArrayLike, values: Sequence[float] = PAIRS) -> int:
        """Return 1 if the test ends for score1, -1 if for score0, 0 if more pairs are needed."""
        ratio, (low, high) = float(self.log_ratio(counts, values)), self.stops
        return int(ratio >= high) - int(ratio <= low)


def moments(counts: npt.ArrayLike, values: Sequence[float] = PAIRS) -> tuple[Floats, Floats, Floats]:
    """Return the number of pairs, their mean score, and the variance of a pair: never 0, thanks to virtual pairs.

    With seat scores .8 and .3 the variance of a pair is .0925, of the mean of two games from any seats .124.
    """
    found, scores = np.asarray(counts, np.float64), np.asarray(values, np.float64)
    pairs = found.sum(axis=-1)
    mean = np.divide(found @ scores, pairs, out=np.full_like(pairs, 0.5), where=pairs > 0)
    squares = (found * (scores - mean[..., None]) ** 2).sum(axis=-1)
    variance: Floats = (squares + VIRTUAL_PAIRS * VIRTUAL_VARIANCE) / (pairs + VIRTUAL_PAIRS)
    return pairs, mean, variance
