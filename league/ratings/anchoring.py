"""Anchoring: the first anchor is the origin of the scale; every other pin is a claim that games can refute."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from league.game_counts import GameCounts
from league.interval import quantile
from league.ratings.bradley_terry import fit_outcomes
from league.ratings.fits import RatingFit

FALSE_ALARM = 0.01  # chance that a league whose pins are right loses one of them


@dataclass(frozen=True, slots=True)
class Refuted:
    """An anchor whose games contradict its pin: it was rated like any other player."""

    player: int
    pinned: float
    rating: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Anchored:
    """A fit with the pins that hold, and the pins that games refuted."""

    fit: RatingFit
    refuted: tuple[Refuted, ...] = ()


def fit_anchored(
    counts: GameCounts,
    anchors: Mapping[int, float],
    predecessors: Mapping[int, int] | None = None,
    asymmetric: bool = False,
) -> Anchored:
    """Fit outcomes with all pins that the games do not contradict.

    Without all pins but the first, the games give every other anchor a rating with an interval of its own. A pin
    outside it, at a false alarm of 1 % over all anchors, is released; unless no ratings at all fit the games, because
    then a player that is good against one anchor and bad against another says nothing about the distance of the two.
    """
    if len(anchors) < 2:
        return Anchored(fit_outcomes(counts, anchors, predecessors, asymmetric=asymmetric))
    origin, fit_with = next(iter(anchors)), partial(fit_outcomes, counts, asymmetric=asymmetric)
    free = fit_with({origin: anchors[origin]}, confidence=1 - FALSE_ALARM / (len(anchors) - 1))
    fits = free.dispersion.surprise <= quantile(1 - FALSE_ALARM)
    low, high = free.ratings.low, free.ratings.high
    wrong = {i: pin for i, pin in anchors.items() if fits and free.joined[i] and not low[i] <= pin <= high[i]}
    fit = fit_with({i: pin for i, pin in anchors.items() if i not in wrong}, predecessors, start=free)
    found = fit.ratings
    return Anchored(
        fit,
        tuple(
            Refuted(i, pin, float(found.rating[i]), float(found.low[i]), float(found.high[i]))
            for i, pin in wrong.items()
        ),
    )
