"""Ratings: strength on one scale, with error bars.

Two views of the same games. `Elo` moves with every game: cheap, live, and dependent on the order of games.
`bradley_terry` fits all games at once: the order does not matter, and each rating has an interval.
On both scales 400 points are odds of ten to one, and anchors stay where they are pinned.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId
from league.interval import quantile
from league.player import Player

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

SCALE = 400 / math.log(10)  # Elo points for one unit of log-odds
FADED = 1e-6  # a pair with fewer games than this, after decay, has not met
TOLERANCE = 1e-9  # log-odds
MOST_STEPS, MOST_HALVINGS = 200, 60
DENSE = 200  # players up to which a system of equations is solved at once; it takes the cube of their number
PRECISION = 1e-10  # of the solution beyond that, relative
FLATTEST = 1e-12  # curvature that a player has at least, or players far from everybody could not be solved for


def expected(rating: float, opponent: float) -> float:
    """Return the score that these two ratings predict for the first.

    >>> round(expected(400.0, 0.0), 4)
    0.9091
    """
    return 1 / (1 + 10 ** min((opponent - rating) / 400, 300))  # beyond it, a float overflows


class Elo:
    """Online ratings of players: a snapshot starts where its parent is, an anchor never moves.

    elo = Elo(k=16)
    elo.add(player)
    elo.update(player.id, opponent.id, 1.0)
    """

    def __init__(self, k: float = 16.0, initial: float = 0.0) -> None:
        if not k > 0:
            raise ValueError(f"the step K of Elo must be positive, got {k}")
        self.k = k
        self.initial = initial
        self._ratings: dict[PlayerId, float] = {}
        self._pinned: set[PlayerId] = set()

    def add(self, player: Player) -> None:
        """Let a new player begin: at its anchor, at its parent's rating, or at the initial one."""
        if player.id in self._ratings:
            raise ValueError(f"player {player.id!r} has a rating already")
        if player.anchor is not None:
            self._pinned.add(player.id)
            self._ratings[player.id] = player.anchor
        elif player.parent is not None:
            self._ratings[player.id] = self[player.parent]
        else:
            self._ratings[player.id] = self.initial

    def __getitem__(self, player: PlayerId) -> float:
        try:
            return self._ratings[player]
        except KeyError:
            raise KeyError(f"player {player!r} has no rating: add it before its first game") from None

    def __contains__(self, player: object) -> bool:
        return player in self._ratings

    def update(self, a: PlayerId, b: PlayerId, outcome: float) -> None:
        """Move both players by one game: `outcome` is 1 if a won, 0 if b won, 0.5 for a draw."""
        if not 0 <= outcome <= 1:
            raise ValueError(f"the outcome of {a!r} against {b!r} must lie between 0 and 1, got {outcome}")
        gain = self.k * (outcome - expected(self[a], self[b]))
        if a not in self._pinned:
            self._ratings[a] += gain
        if b not in self._pinned:
            self._ratings[b] -= gain

    def update_sides(
        self, a: Collection[PlayerId], b: Collection[PlayerId], outcome: float, share: float = 1.0
    ) -> None:
        """Move two sides by one game: the strength of a side is the mean of its players, who all move as far.

        `share` is the weight of the game: in a match of n sides each meets n - 1 others, and each game counts as
        much less.
        """
        if not 0 <= outcome <= 1:
            raise ValueError(f"the outcome of {a} against {b} must lie between 0 and 1, got {outcome}")
        strengths = [sum(self[player] for player in side) / len(side) for side in (a, b)]
        gain = share * self.k * (outcome - expected(*strengths))
        for side, step in ((a, gain), (b, -gain)):
            for player in side:
                if player not in self._pinned:
                    self._ratings[player] += step

    def update_games(self, a: PlayerId, b: PlayerId, games: Sequence[Sequence[float]]) -> None:
        """Move two players by some games, in order: as `update_sides` does for each of them, only cheaper.

        Each game is given as the ranks of a and b, of which the lower one won.
        """
        mine, yours, k = self[a], self[b], self.k
        moves, yields = a not in self._pinned, b not in self._pinned
        for first, second in games:
            gap = (yours - mine) / 400
            chance = 1 / (1 + 10 ** (300 if gap > 300 else gap))  # `expected`, without two calls for each game
            gain = k * ((1.0 if first < second else 0.0 if first > second else 0.5) - chance)
            if moves:
                mine += gain
            if yields:
                yours -= gain
        self._ratings[a], self._ratings[b] = mine, yours

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and strings: JSON keeps floats exactly."""
        ratings, pinned = dict(self._ratings), sorted(self._pinned)
        return {"k": self.k, "initial": self.initial, "ratings": ratings, "pinned": pinned}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Self:
        """Return the ratings that `to_dict` wrote."""
        elo = cls(saved["k"], saved["initial"])
        elo._ratings = dict(saved["ratings"])
        elo._pinned = set(saved["pinned"])
        return elo

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Elo) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it changes, so it has no hash


@dataclass(frozen=True, slots=True)
class Ratings:
    """A rating for each player with its interval; -inf and inf where no games lead to an anchor."""

    rating: Floats
    low: Floats
    high: Floats


def bradley_terry(
    points: npt.ArrayLike, anchors: Mapping[int, float], prior: float = 0.5, confidence: float = 0.95
) -> Ratings:
    """Fit ratings to points[i, j] (wins + draws / 2 of i against j): the likeliest ones, anchors pinned.

    Each player has `prior` virtual draws, shared out among the opponents that it met, so somebody who won all
    games stays finite. They join only those who met, so that a long line of ever stronger players is not
    pressed together, as it would be if everybody drew with one fixed mean.

    Ratings mean something only along chains of games to an anchor. A group of players without such a chain is
    centred on the mean anchor, with an infinite interval; so is a player without games. If there are no
    anchors at all, each group is centred on 0 and has intervals relative to its own mean.

    >>> bradley_terry([[0, 10], [1, 0]], {1: 0.0}, prior=1e-9).rating.round().tolist()
    [400.0, 0.0]
    """
    won = _with_virtual_draws(_checked(points, anchors, prior), prior)
    size = len(won)
    rating = np.full(size, float(np.mean(list(anchors.values()))) if anchors else 0.0)
    error = np.full(size, np.inf)
    for members in _groups(won + won.T > 0):
        pins = {place: anchors[m] for place, m in enumerate(members.tolist()) if m in anchors}
        fitted, deviation = _fit(won[np.ix_(members, members)], pins, float(rating[members[0]]))
        rating[members] = fitted
        if pins or (not anchors and len(members) > 1):
            error[members] = deviation
    rating[list(anchors)] = list(anchors.values())  # exactly, without the rounding of the scale
    reach = quantile(confidence) * error
    return Ratings(rating=rating, low=rating - reach, high=rating + reach)


def _checked(points: npt.ArrayLike, anchors: Mapping[int, float], prior: float) -> Floats:
    won = np.array(points, dtype=np.float64)
    if won.ndim != 2 or won.shape[0] != won.shape[1]:
        raise ValueError(f"points must be a square matrix, got the shape {won.shape}")
    if not np.isfinite(won).all() or (won < 0).any():
        raise ValueError("points must be finite and not negative: is there a nan in the payoff?")
    if not prior > 0:
        raise ValueError(f"prior must be positive, or a player without a loss has no rating; got {prior}")
    if bad := {i: a for i, a in anchors.items() if not (0 <= i < len(won) and math.isfinite(a))}:
        raise ValueError(f"anchors must be indices of players with a finite rating, got {bad}")
    np.fill_diagonal(won, 0.0)
    won[won + won.T < FADED] = 0.0
    return won


def _with_virtual_draws(won: Floats, prior: float) -> Floats:
    """Return the points with `prior` virtual draws of each player, shared out among those it met.

    Half of them are its own and half its opponents', so that each pair has as many for one as for the other.
    They depend on who met, not on who won: one more win over the same opponent never lowers a rating.
    """
    met = np.minimum(won + won.T, 1.0)  # less than one game, once it has faded, counts for less
    each = prior / 4 / np.maximum(met.sum(axis=1), 1.0)  # a draw is half a point, and two players give it
    shared: Floats = won + met * (each[:, None] + each[None, :])
    return shared


def _groups(met: npt.NDArray[np.bool_]) -> Iterator[Indices]:
    """Yield the players that games join, group by group."""
    left = np.ones(len(met), dtype=np.bool_)
    while left.any():
        group = np.zeros(len(met), dtype=np.bool_)
        reached = np.flatnonzero(left)[:1]
        while len(reached):
            group[reached] = True
            reached = np.flatnonzero(met[reached].any(axis=0) & ~group)
        left &= ~group
        yield np.flatnonzero(group)


def _fit(won: Floats, pins: Mapping[int, float], centre: float) -> tuple[Floats, Floats]:
    """Return ratings and standard errors of players that are all joined by games.

    Newton's method on a concave function: a step that leads too far is halved.
    Without a pin the level is free, and the curvature flat in that direction: `level` makes it 1 there, which
    leaves the mean at the centre, and is taken off the variances again.
    """
    games = _Games(won)
    strength = np.zeros(len(won))  # log-odds above the centre
    strength[list(pins)] = (np.array(list(pins.values())) - centre) / SCALE
    free = np.setdiff1d(np.arange(len(won)), list(pins))
    level = 0.0 if pins else 1.0 / len(won)
    for _ in range(MOST_STEPS if len(free) else 0):
        step = _shortened(games.step(strength, free, level), strength, games)
        strength = strength + step
        if np.abs(step).max() < TOLERANCE:
            break
    variance = np.zeros(len(won))
    variance[free] = np.diag(np.linalg.inv(games.curvature(games.weights(strength), free) + level)) - level
    return centre + SCALE * strength, SCALE * np.sqrt(np.maximum(variance, 0.0))


class _Games:
    """The log-likelihood of ratings, over the pairs that met: in a large league most did not."""

    def __init__(self, won: Floats) -> None:
        self._size = len(won)
        self._first, self._second = np.nonzero(np.triu(won + won.T, 1))
        self._won, self._lost = won[self._first, self._second], won[self._second, self._first]

    def weights(self, strength: Floats) -> Floats:
        """Return the Fisher information of each pair about the difference of its ratings."""
        chance = self._chance(strength)
        weights: Floats = (self._won + self._lost) * chance * (1 - chance)
        return weights

    def _chance(self, strength: Floats) -> Floats:
        ahead = strength[self._first] - strength[self._second]
        chance: Floats = 0.5 + 0.5 * np.tanh(ahead / 2)  # the logistic function, which never overflows like this
        return chance

    def curvature(self, weights: Floats, free: Indices) -> Floats:
        """Return the curvature, the Fisher information of all, in free players."""
        curvature = np.diag(self._sum(weights, 1.0) + FLATTEST)
        curvature[self._first, self._second] = curvature[self._second, self._first] = -weights
        inside: Floats = curvature[np.ix_(free, free)]
        return inside

    def step(self, strength: Floats, free: Indices, level: float) -> Floats:
        """Return the step of Newton's method: the gradient, divided by the curvature."""
        weights = self.weights(strength)
        gradient = self._sum(self._won - (self._won + self._lost) * self._chance(strength), -1.0)[free]
        step = np.zeros(self._size)
        found = None
        if len(free) > DENSE:
            diagonal = (self._sum(weights, 1.0) + FLATTEST)[free] + level
            found = _conjugate_gradients(lambda x: self._times(x, weights, free, level), diagonal, gradient)
        step[free] = np.linalg.solve(self.curvature(weights, free) + level, gradient) if found is None else found
        return step

    def _times(self, vector: Floats, weights: Floats, free: Indices, level: float) -> Floats:
        """Return the curvature times a vector, pair by pair."""
        everybody = np.zeros(self._size)
        everybody[free] = vector
        flow = weights * (everybody[self._first] - everybody[self._second])
        product: Floats = self._sum(flow, -1.0)[free] + FLATTEST * vector + level * vector.sum()
        return product

    def _sum(self, values: Floats, sign: float) -> Floats:
        """Return the sum for each player of what its pairs have; the second of a pair has it with this sign."""
        mine = np.bincount(self._first, values, self._size)
        total: Floats = mine + sign * np.bincount(self._second, values, self._size)
        return total

    def likelihood(self, strength: Floats) -> float:
        """Return how likely the games are, as a logarithm."""
        ahead = strength[self._first] - strength[self._second]
        return -float((self._won * np.logaddexp(0.0, -ahead)).sum() + (self._lost * np.logaddexp(0.0, ahead)).sum())


def _conjugate_gradients(times: Callable[[Floats], Floats], diagonal: Floats, right: Floats) -> Floats | None:
    """Solve matrix x = right, for a matrix that is symmetric and positive, by products with it; None if that fails."""
    solution, rest = np.zeros(len(right)), right.copy()
    direction = scaled = rest / diagonal
    size, enough = float(rest @ scaled), (PRECISION**2) * float(right @ right)
    for _ in range(2 * len(right)):
        if float(rest @ rest) <= enough:
            return solution
        product = times(direction)
        length = size / float(direction @ product)
        solution, rest = solution + length * direction, rest - length * product
        scaled = rest / diagonal
        before, size = size, float(rest @ scaled)
        direction = scaled + (size / before) * direction
    return None


def _shortened(step: Floats, strength: Floats, games: _Games) -> Floats:
    """Return the step, halved until it does not lead down (but for rounding)."""
    here = games.likelihood(strength)
    floor = here - 1e-12 * (1 + abs(here))
    for _ in range(MOST_HALVINGS):
        if games.likelihood(strength + step) >= floor:
            break
        step = step / 2
    return step
