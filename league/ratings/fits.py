"""Fits: what every rating view returns, whichever games it reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from league.game_counts import Floats, Indices
from league.ratings.dispersion import Cells, Dispersion

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """A rating for each player with its interval; -inf and inf where no games lead to an anchor."""

    rating: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its standard error."""

    value: float
    error: float

    @property
    def surprise(self) -> float:
        """How many standard errors it is from 0."""
        return self.value / self.error if self.error > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class RatingFit:
    """Ratings with what they leave unexplained."""

    by: Literal["outcome", "return"]  # points of Elo, or units of return a game
    ratings: Ratings
    covariance: Floats  # of ratings, 0 for pinned ones
    joined: Mask  # players whose ratings mean something: games lead to an anchor, or there is none at all
    anchors: Mapping[int, float]  # those that stayed pinned
    cells: Cells
    dispersion: Dispersion
    seat: Estimate  # what the first seat is worth, in points of rating
    draw_odds: float  # Davidson's nu: P(draw) is nu times the root of P(win) P(loss)
    pairing: Estimate  # log of the variance of a pair by that of two independent games

    def advantage(self) -> Floats:
        """Return [i, j] what the ratings predict for i against j: its score less one half, or its margin."""
        rating = self.ratings.rating
        gap: Floats = rating[:, None] - rating[None, :]
        if self.by == "return":
            return gap
        scores = [
            1 / (1 + 10.0 ** -np.clip((gap + seat) / 400, -300, 300)) for seat in (self.seat.value, -self.seat.value)
        ]
        mean: Floats = (scores[0] + scores[1] - 1) / 2
        return mean

    def difference(self, player: int, other: int) -> Estimate:
        """Return how far one player is above another."""
        gap = float(self.ratings.rating[player] - self.ratings.rating[other])
        c = self.covariance
        variance = float(c[player, player] + c[other, other] - 2 * c[player, other])
        return Estimate(gap, max(variance, 0.0) ** 0.5)


def groups(met: Mask) -> Iterator[Indices]:
    """Yield the players that games join, group by group."""
    left = np.ones(len(met), dtype=np.bool_)
    while left.any():
        group = reach(met, np.flatnonzero(left)[:1])
        left &= ~group
        yield np.flatnonzero(group)


def reach(edges: Mask, start: Indices) -> Mask:
    """Return who can be reached from some players along edges[from, to], those players included."""
    found = np.zeros(len(edges), dtype=np.bool_)
    frontier = start
    while len(frontier):
        found[frontier] = True
        frontier = np.flatnonzero(edges[frontier].any(axis=0) & ~found)
    return found


def levels(met: Mask, anchors: Mapping[int, float]) -> tuple[Mask, Floats]:
    """Return who is joined to an anchor, or to anybody if there is none, and what fixes the level of the other groups.

    Without a pin the level of a group is free and the information flat in that direction: added to it, the second
    array makes it 1 there, which leaves the mean of the group at the centre.
    """
    joined, level = np.zeros(len(met), dtype=np.bool_), np.zeros(met.shape)
    for members in groups(met):
        pinned = any(member in anchors for member in members.tolist())
        joined[members] = pinned or (not anchors and len(members) > 1)
        if not pinned:
            level[np.ix_(members, members)] = 1.0 / len(members)
    return joined, level


def check_anchors(anchors: Mapping[int, float], size: int) -> None:
    """Refuse pins of nobody, or at no number."""
    if bad := {i: a for i, a in anchors.items() if not (0 <= i < size and np.isfinite(a))}:
        raise ValueError(f"anchors must be indices of players with a finite rating, got {bad}")
