"""What an evaluation ticket would tell: who may be among the best, and which opponents say most of a player.

Ratings are fitted beside play, so the scheduler has only the online Elo and how often each player was evaluated. That
is enough: a game between equals tells four times as much as one that is won in 93 of 100 cases, and a game against
somebody uncertain tells less than one against an anchor.

In the hot loop of the coordinator, and mostly for a few dozen players: plain floats are quicker than arrays here.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

SCALE = 400 / math.log(10)  # Elo for each unit of log-odds
TYPICAL_INFORMATION = 0.2  # p (1 - p) of a typical game
PRIOR_GAMES = 1.0  # that a player without games is supposed to have
BEST = 5  # players whose ratings should be exact
REACH = 2.0  # standard deviations by which a rating may be too low
COMPARABLE = 0.5  # of the most that an opponent tells: those with at least so much take turns


class OnlineRating(NamedTuple):
    """The online Elo of a player, and about how uncertain it is."""

    elo: float
    variance: float  # of its log-odds; an anchor has none
    anchored: bool


def online_rating(elo: float, games: float, anchored: bool) -> OnlineRating:
    """Return the rating of a player after so many games.

    >>> online_rating(600.0, 399, False).variance, online_rating(0.0, 0, True).variance
    (0.0125, 0.0)
    """
    return OnlineRating(elo, 0.0 if anchored else 1 / (TYPICAL_INFORMATION * (games + PRIOR_GAMES)), anchored)


def contenders(ratings: Sequence[OnlineRating]) -> list[bool]:
    """Return who may be among the best: its rating might reach that of the last of them. Anchors need no games.

    >>> contenders([online_rating(elo, 400, False) for elo in (700.0, 690, 650, 600, 590, 560, 100)])
    [True, True, True, True, True, True, False]
    """
    best = sorted((rating.elo for rating in ratings if not rating.anchored), reverse=True)[:BEST]
    if not best:
        return [True] * len(ratings)
    last, reach = best[-1], REACH * SCALE
    return [not anchored and elo + reach * math.sqrt(variance) >= last for elo, variance, anchored in ratings]


def telling(first: OnlineRating, others: Sequence[OnlineRating], episodes: int) -> list[bool]:
    """Return which of the others tell about as much of the first player as the best of them does.

    n games with information w each lower its variance v by v^2 n w / (1 + n w (v + u)), u the opponent's variance.
    """
    gains = []
    for elo, variance, _ in others:
        odds = 10 ** (max(-4000.0, min(4000.0, elo - first.elo)) / 400)  # beyond it, information is lost to rounding
        information = episodes * odds / (1 + odds) ** 2
        gains.append(information / (1 + information * (first.variance + variance)))
    enough = COMPARABLE * max(gains)
    return [gain >= enough for gain in gains]
