"""The likelihood of outcomes: a rating for each player and one advantage of the first seat.

The score that a player in the first seat has against another one is logistic in the difference of their ratings plus
that advantage. Only points count, a draw as half of one, so the likelihood is concave and a draw moves a rating as
half a win and half a loss do: that is Davidson's rule for draws, put on the score instead of on the odds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from league.game_counts import FADED, Floats, GameCounts, Indices
from league.ratings.dispersion import laplacian

SEAT_DEVIATION = 2.0  # log-odds: standard deviation of the prior of the seat's advantage, which is centred on 0
ROLE_DEVIATION = 20.0  # the same where the first seat is another role: nothing says that roles are worth the same
FLATTEST = 1e-12  # curvature that a player has at least, or players far from everybody could not be solved for


@dataclass(frozen=True, slots=True)
class Link:
    """A Gaussian prior: the child is as strong as the parent, but for a change of this variance (log-odds, squared)."""

    child: int
    parent: int
    variance: float


@dataclass(frozen=True, slots=True, eq=False)
class CellInformation:
    """The information of each cell: by games with the first player in the first seat, and with the second one."""

    there: Floats
    back: Floats


class SeatGames:
    """The cells of a league with their points, virtual ones included; parameters are strengths and the seat.

    Virtual games are played in both seats. Where sides differ in their roles they have no seats at all: so they say
    nothing about what a role is worth.
    """

    def __init__(self, counts: GameCounts, prior: float, links: Sequence[Link] = (), asymmetric: bool = False) -> None:
        self.size = len(counts)
        games = counts.games
        self.first, self.second = first, second = np.nonzero(np.triu(games >= FADED, 1))
        met = np.zeros_like(games)
        met[first, second] = met[second, first] = np.minimum(games[first, second], 1.0)
        each = prior / 4 / np.maximum(met.sum(axis=1), 1.0)  # a draw is half a point, and two players give it
        virtual = met[first, second] * (each[first] + each[second])  # points of each of the two
        played, scored = counts.first_games, counts.first_points
        self.real = played[first, second], played[second, first]
        self.real_points = scored[first, second], self.real[1] - scored[second, first]
        self._neutral = 2 * virtual if asymmetric else None  # virtual games without seats
        seated = np.zeros_like(virtual) if asymmetric else virtual
        self._games = tuple(real + seated for real in self.real)
        self._points = tuple(points + seated / 2 for points in self.real_points)
        self._links, self._deviation = links, ROLE_DEVIATION if asymmetric else SEAT_DEVIATION

    def chances(self, strength: Floats, seat: float) -> tuple[Floats, Floats]:
        """Return the score of the first player in each cell when it has the first seat, and the second one."""
        ahead = strength[self.first] - strength[self.second]
        there: Floats = 0.5 + 0.5 * np.tanh((ahead + seat) / 2)  # the logistic function, which never overflows so
        back: Floats = 0.5 + 0.5 * np.tanh((ahead - seat) / 2)
        return there, back

    def weights(self, strength: Floats, seat: float) -> CellInformation:
        """Return the information of the games of each cell."""
        there, back = self.chances(strength, seat)
        return CellInformation(self._games[0] * there * (1 - there), self._games[1] * back * (1 - back))

    def gradient(self, strength: Floats, seat: float) -> Floats:
        """Return the gradient in the strengths, and at its end in the seat."""
        chances = self.chances(strength, seat)
        there, back = (self._points[k] - self._games[k] * chances[k] for k in (0, 1))
        gradient = np.zeros(self.size + 1)
        gradient[:-1] = np.bincount(self.first, there + back, self.size)
        gradient[:-1] -= np.bincount(self.second, there + back, self.size)
        gradient[-1] = (there - back).sum() - seat / self._deviation**2
        if self._neutral is not None:
            pulls = -self._neutral * np.tanh((strength[self.first] - strength[self.second]) / 2) / 2
            gradient[:-1] += np.bincount(self.first, pulls, self.size) - np.bincount(self.second, pulls, self.size)
        for link in self._links:
            pull = (strength[link.parent] - strength[link.child]) / link.variance
            gradient[link.child] += pull
            gradient[link.parent] -= pull
        return gradient

    def curvature(self, strength: Floats, seat: float) -> Floats:
        """Return the information on strengths and, in the last row, on the seat; priors included."""
        weights = self.weights(strength, seat)
        curvature = self.bordered(weights.there, weights.back)
        if self._neutral is not None:
            chance = 0.5 + 0.5 * np.tanh((strength[self.first] - strength[self.second]) / 2)
            drawn = self._neutral * chance * (1 - chance)
            curvature[:-1, :-1] += laplacian(self.first, self.second, drawn, self.size)
        return curvature + self.prior_information()

    def prior_information(self) -> Floats:
        """Return what the priors know."""
        known = np.zeros((self.size + 1, self.size + 1))
        known[np.diag_indices(self.size)] = FLATTEST
        known[-1, -1] = 1 / self._deviation**2
        for link in self._links:
            ends = np.ix_([link.child, link.parent], [link.child, link.parent])
            known[ends] += np.array([[1.0, -1.0], [-1.0, 1.0]]) / link.variance
        return known

    def bordered(self, there: Floats, back: Floats) -> Floats:
        """Return the sum over games of weight z z^T: z is 1 and -1 for the two players, and the first seat's sign."""
        matrix = np.zeros((self.size + 1, self.size + 1))
        matrix[:-1, :-1] = laplacian(self.first, self.second, there + back, self.size)
        border = np.bincount(self.first, there - back, self.size) - np.bincount(self.second, there - back, self.size)
        matrix[-1, :-1] = matrix[:-1, -1] = border
        matrix[-1, -1] = (there + back).sum()
        return matrix

    def likelihood(self, strength: Floats, seat: float) -> float:
        """Return how likely the games are, as a logarithm."""
        ahead = strength[self.first] - strength[self.second]
        total = -((seat / self._deviation) ** 2) / 2
        if self._neutral is not None:
            total -= float(self._neutral @ (np.logaddexp(0.0, -ahead) + ahead / 2))
        for k, sign in ((0, 1.0), (1, -1.0)):
            gap, lost = ahead + sign * seat, self._games[k] - self._points[k]
            total -= float(self._games[k] @ np.logaddexp(0.0, -gap) + lost @ gap)
        for link in self._links:
            total -= float(strength[link.child] - strength[link.parent]) ** 2 / link.variance / 2
        return total

    def edges(self) -> tuple[Indices, Indices]:
        """Return who is joined to whom, by games or by a prior."""
        children = np.array([link.child for link in self._links], dtype=np.intp)
        parents = np.array([link.parent for link in self._links], dtype=np.intp)
        return np.concatenate([self.first, children]), np.concatenate([self.second, parents])
