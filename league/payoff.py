"""Payoff: who beat whom, how often, and how sure that is.

    payoff = Payoff(PayoffConfig(decay=0.99))
    payoff.record(main, exploiter, 1.0)          # main won; both orders of the pair are updated
    payoff.score(main, exploiter)                # with the prior: what matchmakers ask
    payoff.lower(main, exploiter)                # without it: what promotion asks

A league goes by outcome, who won, or by return, by how much (`go_by_return`). By return a score is that of the mean
margin (`league.margins`); wins and draws are counted all the same.

Reading never changes the table: an unknown player reads like one that has not played yet.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from league.ids import PlayerId
from league.interval import quantile, wilson
from league.margins import mean_interval, to_score
from league.meetings import by_pair
from league.meetings import mates as mates
from league.meetings import meetings as meetings
from league.pairs import Arrays, Field, Indices, Pairs

Floats = npt.NDArray[np.float64]

AUTO: Final = "auto"  # what counts as better: to be decided,
OUTCOME: Final = "outcome"  # who won,
RETURN: Final = "return"  # or by how much
NEUTRAL = 0.5  # the score of a pair of which nothing is known
FIELDS = {
    "wins": Field("d"),  # [i, j] decayed wins of i over j; the losses of i are wins[j, i]
    "draws": Field("d"),  # [i, j] decayed draws, the same in both orders
    "raw_wins": Field("q"),  # [i, j] wins of i over j, never decayed
    "raw_draws": Field("q"),
    "prior": Field("d", NEUTRAL),  # [i, j] the score that the virtual games of the pair have
    "return_sums": Field("d"),  # [i, j] decayed sum of the returns of i when it played with j
    "return_squares": Field("d"),  # [i, j] decayed sum of their squares
    "return_games": Field("d"),
    "margins": Field("d"),  # [i, j] decayed sum of the margins of i against j, -margins[j, i]; only by return
    "margin_squares": Field("d"),  # [i, j] decayed sum of their squares, the same in both orders
}
FADING = ("wins", "draws", "return_sums", "return_squares", "return_games", "margins", "margin_squares")


@dataclass(kw_only=True, slots=True)
class PayoffConfig:
    """What counts as better, how fast old games fade, and how little a few games prove. payoff=X is payoff.by=X."""

    by: str = AUTO  # outcome: wins and draws; return: mean returns; auto: by return if the trial shows various leads
    scale: float | None = None  # by return: lead a game for a score of 1; null: what the game allows, or a typical one
    decay: float = 0.99  # weight a pair's games keep at each new one: 0.99 remembers about 100, 1 all
    prior_games: float = 4.0  # virtual games of each pair at its prior score: one lucky win proves little
    returns: bool | None = None  # keep the returns of players beside scores; null: if not zero-sum, or roles differ

    def __post_init__(self) -> None:
        """Refuse values with which a score would not be a score."""
        if self.by not in (AUTO, OUTCOME, RETURN):
            raise ValueError(f"payoff.by: unknown {self.by!r}; choose one of {AUTO}, {OUTCOME}, {RETURN}")
        if self.scale is not None and not 0 < self.scale < float("inf"):
            raise ValueError(f"payoff.scale must be a positive number, or null; got {self.scale}")
        if not 0 < self.decay <= 1:
            raise ValueError(f"payoff.decay must be above 0 and at most 1, got {self.decay}")
        if not 0 < self.prior_games < float("inf"):
            raise ValueError(f"payoff.prior_games must be a positive number, got {self.prior_games}")


class Payoff(Pairs):
    """Results for each ordered pair of players. `record_games` is in the coordinator's hot loop: no temporaries."""

    fields: ClassVar[dict[str, Field]] = FIELDS
    fading: ClassVar[tuple[str, ...]] = FADING  # what decays, and goes when a player begins again

    def __init__(self, config: PayoffConfig | None = None) -> None:
        super().__init__(self.fields)
        self.config = config or PayoffConfig()
        self.by_return = False
        self._largest: float | None = None
        self.seen = (0.0, 0.0)  # margins recorded, never decayed: how many, and the sum of their squares

    def go_by_return(self, largest: float | None) -> None:
        """Let scores follow mean margins from now on; `largest` is the largest margin of a game, if that is known."""
        self.by_return, self._largest = True, largest

    @property
    def scale(self) -> float:
        """The mean margin that is worth a score of 1: as configured, the largest of the game, or a typical one.

        Typical is the root of the mean square of all margins that were ever recorded.
        """
        if found := self.config.scale or self._largest:
            return found
        count, squares = self.seen
        return sqrt(squares / count) if squares > 0 else 1.0

    @classmethod
    def from_arrays(cls, players: Sequence[PlayerId], arrays: Arrays, config: PayoffConfig | None = None) -> Self:
        """Return a table that equals the one that `to_arrays` took apart."""
        payoff = cls(config)
        payoff.load(players, arrays)
        return payoff

    def record(self, a: PlayerId, b: PlayerId, outcome: float, decay: float | None = None) -> None:
        """Count one game: `outcome` is 1 if a won, 0 if b won, 0.5 for a draw."""
        if outcome not in (0.0, 0.5, 1.0):
            raise ValueError(f"the outcome of {a!r} against {b!r} must be 1, 0.5 or 0, got {outcome}")
        self.record_games(a, b, ((1.0 - outcome, outcome),), decay)

    def record_games(
        self, a: PlayerId, b: PlayerId, games: Sequence[Sequence[float]], decay: float | None = None
    ) -> None:
        """Count some games of a pair, in order: each is given as the ranks of a and b, of which the lower one won.

        Where one of them is absent, there is no game.
        """
        if a == b:
            raise ValueError(f"{a!r} against itself says nothing of who is better: do not record it")
        try:
            i, j = self._order[a], self._order[b]
        except KeyError:
            i, j = self.index(a), self.index(b)
        keep = self.config.decay if decay is None else decay
        flat, there, back = self.flat, i * self.capacity + j, j * self.capacity + i
        wins, draws = flat["wins"], flat["draws"]
        won, drawn, lost = wins[there], draws[there], wins[back]
        ahead = behind = level = 0
        for first, second in games:
            if 0 <= first < second:
                won, drawn, lost = won * keep + 1.0, drawn * keep, lost * keep
                ahead += 1
            elif first > second >= 0:
                won, drawn, lost = won * keep, drawn * keep, lost * keep + 1.0
                behind += 1
            elif first == second >= 0:
                won, drawn, lost = won * keep, drawn * keep + 1.0, lost * keep
                level += 1
        wins[there], wins[back] = won, lost
        draws[there] = draws[back] = drawn
        if ahead:
            flat["raw_wins"][there] += ahead
        if behind:
            flat["raw_wins"][back] += behind
        if level:
            flat["raw_draws"][there] += level
            flat["raw_draws"][back] += level

    def record_margins(self, a: PlayerId, b: PlayerId, margins: Sequence[float], decay: float | None = None) -> None:
        """Add the margins of some games of a against b, in order; `record_games` counts who won them."""
        i, j = self.index(a), self.index(b)
        keep = self.config.decay if decay is None else decay
        flat, there, back = self.flat, i * self.capacity + j, j * self.capacity + i
        total, squares, (count, seen) = flat["margins"][there], flat["margin_squares"][there], self.seen
        for margin in margins:
            square = margin * margin
            total, squares, seen = total * keep + margin, squares * keep + square, seen + square
        flat["margins"][there], flat["margins"][back] = total, 0.0 - total  # zero has no sign
        flat["margin_squares"][there] = flat["margin_squares"][back] = squares
        self.seen = (count + len(margins), seen)

    def record_return(self, a: PlayerId, b: PlayerId, value: float, decay: float | None = None) -> None:
        """Add the return that a got when it played with b (co-operative play; a may be b)."""
        if not np.isfinite(value):
            raise ValueError(f"the return of {a!r} with {b!r} must be a finite number, got {value}")
        cell = (self.index(a), self.index(b))
        keep = self.config.decay if decay is None else decay
        for name, amount in (("return_sums", value), ("return_squares", value * value), ("return_games", 1.0)):
            matrix = self.matrix[name]
            matrix[cell] = matrix[cell] * keep + amount

    def inherit(self, child: PlayerId, parent: PlayerId) -> None:
        """Give the child's virtual games the parent's scores of today: it was frozen from it just now."""
        row, source = self.index(child), self.index(parent)
        everyone = np.arange(len(self.players))
        scores = self._scores(source, everyone)
        scores[[row, source]] = NEUTRAL
        self.matrix["prior"][row, everyone] = scores
        self.matrix["prior"][everyone, row] = 1.0 - scores

    def scale_row(self, player: PlayerId, factor: float) -> None:
        """Make all games of a player so far count less, because it has changed since; raw totals stay."""
        if not 0 <= factor <= 1:
            raise ValueError(f"games of {player!r} can be scaled by 0 to 1, got {factor}")
        i = self.index(player)
        for name in self.fading:
            matrix = self.matrix[name]
            own = matrix[i, i] * factor
            matrix[i, :] *= factor
            matrix[:, i] *= factor
            matrix[i, i] = own

    def score(self, a: PlayerId, b: PlayerId) -> float:
        """Return the score of a against b, virtual games included: never quite 0 or 1, 0.5 against itself."""
        return float(self._scores(self.find(a), self.find_all((b,)))[0])

    def scores(self, a: PlayerId, opponents: Sequence[PlayerId]) -> Floats:
        """Return the score of a against each of the opponents."""
        return self._scores(self.find(a), self.find_all(opponents))

    def _outcomes(self, i: int, others: Indices) -> tuple[Floats, Floats]:
        """Return wins + draws / 2, and games."""
        wins = self.matrix["wins"]  # a view of one row or column, then take: a third of what [i, others] costs
        won, drawn = wins[i].take(others), self.matrix["draws"][i].take(others)
        return won + drawn / 2, won + drawn + wins[:, i].take(others)

    def _scores(self, i: int, others: Indices) -> Floats:
        points, games = self._outcomes(i, others)
        if self.by_return:
            points = np.clip(games / 2 + self.matrix["margins"][i].take(others) / (2 * self.scale), 0.0, games)
        virtual = self.config.prior_games
        scores: Floats = (points + virtual * self.matrix["prior"][i].take(others)) / (games + virtual)
        return scores

    def _bounds(self, i: int, others: Indices, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of the scores."""
        if not self.by_return:
            return self._share_bounds(i, others, confidence)
        low, high = self._margin_bounds(i, others, confidence)
        return to_score(low, self.scale), to_score(high, self.scale)

    def _share_bounds(self, i: int, others: Indices, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of the shares of points."""
        low, high = wilson(*self._outcomes(i, others), confidence)
        return low, high

    def _margin_bounds(self, i: int, others: Indices, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of the mean margins; every game is a unit of its own."""
        margins, squares = self.matrix["margins"][i].take(others), self.matrix["margin_squares"][i].take(others)
        return mean_interval(margins, squares, self._outcomes(i, others)[1], self.scale, confidence)

    def games(self, a: PlayerId, b: PlayerId) -> float:
        """Return how many games of the pair still count."""
        i, j = self.find(a), self.find(b)
        there, back = i * self.capacity + j, j * self.capacity + i
        return float(self.flat["wins"][there] + self.flat["draws"][there] + self.flat["wins"][back])

    def raw(self, a: PlayerId, b: PlayerId) -> tuple[int, int, int]:
        """Return all wins, draws and losses of a against b, none of them decayed."""
        i, j = self.find(a), self.find(b)
        wins, draws = self.matrix["raw_wins"], self.matrix["raw_draws"]
        return int(wins[i, j]), int(draws[i, j]), int(wins[j, i])

    def raw_row(self, a: PlayerId) -> dict[PlayerId, tuple[int, int, int]]:
        """Return all wins, draws and losses of a against everybody it ever met, none of them decayed."""
        found = {b: self.raw(a, b) for b in self.players if b != a}
        return {b: counts for b, counts in found.items() if any(counts)}

    def interval(self, a: PlayerId, b: PlayerId, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of the score of a against b. Virtual games are no evidence and stay out."""
        low, high = self._bounds(self.find(a), self.find_all((b,)), confidence)
        return float(low[0]), float(high[0])

    def intervals(self, players: Sequence[PlayerId], confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return [i, j] the lower and upper ends of the interval of the score of player i against j."""
        others = self.find_all(players)
        bounds = [self._bounds(int(i), others, confidence) for i in others]
        shape = (len(players), len(players))
        return (
            np.array([low for low, _ in bounds]).reshape(shape),
            np.array([high for _, high in bounds]).reshape(shape),
        )

    def lower(self, a: PlayerId, b: PlayerId, confidence: float = 0.95) -> float:
        """Return the lower end of the interval: 0 as long as the pair has not played."""
        return self.interval(a, b, confidence)[0]

    def lowers(self, a: PlayerId, opponents: Sequence[PlayerId], confidence: float = 0.95) -> Floats:
        """Return the lower end of the interval against each of the opponents."""
        return self._bounds(self.find(a), self.find_all(opponents), confidence)[0]

    def margin(self, a: PlayerId, b: PlayerId, confidence: float = 0.95) -> tuple[float, float, float] | None:
        """Return the mean margin of a against b and its interval, in units of return; None without games by return."""
        i, others = self.find(a), self.find_all((b,))
        games = float(self._outcomes(i, others)[1][0])
        if not self.by_return or not games:
            return None
        low, high = self._margin_bounds(i, others, confidence)
        return float(self.matrix["margins"][i, others[0]]) / games, float(low[0]), float(high[0])

    def points(self, players: Sequence[PlayerId]) -> Floats:
        """Return [i, j] the wins + draws / 2 of player i against j; points + points.T are the games."""
        cells = np.ix_(self.find_all(players), self.find_all(players))
        points: Floats = self.matrix["wins"][cells] + self.matrix["draws"][cells] / 2
        return points

    def mean_returns(self, players: Sequence[PlayerId]) -> Floats:
        """Return [i, j] the mean return of player i with j (cross-play); nan where they never met."""
        cells = np.ix_(self.find_all(players), self.find_all(players))
        sums, games = self.matrix["return_sums"][cells], self.matrix["return_games"][cells]
        means: Floats = np.divide(sums, games, out=np.full_like(sums, np.nan), where=games > 0)
        return means

    def returns_with(self, a: PlayerId, partners: Sequence[PlayerId]) -> Floats:
        """Return the mean return of a with each of the partners; nan where they never met."""
        i, others = self.find(a), self.find_all(partners)
        sums, games = self.matrix["return_sums"][i].take(others), self.matrix["return_games"][i].take(others)
        means: Floats = np.divide(sums, games, out=np.full_like(sums, np.nan), where=games > 0)
        return means

    def return_games(self, a: PlayerId, b: PlayerId) -> float:
        """Return how many games of a with b still count."""
        return float(self.matrix["return_games"][self.find(a), self.find(b)])

    def return_interval(self, a: PlayerId, b: PlayerId, confidence: float = 0.95) -> tuple[float, float, float]:
        """Return the mean return of a with b and its interval; infinite with fewer than two games."""
        cell = (self.find(a), self.find(b))
        games = float(self.matrix["return_games"][cell])
        mean = float(self.matrix["return_sums"][cell]) / games if games else 0.0
        if games < 2:
            return mean, -np.inf, np.inf
        spread = float(self.matrix["return_squares"][cell]) / games - mean * mean
        reach = quantile(confidence) * float(np.sqrt(max(spread, 0.0) / (games - 1)))
        return mean, mean - reach, mean + reach


def record_ranks(
    payoff: Payoff,
    players: Sequence[PlayerId],
    matches: Sequence[Sequence[int]],
    decay: float | None = None,
    met: Sequence[tuple[int, int]] | None = None,
) -> None:
    """Count matches of the same entries by their ranks: in each of them a game for each pair that `meetings` found.

    Rank 0 is the best; equal ranks are a draw. Without `met` every entry is on a side of its own. Games of a pair fade
    in the order of matches, and within a match in the order of `met`.

    >>> table = Payoff(); record_ranks(table, [PlayerId("a"), PlayerId("b"), PlayerId("c")], [[0, 1, 1]])
    >>> table.raw(PlayerId("a"), PlayerId("c")), table.raw(PlayerId("b"), PlayerId("c"))
    ((1, 0, 0), (0, 1, 0))
    """
    if not matches:
        return
    if set(map(len, matches)) != {len(players)}:
        raise ValueError(f"a match needs one rank for each entry: {list(players)} got {[*map(list, matches)]}")
    found = meetings(players, range(len(players))) if met is None else met
    for (a, b), entries in by_pair(players, found).items():
        payoff.record_games(a, b, [(ranks[i], ranks[j]) for ranks in matches for i, j in entries], decay)


def head_to_head(mine: Collection[int], sides: Sequence[int], ranks: Iterable[Sequence[int]]) -> tuple[int, int, int]:
    """Return the wins, draws and losses of one player, which has the entries `mine`, against the player of the rest.

    These are the games that `record_ranks` counts: one for each pair of sides that meet, so chance level is 0.5
    however many sides there are. Two entries of the same side never play each other.

    >>> head_to_head({0}, [0, 1, 2], [(0, 1, 2), (1, 0, 2), (0, 0, 1)])
    (4, 1, 1)
    """
    me, other = PlayerId("me"), PlayerId("other")
    players = [me if entry in mine else other for entry in range(len(sides))]
    table = Payoff()
    record_ranks(table, players, list(ranks), met=meetings(players, sides))
    return table.raw(me, other)
