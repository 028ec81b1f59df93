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


def bound_to_roles(rng, advantage=200.0, each=4, games=100):
    """Return strengths and counts where the first player has both roles, and the others one each, in one seat only.

    The first seat is the role of players 1 to `each`, and worth `advantage` Elo.
    """
    first, second = np.arange(1, each + 1), np.arange(each + 1, 2 * each + 1)
    strength = np.append(0.0, rng.uniform(0.0, 300.0, 2 * each))
    size = len(strength)
    won, lost = np.zeros((size, size)), np.zeros((size, size))
    for i, j in [(i, j) for i in [0, *first] for j in [0, *second] if i != j]:
        won[i, j] = rng.binomial(games, 1 / (1 + np.exp(-(strength[i] - strength[j] + advantage) / SCALE)))
        lost[i, j] = games - won[i, j]
    played, nothing = won + lost, np.zeros((size, size))
    units, squares = played + played.T, won + lost.T
    tables = {"pairs": units, "pair_squares": squares, "margins": nothing, "margin_squares": nothing}
    return strength, GameCounts(wins=won, draws=nothing, losses=lost, **tables)


@dataclass
class SimulatedReturns:
    """True ratings in units of return; each game of a pair has a margin that scatters far more than ratings differ."""

    rating: np.ndarray
    pairs: np.ndarray | int = 60  # [i, j], symmetric
    seat: float = 0.0  # what the first seat wins a game
    drawn: float = 0.0  # share of games without a margin
    residual: np.ndarray | float = 0.0  # antisymmetric: what pairs have of their own
    together: float = 0.0  # share of the scatter that both games of a pair have in common
    spread: float = 3.0
    predecessors: dict[int, int] = field(default_factory=dict)

    def play(self, rng: np.random.Generator) -> GameCounts:
        size = len(self.rating)
        wanted = np.broadcast_to(np.asarray(self.pairs), (size, size))
        own = np.broadcast_to(self.residual, (size, size))
        names = ("wins", "draws", "losses", "pairs", "pair_squares", "margins", "margin_squares")
        tables = {name: np.zeros((size, size)) for name in names}
        for i, j in zip(*np.nonzero(np.triu(wanted, 1)), strict=True):
            margins = self._margins(self.rating[i] - self.rating[j] + own[i, j], int(wanted[i, j]), rng)
            _enter(tables, i, j, margins)
        return GameCounts(**tables)

    def _margins(self, ahead: float, pairs: int, rng: np.random.Generator) -> np.ndarray:
        """Return the margins of one player: a row of games in the first seat, and one in the second."""
        common, single = rng.standard_t(5, pairs), rng.standard_t(5, (2, pairs))
        noise = self.spread * (self.together**0.5 * common + (1 - self.together) ** 0.5 * single)
        margins = ahead / (1 - self.drawn) + noise + self.seat * np.array([[1.0], [-1.0]])
        return np.where(rng.random((2, pairs)) < self.drawn, 0.0, margins)


def _enter(tables, i, j, margins):
    """Add the games of two players; margins are those of i, in the first seat and in the second."""
    there, back = margins
    for name, sign in (("wins", 1), ("draws", 0), ("losses", -1)):
        tables[name][i, j], tables[name][j, i] = (np.sign(there) == sign).sum(), (np.sign(back) == -sign).sum()
    points, mean = 0.5 + np.sign(margins).mean(axis=0) / 2, margins.mean(axis=0)
    tables["pairs"][i, j] = tables["pairs"][j, i] = len(mean)
    tables["pair_squares"][i, j], tables["pair_squares"][j, i] = (points**2).sum(), ((1 - points) ** 2).sum()
    tables["margins"][i, j], tables["margins"][j, i] = margins.sum(), -margins.sum()
    tables["margin_squares"][i, j] = tables["margin_squares"][j, i] = (mean**2).sum()


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


def rated(rng, size=SIZE):
    """Return ratings in units of return; the first one is 0."""
    rating = rng.normal(0.0, 0.3, size)
    return rating - rating[0]


def improving_by_return(rng):
    """The last player is the newest candidate of the one with index 3, 0.6 above it; the two have not met."""
    pairs = np.full((SIZE + 1, SIZE + 1), 200)
    pairs[3, SIZE] = pairs[SIZE, 3] = 0
    rating = rated(rng)
    return SimulatedReturns(np.append(rating, rating[3] + 0.6), pairs=pairs, predecessors={SIZE: 3})


def island_by_return(rng):
    """Two players meet each other only."""
    pairs = np.full((SIZE + 2, SIZE + 2), 60)
    pairs[:SIZE, SIZE:] = pairs[SIZE:, :SIZE] = 0
    return SimulatedReturns(np.append(rated(rng), [0.0, 0.5]), pairs=pairs)


PLANTED_BY_RETURN = {
    "nothing": lambda rng: SimulatedReturns(rated(rng)),
    "few games": lambda rng: SimulatedReturns(rated(rng), pairs=2),
    "favoured seat": lambda rng: SimulatedReturns(rated(rng), seat=1.0),
    "many draws": lambda rng: SimulatedReturns(rated(rng), drawn=0.4),
    "misfit": lambda rng: SimulatedReturns(rated(rng), residual=antisymmetric(SIZE, 1.0, rng)),
    "overdispersion": lambda rng: SimulatedReturns(rated(rng), together=0.5),
    "improving player": improving_by_return,
    "clone": lambda rng: SimulatedReturns(np.append(r := rated(rng), r[3])),
    "island": island_by_return,
}
