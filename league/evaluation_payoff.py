"""The payoff of evaluation games: nothing fades, games are counted by seat and in turns of the seating.

    table = EvaluationPayoff(config)
    table.record_turns(main, bot, [[RatedGame(1.0, True), RatedGame(0.5, False)]])  # one deal, played from both seats
    table.succeed(main)                                # a new candidate: the games so far are its predecessor's
    table.game_counts([main, predecessor(main), bot])  # what ratings are fitted to

The games of a turn share the environment's seed, so they are one sample: intervals come from the means of turns. With
seats that score .8 and .3 the mean of a pair has a variance of .0925, that of two games on their own .124.

A learning player's row has the games of its newest candidate, and the row of its predecessor those of the one before.
"""

from collections.abc import Sequence
from itertools import chain
from typing import ClassVar, NamedTuple

import numpy as np

from league.game_counts import GameCounts
from league.ids import PlayerId
from league.margins import mean_interval
from league.pairs import Field, Indices
from league.payoff import FADING, FIELDS, Floats, Payoff, PayoffConfig
from league.spec import EnvSpec

COUNTS = {
    "first_wins": Field("d"),  # [i, j] games that i won against j from the first seat
    "first_draws": Field("d"),
    "first_losses": Field("d"),
    "pairs": Field("d"),  # [i, j] turns that i and j played, the same in both orders
    "pair_squares": Field("d"),  # [i, j] sum over turns of the squared mean score of i
    "first_returns": Field("d"),  # [i, j] sum of the returns of i against j from the first seat, if they are kept
    "first_return_squares": Field("d"),
    "second_returns": Field("d"),  # [i, j] the same from the second seat
    "second_return_squares": Field("d"),
}
SEATED = ("first_wins", "first_draws", "first_losses", "pairs", "pair_squares")


class RatedGame(NamedTuple):
    """A game as one of its two players sees it."""

    score: float  # 1, 0.5 or 0
    first: bool  # whether it had the first seat
    margin: float = 0.0
    mine: float = 0.0  # its return,
    yours: float = 0.0  # and that of the other


def predecessor(player: PlayerId) -> PlayerId:
    """Return the row of the candidate before a learning player's newest one. No player has such a name.

    >>> predecessor(PlayerId("main"))
    'main (previous)'
    """
    return PlayerId(f"{player} (previous)")


