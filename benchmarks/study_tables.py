"""The statistics and the tables of the study of recipes: pure functions of the figures of its leagues.

    rows = summarise(figures)                       # {trial: {"late": 0.31, ...}}
    print(markdown(rows, duels))

A figure is better the smaller it is. A recipe is compared with self-play seed by seed: the interval is that of the
mean of these differences (t, 95 %), and a recipe is surely different where it does not contain 0.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.study_trials import BASE, GAMES, Trial
from launch.sweeps.comparing import t_interval

Figures = Mapping[Trial, Mapping[str, float]]
NEGLIGIBLE = 0.005  # a difference that rounds to nothing is none, however sure it is
LATE = 0.25  # the last share of a league whose candidates are averaged
SURE, UNSURE = {-1: "surely harder", 1: "surely easier"}, "not sure"
HEADINGS = {
    "decisions": "decisions of the main",
    "late": "candidates of the last quarter",
    "last": "last candidate",
    "pool": "pool",
    "nash": "Nash mixture",
    "equal_late": "at equal decisions of the main",
    "probe": "probe",
    "probe_rise": "probe while it trains",
    "equal_probe": "probe, at equal decisions of the main",
    "equal_probe_rise": "probe while it trains, at equal decisions",
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
    even: float  # what equals earn
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
    """Return the tables, one for each game and learner, and one of the duels."""
    groups = dict.fromkeys((row.game, row.learner) for row in rows)
    parts = [line for group in groups for line in _table(group, rows)]
    return "\n".join([*parts, *_duels(duels)]) + "\n"


def _table(group: tuple[str, str], rows: Sequence[Row]) -> Iterator[str]:
    mine = [row for row in rows if (row.game, row.learner) == group]
    names = list(dict.fromkeys(row.figure for row in mine))
    seeds = len(mine[0].estimate.values)
    yield f"### {group[0]}, {group[1]} learner, {seeds} seeds\n"
    yield f"| recipe | {' | '.join(HEADINGS.get(name, name) for name in names)} |"
    yield f"|{'---|' * (len(names) + 1)}"
    for recipe in dict.fromkeys(row.recipe for row in mine):
        cells = {row.figure: cell(row) for row in mine if row.recipe == recipe}
        yield f"| `{recipe}` | {' | '.join(cells[name] for name in names)} |"
    yield ""


def cell(row: Row) -> str:
    """Return a figure with its interval, and below it the difference to self-play; bold where that is sure."""
    if row.figure == "decisions":
        return f"{row.estimate.mean:,.0f}"
    text = amount(row.figure, row.estimate)
    if row.difference is None:
        return text
    apart = amount(row.figure, row.difference, sign="+")
    return f"{text}; {f'**{apart}**' if row.difference.sign else apart}"


def amount(figure: str, estimate: Estimate, sign: str = "") -> str:
    """Return an estimate as text: scores in per cent, NashConv in units of return.

    >>> amount("probe", Estimate(0.9, 0.05, ())), amount("late", Estimate(0.123, None, ()), "+")
    ('90 ±5 %', '+0.12')
    """
    if figure in SCORES:
        reach = "" if estimate.reach is None else f" ±{100 * estimate.reach:.0f}"
        return f"{100 * estimate.mean:{sign}.0f}{reach} %"
    reach = "" if estimate.reach is None else f" ±{estimate.reach:.2f}"
    return f"{estimate.mean:{sign}.2f}{reach}"


def _duels(duels: Sequence[Duel]) -> Iterator[str]:
    if not duels:
        return
    yield "### Head to head\n"
    yield "| game | learner | recipe | against | mean over seeds |"
    yield "|---|---|---|---|---|"
    for duel in duels:
        apart = Estimate.of([value - duel.even for value in duel.estimate.values])
        figure = "probe" if duel.unit == "score" else "late"
        text = f"{amount(figure, duel.estimate)}{'' if duel.unit == 'score' else f' {duel.unit}'}"
        who = f"`{duel.first}` | `{duel.second}`"
        yield f"| {duel.game} | {duel.learner} | {who} | {f'**{text}**' if apart.sign else text} |"
