"""The statistics and the tables of the study of recipes: pure functions of the figures of its leagues.

    rows = summarise(figures)                       # {trial: {"late": 0.31, ...}}
    print(markdown(rows, duels))

A figure is better the smaller it is. A recipe is compared with self-play seed by seed: the interval is that of the
mean of these differences (t, 95 %), and a recipe is surely different where it does not contain 0.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.study_trials import BASE, GAMES, PLAIN, Trial
from launch.sweeps.comparing import t_interval

Figures = Mapping[Trial, Mapping[str, float]]
NEGLIGIBLE = 0.005  # a difference that rounds to nothing is none, however sure it is
LATE = 0.25  # the last share of a league whose candidates are averaged
MARKS = {-1: "**", 0: "", 1: "*"}  # around a figure that is surely smaller, or larger, than that of self-play
SURE, UNSURE = {-1: "surely harder", 1: "surely easier"}, "not sure"
# The tables, each with the figure that it shows where NashConv is exact, and where probes measure.
TABLES = {
    "Mains at equal env steps": ("late", "probe"),
    "Mains at equal decisions of the main": ("equal_late", "equal_probe"),
    "Last mains": ("last", "probe_rise"),
    "The pool, uniformly mixed": ("pool",),
    "The Nash mixture of pool and mains": ("nash",),
    "Decisions of the main": ("decisions",),
}
SCORES = ("probe", "probe_rise", "equal_probe", "equal_probe_rise")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds and how far its 95 % t interval reaches to each side; None with a single seed."""

    mean: float
    reach: float | None
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        """Return the estimate from the value of each seed.

        >>> Estimate.of([0.6, 0.7, 0.8]).sign
        1
        """
        mean, reach = t_interval(values) if len(values) > 1 else (values[0], None)
        return cls(mean, reach, tuple(values))

    @property
    def sign(self) -> int:
        """1 if it is surely more than 0, -1 if surely less, else 0; also 0 if it is negligible."""
        if self.reach is None or abs(self.mean) <= max(self.reach, NEGLIGIBLE):
            return 0
        return 1 if self.mean > 0 else -1


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of one recipe: its mean over seeds, and the difference to self-play with the same learner."""

    game: str
    learner: str
    recipe: str
    figure: str
    estimate: Estimate
    difference: Estimate | None  # None: it is self-play, or self-play was not played

    @property
    def verdict(self) -> str:
        """Whether the recipe is surely harder or easier to exploit than self-play."""
        return "" if self.difference is None else SURE.get(self.difference.sign, UNSURE)


@dataclass(frozen=True, slots=True)
class Duel:
    """What the first recipe's mains earn against those of the second with the same seed, and in which unit."""

    game: str
    learner: str
    first: str
    second: str
    unit: str
    even: float  # what equals earn: 0, or half of a game
    estimate: Estimate


def late(curve: Sequence[tuple[int, float]], until: float) -> float:
    """Return the mean over the candidates of the last quarter up to a number of decisions; a curve of one is itself.

    >>> late([(10, 4.0), (80, 1.0), (100, 3.0), (200, 9.0)], until=100)
    2.0
    """
    chosen = [value for decisions, value in curve if (1 - LATE) * until < decisions <= until]
    return statistics.mean(chosen) if chosen else min(curve, key=lambda point: abs(point[0] - until))[1]


def common_decisions(trial: Trial, figures: Figures) -> float:
    """Return the decisions that the mains of all recipes have reached in the leagues that a trial is compared with."""
    return min(
        values["decisions"]
        for other, values in figures.items()
        if (other.group, other.seed) == (trial.group, trial.seed)
    )


def summarise(figures: Figures) -> list[Row]:
    """Return a row for each figure of each recipe in each game."""
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in figures:
        groups.setdefault((*trial.group, trial.recipe), []).append(trial)
    return [
        Row(
            game,
            learner,
            recipe,
            name,
            Estimate.of([figures[t][name] for t in members]),
            _paired(members, name, figures),
        )
        for (game, learner, recipe), members in groups.items()
        for name in figures[members[0]]
    ]


def _paired(members: Sequence[Trial], name: str, figures: Figures) -> Estimate | None:
    """Return by how much a recipe exceeds self-play, seed by seed."""
    pairs = [(trial, Trial(trial.game, BASE, trial.seed, trial.learner)) for trial in members if trial.recipe != BASE]
    found = [figures[trial][name] - figures[base][name] for trial, base in pairs if base in figures]
    return Estimate.of(found) if found else None


