"""Scores in each variant of an environment, from training games: what matchmaking over variants asks.

    count_variant(scores, "small", ["main", "main.3"], (0, 1), [(0, 1), (1, 0)], decay=0.99)
    variant_score(scores, "small", "main", "main.3", prior=0.5, prior_games=4.0)

By outcome, in every league: who won tells where a player is weak. Old games fade as in the payoff.
"""

from collections.abc import Sequence

from league.ids import PlayerId
from league.meetings import by_pair, meetings

VariantScores = dict[str, dict[PlayerId, dict[PlayerId, tuple[float, float]]]]
"""By variant, player and opponent: faded points and games."""


def count_variant(
    scores: VariantScores,
    variant: str,
    players: Sequence[PlayerId],
    sides: Sequence[int],
    ranks: Sequence[Sequence[int]],
    decay: float,
) -> None:
    """Count the games of a match in a variant; `ranks` has those of each episode, by entry, below 0 where absent."""
    rows = scores.setdefault(variant, {})
    for (a, b), met in by_pair(players, meetings(players, sides)).items():
        points, games = rows.get(a, {}).get(b, (0.0, 0.0))
        for one in ranks:
            for i, j in met:
                if one[i] < 0 or one[j] < 0:
                    continue
                points = points * decay + (1.0 if one[i] < one[j] else 0.0 if one[i] > one[j] else 0.5)
                games = games * decay + 1.0
        rows.setdefault(a, {})[b] = (points, games)
        rows.setdefault(b, {})[a] = (games - points, games)


def variant_score(
    scores: VariantScores, variant: str, player: PlayerId, other: PlayerId, prior: float, prior_games: float
) -> float:
    """Return the score of a player against another in a variant, with some virtual games at a prior score.

    >>> scores: VariantScores = {}
    >>> count_variant(scores, "small", ["a", "b"], (0, 1), [(0, 1)] * 4, decay=1.0)
    >>> variant_score(scores, "small", "a", "b", 0.5, 4.0), variant_score(scores, "large", "a", "b", 0.5, 4.0)
    (0.75, 0.5)
    """
    points, games = scores.get(variant, {}).get(player, {}).get(other, (0.0, 0.0))
    return (points + prior * prior_games) / (games + prior_games)