class EvaluationPayoff(Payoff):
    """What `Payoff` has, and counts by first seat and by turn. By return, margins are those of whole turns."""

    fields: ClassVar[dict[str, Field]] = FIELDS | COUNTS
    fading: ClassVar[tuple[str, ...]] = (*FADING, *COUNTS)

    def __init__(self, config: PayoffConfig | None = None) -> None:
        super().__init__(config)
        self.kinds: tuple[str, ...] = ()  # the roles of each side, if returns are kept

    def keep_returns(self, env: EnvSpec) -> None:
        """Keep returns from now on, by the roles of the sides of this environment."""
        self.kinds = env.side_kinds

    @property
    def keeps_returns(self) -> bool:
        """Whether returns are kept beside scores."""
        return bool(self.kinds)

    @property
    def asymmetric(self) -> bool:
        """Whether sides differ in their roles; known only where returns are kept."""
        return len(set(self.kinds)) > 1

    def record_raw(self, a: PlayerId, b: PlayerId, wins: int, draws: int, losses: int) -> None:
        """Count games of a against b among all games ever, of whichever candidates: they never go."""
        i, j = self.index(a), self.index(b)
        there, back = i * self.capacity + j, j * self.capacity + i
        won, drawn = self.flat["raw_wins"], self.flat["raw_draws"]
        won[there] += wins
        won[back] += losses
        drawn[there] += draws
        drawn[back] += draws

    def record_turns(self, a: PlayerId, b: PlayerId, turns: Sequence[Sequence[RatedGame]]) -> None:
        """Count turns of games of a against b, each with at least one game."""
        seats: tuple[list[int], list[int]] = ([0, 0, 0], [0, 0, 0])
        for game in chain(*turns):
            seats[0 if game.first else 1][int(2 - 2 * game.score)] += 1
        self.record_counts(a, b, *seats, [sum(game.score for game in turn) / len(turn) for turn in turns])
        for turn in turns if self.by_return else ():
            self._record_turn_margin(a, b, [game.margin for game in turn])
        for game in chain(*turns) if self.keeps_returns else ():
            self._record_returns(a, b, game)

    def _record_returns(self, a: PlayerId, b: PlayerId, game: RatedGame) -> None:
        """Add what both players returned in a game of a against b."""
        i, j = self.index(a), self.index(b)
        for cell, value, first in (((i, j), game.mine, game.first), ((j, i), game.yours, not game.first)):
            seat = "first" if first else "second"
            self.matrix[f"{seat}_returns"][cell] += value
            self.matrix[f"{seat}_return_squares"][cell] += value * value

    def record_counts(
        self, a: PlayerId, b: PlayerId, first: Sequence[int], second: Sequence[int], means: Sequence[float]
    ) -> None:
        """Add wins, draws and losses of a against b, from the first and the second seat; its mean score in each turn.

        It is in the coordinator's hot loop.
        """
        i, j = self.index(a), self.index(b)
        flat, there, back = self.flat, i * self.capacity + j, j * self.capacity + i
        (won, drawn, lost), (second_won, second_drawn, second_lost) = first, second
        total, squares = sum(means), sum([mean * mean for mean in means])
        for name, mine, yours in (
            ("wins", won + second_won, lost + second_lost),
            ("draws", drawn + second_drawn, drawn + second_drawn),
            ("first_wins", won, second_lost),
            ("first_draws", drawn, second_drawn),
            ("first_losses", lost, second_won),
            ("pairs", len(means), len(means)),
            ("pair_squares", squares, len(means) - 2.0 * total + squares),
        ):
            cells = flat[name]
            if mine:
                cells[there] += mine
            if yours:
                cells[back] += yours

    def _record_turn_margin(self, a: PlayerId, b: PlayerId, margins: Sequence[float]) -> None:
        """Add the margins of one turn: the mean of the turn is the sample."""
        i, j = self.index(a), self.index(b)
        total, (count, squares) = sum(margins), self.seen
        mean = total / len(margins)
        for cell, sign in (((i, j), 1.0), ((j, i), -1.0)):
            self.matrix["margins"][cell] += sign * total
            self.matrix["margin_squares"][cell] += mean * mean
        self.seen = (count + len(margins), squares + sum(margin * margin for margin in margins))

    def succeed(self, player: PlayerId) -> None:
        """Give all games of a player to its predecessor, whose own ones go: the player has a new candidate."""
        j, i = self.index(predecessor(player)), self.index(player)
        for name in self.fading:
            matrix = self.matrix[name]
            own = matrix[i, i]
            matrix[j, :], matrix[:, j] = matrix[i, :], matrix[:, i]
            matrix[i, :] = matrix[:, i] = 0
            matrix[j, j] = own

    def restart(self, player: PlayerId) -> None:
        """Forget the games of a player, of its predecessor, too: it begins again from other weights."""
        self.scale_row(player, 0.0)
        self.scale_row(predecessor(player), 0.0)

    def game_counts(self, players: Sequence[PlayerId]) -> GameCounts:
        """Return the counts of all games among some players: all that ratings need."""
        cells = np.ix_(self.find_all(players), self.find_all(players))
        taken = {name: self.matrix[name][cells] for name in (*SEATED, "margins", "margin_squares")}
        return GameCounts(
            wins=taken["first_wins"],
            draws=taken["first_draws"],
            losses=taken["first_losses"],
            pairs=taken["pairs"],
            pair_squares=taken["pair_squares"],
            margins=taken["margins"],
            margin_squares=taken["margin_squares"],
        )

    def seat_returns(self, players: Sequence[PlayerId], first: bool) -> tuple[Floats, Floats, Floats]:
        """Return [i, j] games of i from one of two seats against j, the sum of its returns, and of their squares."""
        cells = np.ix_(self.find_all(players), self.find_all(players))
        games: Floats = sum((self.matrix[name][cells] for name in SEATED[:3]), np.zeros((len(players), len(players))))
        seat = "first" if first else "second"
        sums, squares = (self.matrix[f"{seat}_{what}"][cells] for what in ("returns", "return_squares"))
        return (games if first else games.T), sums, squares

    def counts(self, a: PlayerId, b: PlayerId) -> tuple[float, float, float]:
        """Return the wins, draws and losses of a against b; of a learning player those of its newest candidate."""
        i, j = self.find(a), self.find(b)
        wins = self.matrix["wins"]
        return float(wins[i, j]), float(self.matrix["draws"][i, j]), float(wins[j, i])

    def win_share(self, a: PlayerId, b: PlayerId, confidence: float = 0.95) -> tuple[float, float, float] | None:
        """Return (wins + draws / 2) / games of a against b with its interval, also by return; None without games."""
        i, others = self.find(a), self.find_all((b,))
        points, games = self._outcomes(i, others)
        if not games[0]:
            return None
        low, high = self._share_bounds(i, others, confidence)
        return float(points[0] / games[0]), float(low[0]), float(high[0])

    def recent_share(self, player: PlayerId, other: PlayerId) -> float | None:
        """Return the win share of a learning player's newest candidate and the one before it, together."""
        won = drawn = lost = 0.0
        for row in (player, predecessor(player)):
            wins, draws, losses = self.counts(row, other)
            won, drawn, lost = won + wins, drawn + draws, lost + losses
        games = won + drawn + lost
        return (won + drawn / 2) / games if games else None

    def _share_bounds(self, i: int, others: Indices, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of the win shares: by turns, or by games where no turns were recorded."""
        points, games = self._outcomes(i, others)
        units, squares = self.matrix["pairs"][i].take(others), self.matrix["pair_squares"][i].take(others)
        total = units * points / np.maximum(games, 1e-300)  # of the mean scores of turns
        low, high = mean_interval(total - units / 2, squares - total + units / 4, units, 0.5, confidence)
        single_low, single_high = super()._share_bounds(i, others, confidence)
        paired = units > 0
        return (
            np.where(paired, np.clip(low + 0.5, 0.0, 1.0), single_low),
            np.where(paired, np.clip(high + 0.5, 0.0, 1.0), single_high),
        )

    def _margin_bounds(self, i: int, others: Indices, confidence: float) -> tuple[Floats, Floats]:
        games, units = self._outcomes(i, others)[1], self.matrix["pairs"][i].take(others)
        total = units * self.matrix["margins"][i].take(others) / np.maximum(games, 1e-300)
        squares = self.matrix["margin_squares"][i].take(others)
        return mean_interval(total, squares, units, self.scale, confidence)
