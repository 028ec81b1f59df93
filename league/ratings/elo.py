"""Elo: ratings that move with every game. Cheap, live, and dependent on the order of games.

On the scale 400 points are odds of ten to one, and anchors stay where they are pinned.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from league.ids import PlayerId
from league.player import Player


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
            if first < 0 or second < 0:  # one of them is absent
                continue
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
