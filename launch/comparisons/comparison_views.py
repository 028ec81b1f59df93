"""How a comparison of runs is shown: tables for people, JSON for programs, a plot as PNG and SVG.

print_comparison(comparison, console)
write_plots(comparison, Path("runs/comparisons/a_b"))
"""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import rich.console
from rich.box import SIMPLE_HEAD
from rich.table import Table

from launch.comparisons.comparing_runs import BudgetComparison, GroupDuel, RunComparison
from launch.comparisons.milestones import ENV_STEPS
from launch.sweeps.comparing import Mean, comparison_table, heading
from launch.viewers.drawing import COLOURS, png_of
from launch.viewers.tables import spread
from league.store.files import publish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {ENV_STEPS: "env steps of the league", "decisions": "decisions of the main"}


def comparison_json(comparison: RunComparison) -> dict[str, Any]:
    """Return a comparison for programs: the fields of RunComparison."""
    plain: dict[str, Any] = msgspec.to_builtins(comparison)
    return plain


def print_comparison(comparison: RunComparison, console: rich.console.Console) -> None:
    """Print a comparison for people: at each budget what was compared, means over seeds, and who beats whom."""
    for found in comparison.budgets:
        console.print(f"\n{comparison.game} at {found.budget:,} {TITLES[found.axis]}:", highlight=False)
        for one in found.snapshots:
            mark = one.milestone
            line = f"  {one.run}: {mark.label}, {mark.env_steps:,} env steps, {mark.decisions:,} decisions"
            console.print(line, highlight=False, markup=False, soft_wrap=True)
        console.print(comparison_table(found.rows))
        console.print(duel_table(found.duels, "head to head"))
        console.print(duel_table(found.mixture_duels, "uniform mixtures of all mains so far"))


def duel_table(duels: Sequence[GroupDuel], title: str) -> Table:
    """Return what groups score against each other."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in (title, "against"):
        table.add_column(name, overflow="fold")
    table.add_column("score, 95 % interval", justify="right")
    table.add_column("games", justify="right")
    for duel in duels:
        table.add_row(duel.first, duel.second, _text(duel.score), f"{duel.games:,}")
    return table


def _text(mean: Mean) -> str:
    if mean.low is None or mean.high is None:
        return f"{mean.mean:.0%}"
    return spread(mean.mean, mean.low, mean.high)


def write_plots(comparison: RunComparison, folder: Path) -> list[Path]:
    """Write the comparison as JSON, PNG and SVG; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = comparison_figure(comparison)
    text = json.dumps(comparison_json(comparison), indent=2, allow_nan=False)
    files = {"comparison.json": text.encode(), "comparison.png": png_of(figure), "comparison.svg": svg_of(figure)}
    for name, data in files.items():
        publish(folder / name, data)
    return [folder / name for name in files]


def svg_of(figure: "Figure") -> bytes:
    """Return a figure as the bytes of an SVG file."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def comparison_figure(comparison: RunComparison) -> "Figure":
    """Plot each figure of each group with its interval: a row of panels for each budget."""
    from matplotlib.figure import Figure

    groups = list(comparison.groups)
    panels = max(len(_panels(found)) for found in comparison.budgets)
    size = (1.2 + 2.6 * panels, 1.0 + 0.45 * len(groups) * len(comparison.budgets) + 1.2)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(comparison.budgets), panels, squeeze=False)
    for row, found in enumerate(comparison.budgets):
        for column, (title, means) in enumerate(_panels(found).items()):
            _panel(axes[row][column], groups, means, title)
        axes[row][0].set_ylabel(f"{found.budget:,}\n{TITLES[found.axis]}", fontsize=8)
    return figure


def _panels(found: BudgetComparison) -> dict[str, dict[str, Mean]]:
    """Return what each panel shows, by title and group; the first group is the yardstick of the head to head."""
    names = list(dict.fromkeys(name for row in found.rows for name in row.means))
    panels = {
        heading(name): {row.settings: row.means[name] for row in found.rows if name in row.means} for name in names
    }
    base = found.rows[0].settings
    against = {duel.second: _turned(duel.score) for duel in found.duels if duel.first == base}
    return {**panels, f"head to head against {base}": against}


def _turned(mean: Mean) -> Mean:
    """Return the score as the other side sees it."""
    low, high = (None if end is None else 1 - end for end in (mean.high, mean.low))
    return Mean(mean=1 - mean.mean, low=low, high=high, runs=mean.runs)


def _panel(axes: "Axes", groups: Sequence[str], means: dict[str, Mean], title: str) -> None:
    for place, group in enumerate(groups):
        found = means.get(group)
        if found is None:
            continue
        ends = [found.mean if end is None else end for end in (found.low, found.high)]
        reach = [[100 * abs(found.mean - end)] for end in ends]
        colour = COLOURS[place % len(COLOURS)]
        axes.errorbar([100 * found.mean], [place], xerr=reach, fmt="o", color=colour, capsize=3)
    axes.axvline(50, color="#999999", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(groups)), [group[:28] for group in groups], fontsize=7)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_title(f"{title}, %", fontsize=8)