def harder(rows: Sequence[Row], figure_of: Mapping[str, str] | None = None) -> dict[tuple[str, str], list[str]]:
    """Return on which games a recipe and learner is surely harder to exploit than self-play, by the game's figure."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.difference is not None and row.figure == (figure_of or {}).get(row.game, GAMES[row.game].figure):
            found.setdefault((row.learner, row.recipe), []).extend([row.game] if row.difference.sign < 0 else [])
    return found


# --- Markdown ------------------------------------------------------------------------------------------------


def markdown(rows: Sequence[Row], duels: Sequence[Duel]) -> str:
    """Return tables, games by recipes, with differences to self-play: bold is harder to exploit, italic easier."""
    parts = [
        line for title, figures in TABLES.items() for line in _table(title, [r for r in rows if r.figure in figures])
    ]
    return "\n".join([*parts, *_duels(duels)]) + "\n"


def _table(title: str, rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    recipes = list(dict.fromkeys(row.recipe for row in rows))
    yield from (f"### {title}\n", f"| game | seeds | {' | '.join(f'`{recipe}`' for recipe in recipes)} |")
    yield f"|{'---|' * (len(recipes) + 2)}"
    for game, learner in dict.fromkeys((row.game, row.learner) for row in rows):
        mine = {row.recipe: row for row in rows if (row.game, row.learner) == (game, learner)}
        cells = [cell(mine[recipe]) if recipe in mine else "" for recipe in recipes]
        seeds = len(next(iter(mine.values())).estimate.values)
        yield f"| {game}{'' if learner == PLAIN else f', {learner}'} | {seeds} | {' | '.join(cells)} |"
    yield ""


def cell(row: Row) -> str:
    """Return a figure, and in brackets the difference to self-play; self-play has the interval of its mean."""
    if row.figure == "decisions":
        return f"{row.estimate.mean:,.0f}"
    if row.difference is None:
        return amount(row.figure, row.estimate)
    text = f"{amount(row.figure, Estimate(row.estimate.mean, None, ()))} ({amount(row.figure, row.difference, '+')})"
    return f"{MARKS[row.difference.sign]}{text}{MARKS[row.difference.sign]}"


def amount(figure: str, estimate: Estimate, sign: str = "") -> str:
    """Return an estimate as text: scores in per cent, NashConv in units of return.

    >>> amount("probe", Estimate(0.9, 0.05, ())), amount("late", Estimate(0.123, None, ()), "+")
    ('90 ±5 %', '+0.12')
    """
    if figure in SCORES:
        reach = "" if estimate.reach is None else f" ±{100 * estimate.reach:.0f}"
        return f"{100 * estimate.mean:{sign}z.0f}{reach} %"
    reach = "" if estimate.reach is None else f" ±{estimate.reach:.2f}"
    return f"{estimate.mean:{sign}z.2f}{reach}"


def _duels(duels: Sequence[Duel]) -> Iterator[str]:
    """Yield what recipes earn against self-play."""
    found = {(d.game, d.learner, d.second): d for d in duels if d.first == BASE}
    if not found:
        return
    recipes = list(dict.fromkeys(recipe for *_, recipe in found))
    yield from ("### Head to head with self-play\n", f"| game | {' | '.join(f'`{recipe}`' for recipe in recipes)} |")
    yield f"|{'---|' * (len(recipes) + 1)}"
    for game, learner in dict.fromkeys((game, learner) for game, learner, _ in found):
        cells = [_earned(found[game, learner, recipe]) for recipe in recipes if (game, learner, recipe) in found]
        yield f"| {game}{'' if learner == PLAIN else f', {learner}'} | {' | '.join(cells)} |"


def _earned(duel: Duel) -> str:
    """Return what the second recipe earns against the first; bold if it surely wins, italic if it surely loses."""
    turned = Estimate.of([2 * duel.even - value for value in duel.estimate.values])
    sign = Estimate.of([duel.even - value for value in duel.estimate.values]).sign
    text = amount("probe" if duel.unit == "score" else "late", turned, "" if duel.unit == "score" else "+")
    return f"{MARKS[-sign]}{text}{MARKS[-sign]}"
