"""Compare runs across seeds: the figures of each, and mean and interval over runs that differ only in their seed.

    samples = [RunSample(run="a.seed=1", settings="league=pfsp", figures=figures(state, seconds)), ...]
    for row in compare(samples):
        print(row.settings, row.means["elo/main"])          # Mean(mean=244.0, low=190.2, high=297.8, runs=3)

Figures have the names of their curves (launch.viewers.curves): score/PLAYER_v_ANCHOR, elo/PLAYER, return/PLAYER_own,
charts/SPS. Everything here is a pure function; launch.sweeps.sweeping reads runs and prints.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table
from scipy.special import stdtrit

from launch.viewers.tables import all_standings, candidate_scores, short, spread
from league.metrics import ELO, MARGIN, SPEED
from league.standings import MeanReturn, Standing
from league.state import LeagueState

CONFIDENCE = 0.95
SCORE, RETURN = "score/", "return/"
CAPTION = "Mean over seeds with its 95 % t interval; of a single run, the interval of its own games."


class Figure(msgspec.Struct, frozen=True):
    """What one run measured, with the 95 % interval of its own games if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


class RunSample(msgspec.Struct, frozen=True, kw_only=True):
    """One run: its settings but for the seed, and what it measured; nothing if it is not over."""

    run: str
    settings: str
    figures: dict[str, Figure] = {}


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """The mean over some runs, its interval (None if it is not known), and how many runs there were."""

    mean: float
    low: float | None
    high: float | None
    runs: int


class ComparisonRow(msgspec.Struct, frozen=True, kw_only=True):
    """All runs with the same settings: how many have figures, how many there are, and the mean of each figure."""

    settings: str
    measured: int
    runs: int
    means: dict[str, Mean]


def figures(state: LeagueState, seconds: float | None) -> dict[str, Figure]:
    """Return scores against anchors, and ratings or returns, of the mains of a league; and its speed over some seconds.

    A score is that of the newest candidate, which the final evaluation measures.
    """
    found: dict[str, Figure] = {}
    mains = [p.id for p in state.mains()]
    standings = {row.player: row for row in all_standings(state)}
    for main in mains:
        for anchor, (score, low, high, _) in candidate_scores(state, main).items():
            found[f"{SCORE}{main}_v_{anchor}"] = Figure(score, low, high)
    for main in mains:
        found |= _strength(standings[main])
    return found | ({SPEED: Figure(state.env_steps / seconds)} if seconds else {})


def _strength(row: Standing) -> dict[str, Figure]:
    scale = ELO if row.by == "outcome" else MARGIN
    found = {} if row.rating is None else {f"{scale}{row.player}": Figure(row.rating, row.low, row.high)}
    returned: dict[str, MeanReturn | None] = {"own": row.own, "cross": row.cross}
    return found | {
        f"{RETURN}{row.player}_{name}": Figure(one.mean, one.low, one.high)
        for name, one in returned.items()
        if one is not None
    }


def compare(samples: Iterable[RunSample]) -> list[ComparisonRow]:
    """Return a row for all runs of the same settings, in the order in which they come."""
    groups: dict[str, list[RunSample]] = {}
    for sample in samples:
        groups.setdefault(sample.settings, []).append(sample)
    return [_row(settings, members) for settings, members in groups.items()]


def _row(settings: str, members: Sequence[RunSample]) -> ComparisonRow:
    measured = [sample.figures for sample in members if sample.figures]
    names = list(dict.fromkeys(name for known in measured for name in known))
    means = {name: average(name, [known[name] for known in measured if name in known]) for name in names}
    return ComparisonRow(settings=settings, measured=len(measured), runs=len(members), means=means)


def average(name: str, values: Sequence[Figure]) -> Mean:
    """Return the mean of a figure over runs; a score cannot leave 0 to 1.

    >>> mean = average("elo/main", [Figure(100.0), Figure(120.0), Figure(140.0)])
    >>> mean.mean, round(mean.low, 1), round(mean.high, 1)
    (120.0, 70.3, 169.7)
    """
    if len(values) == 1:
        (only,) = values
        return Mean(mean=only.value, low=only.low, high=only.high, runs=1)
    mean, reach = t_interval([one.value for one in values])
    low, high = mean - reach, mean + reach
    if name.startswith(SCORE):
        low, high = max(0.0, low), min(1.0, high)
    return Mean(mean=mean, low=low, high=high, runs=len(values))


def t_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the mean, and how far its t interval reaches to each side; at least two values.

    >>> mean, reach = t_interval([0.6, 0.7, 0.8])
    >>> round(mean, 3), round(reach, 4)
    (0.7, 0.2484)
    """
    count = len(values)
    if count < 2:
        raise ValueError(f"an interval over runs needs two of them, got {count}")
    quantile = float(stdtrit(count - 1, (1 + confidence) / 2))
    return fmean(values), quantile * stdev(values) / math.sqrt(count)


# --- what is printed -----------------------------------------------------------------------------------------


def comparison_table(rows: Sequence[ComparisonRow]) -> Table:
    """Return the rows as a table for people."""
    names = list(dict.fromkeys(name for row in rows for name in row.means))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", caption=CAPTION, caption_justify="left")
    table.add_column("settings", overflow="fold")
    table.add_column("runs", justify="right", no_wrap=True)
    for name in names:
        table.add_column(heading(name), justify="right")
    for row in rows:
        count = str(row.runs) if row.measured == row.runs else f"{row.measured} of {row.runs}"
        table.add_row(row.settings, count, *(_cell(name, row.means) for name in names))
    return table


def heading(name: str) -> str:
    """Return the heading of a figure.

    >>> heading("score/main_v_one_ply"), heading("elo/main"), heading("return/main_own"), heading(SPEED)
    ('main v one_ply', 'main Elo', 'main returns with itself', 'steps/s')
    """
    if name == SPEED:
        return "steps/s"
    kind, _, rest = name.partition("/")
    if f"{kind}/" == SCORE:
        return rest.replace("_v_", " v ", 1)
    if f"{kind}/" in (ELO, MARGIN):
        return f"{rest} Elo" if f"{kind}/" == ELO else f"{rest} margin"
    player, _, whom = rest.rpartition("_")
    return f"{player} returns with {'itself' if whom == 'own' else 'others'}"


def _cell(name: str, means: Mapping[str, Mean]) -> str:
    found = means.get(name)
    if found is None:
        return "-"
    if name.startswith(SCORE) and found.low is not None and found.high is not None:
        return spread(found.mean, found.low, found.high)
    value = {SCORE: f"{found.mean:.0%}", ELO: f"{found.mean:.0f}", SPEED: short(found.mean)}
    text = next((text for kind, text in value.items() if name.startswith(kind)), f"{found.mean:.4g}")
    if found.low is None or found.high is None:
        return text
    reach = max(found.high - found.mean, found.mean - found.low)
    fine = name.startswith((RETURN, MARGIN))
    return f"{text} ±{short(reach) if name == SPEED else f'{reach:.2g}' if fine else f'{reach:.0f}'}"
