"""Game counts: what the games of a league add up to, the only input of every rating view.

counts = payoff.game_counts(players)
fit = fit_outcomes(counts, anchors={0: 0.0})
"""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

FADED = 1e-6  # a pair with fewer games than this, after decay, has not met


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GameCounts:
    """Square arrays over the rated players. A unit is a pair of games, seats swapped, or a game that has no partner."""

    wins: Floats  # [i, j] games that i won against j from the first seat
    draws: Floats  # [i, j] games of i in the first seat against j that nobody won
    losses: Floats  # [i, j] games that i lost to j from the first seat
    pairs: Floats  # [i, j] units, the same in both orders
    pair_squares: Floats  # [i, j] sum over units of the squared mean score of i
    margins: Floats  # [i, j] sum over games of (return of i - return of j) / 2; [j, i] is its negative
    margin_squares: Floats  # [i, j] sum over units of the squared mean margin, the same in both orders

    def __post_init__(self) -> None:
        """Refuse tables that no games can give."""
        shape = self.wins.shape
        for field in fields(self):
            table = getattr(self, field.name)
            if table.ndim != 2 or table.shape != shape or shape[0] != shape[1]:
                raise ValueError(f"{field.name} must be a square matrix like the others, got the shape {table.shape}")
            if not np.isfinite(table).all() or (field.name != "margins" and (table < 0).any()):
                raise ValueError(f"{field.name} must be finite and not negative: is there a nan in the payoff?")

    @classmethod
    def unpaired(cls, wins: npt.ArrayLike, draws: npt.ArrayLike) -> Self:
        """Return counts of games whose seats and pairs nobody recorded: half in each seat, each game a unit.

        `wins[i, j]` are all wins of i over j, `draws` the same in both orders. A win returns 1, a loss -1.

        >>> GameCounts.unpaired([[0, 3], [1, 0]], [[0, 2], [2, 0]]).points.tolist()
        [[0.0, 4.0], [2.0, 0.0]]
        """
        won, drawn = np.array(wins, dtype=np.float64), np.array(draws, dtype=np.float64)
        if won.ndim != 2 or won.shape[0] != won.shape[1] or drawn.shape != won.shape:
            raise ValueError(f"wins and draws must be square matrices, got the shapes {won.shape} and {drawn.shape}")
        np.fill_diagonal(won, 0.0)
        np.fill_diagonal(drawn, 0.0)
        decided = won + won.T
        return cls(
            wins=won / 2,
            draws=drawn / 2,
            losses=won.T / 2,
            pairs=decided + drawn,
            pair_squares=won + drawn / 4,
            margins=won - won.T,
            margin_squares=decided,
        )

    def __len__(self) -> int:
        return len(self.wins)

    @property
    def first_games(self) -> Floats:
        """[i, j] games of i in the first seat against j."""
        return self.wins + self.draws + self.losses

    @property
    def first_points(self) -> Floats:
        """[i, j] points of i in the first seat against j: a win is one, a draw half of one."""
        return self.wins + self.draws / 2

    @property
    def games(self) -> Floats:
        """[i, j] all games of the two, the same in both orders."""
        games = self.first_games
        return games + games.T

    @property
    def points(self) -> Floats:
        """[i, j] points of i against j from both seats; points + points.T are the games."""
        return self.first_points + (self.losses + self.draws / 2).T

    def select(self, players: Indices) -> Self:
        """Return the counts of some of the players, in this order."""
        cells = np.ix_(players, players)
        return type(self)(**{field.name: getattr(self, field.name)[cells] for field in fields(self)})
