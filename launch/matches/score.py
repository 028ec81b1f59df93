"""The score of one player against another, with its interval."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Games between two players, counted for the first of them. A score of 0.5 is chance level.

    With more than two sides, each pair of sides is one game, as in the standings. The games of one episode are not
    independent, so the interval counts episodes (0: each game was an episode of its own).

    >>> Score(wins=8, draws=1, losses=1).score
    0.85
    """

    wins: int
    draws: int
    losses: int
    episodes: int = 0

    @property
    def games(self) -> int:
        """How many games were played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of points: a win is one, a draw half a point."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the score."""
        from league.interval import wilson

        episodes = self.episodes or self.games
        low, high = wilson(self.score * episodes, episodes)
        return float(low), float(high)
