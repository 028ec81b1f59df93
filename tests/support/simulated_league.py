"""Leagues with known strengths: games are sampled pair by pair, and one property can be planted."""

from dataclasses import dataclass, field

import numpy as np

from league.game_counts import GameCounts
from league.ratings.bradley_terry import SCALE
from league.ratings.units import draw_chance


@dataclass
class SimulatedLeague:
    """True strengths on the Elo scale, what is planted beside them, and how many pairs of games each two play."""

    strength: np.ndarray
    pairs: np.ndarray | int = 50  # [i, j], symmetric
    seat: float = 0.0  # Elo, of the first seat
    nu: float = 0.0  # draws, by Davidson's rule
    residual: np.ndarray | float = 0.0  # Elo, antisymmetric: what pairs have of their own
    together: float = 0.0  # share of pairs whose start decides both games: the player who is lucky is so twice
    anchors: dict[int, float] = field(default_factory=lambda: {0: 0.0})
    predecessors: dict[int, int] = field(default_factory=dict)

    def play(self, rng: np.random.Generator) -> GameCounts:
        size = len(self.strength)
        wanted = np.broadcast_to(np.asarray(self.pairs), (size, size))
        first, second = np.nonzero(np.triu(wanted, 1))
        times = wanted[first, second].astype(int)
        i, j = np.repeat(first, times), np.repeat(second, times)  # an element for each pair of games
        ahead = self.strength[i] - self.strength[j] + np.broadcast_to(self.residual, (size, size))[i, j]
        lots = rng.random((2, len(i)))
        lots[1] = np.where(rng.random(len(i)) < self.together, lots[0], lots[1])
        scores = [
            self._outcomes((ahead + sign * self.seat) / SCALE, lot) for sign, lot in zip((1, -1), lots, strict=True)
        ]
        return counts_of(i, j, scores[0], scores[1], size)

    def _outcomes(self, ahead: np.ndarray, lot: np.ndarray) -> np.ndarray:
        chance = 1 / (1 + np.exp(-ahead))
        drawn = draw_chance(chance, self.nu)
        return np.where(lot < chance - drawn / 2, 1.0, np.where(lot < chance + drawn / 2, 0.5, 0.0))


def counts_of(i, j, there, back, size, scale=1.0):
    """Return the counts of pairs of games: i against j, scores of i in the first and in the second seat."""

    def table(weights, rows=i, columns=j):
        return np.bincount(rows * size + columns, weights, size * size).reshape(size, size).astype(float)

    mean = (there + back) / 2
    margin = scale * (2 * mean - 1)
    values = {"wins": 1.0, "draws": 0.5, "losses": 0.0}
    seats = {name: table(there == value) + table(back == 1 - value, j, i) for name, value in values.items()}
    return GameCounts(
        **seats,
        pairs=table(np.ones(len(i))) + table(np.ones(len(i)), j, i),
        pair_squares=table(mean**2) + table((1 - mean) ** 2, j, i),
        margins=table(2 * margin) - table(2 * margin, j, i),
        margin_squares=table(margin**2) + table(margin**2, j, i),
    )


def spaced(size, rng, gap=60.0):
    """Return strengths that are at least half a gap apart, in random order; the first one is 0."""
    strength = gap * (rng.permutation(size) + rng.uniform(-0.25, 0.25, size))
    return strength - strength[0]


def antisymmetric(size, deviation, rng):
    """Return what pairs have of their own, at random."""
    upper = np.triu(deviation * rng.standard_normal((size, size)), 1)
    return upper - upper.T


# --- leagues with one planted property each ------------------------------------------------------------------

SIZE = 8


def improving(rng):
    """The last player is the newest candidate of the one with index 3, 60 Elo above it; the two have not met."""
    strength = spaced(SIZE, rng)
    pairs = np.full((SIZE + 1, SIZE + 1), 200)
    pairs[3, SIZE] = pairs[SIZE, 3] = 0
    return SimulatedLeague(np.append(strength, strength[3] + 60), pairs=pairs, predecessors={SIZE: 3})


def clone(rng):
    """The last player is the one with index 3 once more."""
    strength = spaced(SIZE, rng)
    return SimulatedLeague(np.append(strength, strength[3]), pairs=1500)


def island(rng):
    """Two players meet each other only."""
    pairs = np.full((SIZE + 2, SIZE + 2), 50)
    pairs[:SIZE, SIZE:] = pairs[SIZE:, :SIZE] = 0
    return SimulatedLeague(np.append(spaced(SIZE, rng), [0.0, 100.0]), pairs=pairs)


def wrong_anchor(rng, off=100.0):
    """Three anchors, the last of which is pinned too high."""
    strength = spaced(SIZE, rng)
    return SimulatedLeague(strength, anchors={0: 0.0, 1: strength[1], 2: strength[2] + off}, pairs=100)


PLANTED = {
    "nothing": lambda rng: SimulatedLeague(spaced(SIZE, rng)),
    "few games": lambda rng: SimulatedLeague(spaced(SIZE, rng), pairs=2),
    "favoured seat": lambda rng: SimulatedLeague(spaced(SIZE, rng), seat=100.0),
    "many draws": lambda rng: SimulatedLeague(spaced(SIZE, rng), nu=1.0),
    "misfit": lambda rng: SimulatedLeague(spaced(SIZE, rng), residual=antisymmetric(SIZE, 100.0, rng)),
    "overdispersion": lambda rng: SimulatedLeague(spaced(SIZE, rng), together=0.5),
    "improving player": improving,
    "clone": clone,
    "island": island,
    "wrong anchor": wrong_anchor,
}
