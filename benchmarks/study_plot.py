"""Draw the study of recipes: a panel for each game and learner, each recipe with its seeds, mean and interval."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.study_tables import Row
from benchmarks.study_trials import GAMES
from launch.viewers.drawing import COLOURS, png_of
from league.store.files import publish

WIDTH, HEIGHT, COLUMNS = 3.2, 2.5, 3
APART = 0.12  # between the two figures of a recipe
LABELS = ("at equal env steps", "at equal decisions of the main")


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the plot as a PNG."""
    groups = list(dict.fromkeys((row.game, row.learner) for row in rows))
    lines = -(-len(groups) // COLUMNS)
    figure = Figure(figsize=(WIDTH * min(len(groups), COLUMNS), HEIGHT * lines + 0.4), layout="constrained")
    panels = figure.subplots(lines, min(len(groups), COLUMNS), squeeze=False).flat
    for axes, (game, learner) in zip(panels, groups, strict=False):
        _panel(axes, [row for row in rows if (row.game, row.learner) == (game, learner)], game)
        axes.set_title(f"{game}, {learner} learner", fontsize=9)
    for axes in list(panels):
        axes.set_visible(False)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    publish(path, png_of(figure))


def _panel(axes: Axes, rows: Sequence[Row], game: str) -> None:
    recipes = list(dict.fromkeys(row.recipe for row in rows))
    name = GAMES[game].figure
    for number, figure in enumerate((name, f"equal_{name}")):
        chosen = {row.recipe: row.estimate for row in rows if row.figure == figure}
        for place, recipe in enumerate(recipes):
            where, found = place + (number - 0.5) * 2 * APART, chosen[recipe]
            colour, label = COLOURS[number], None if place else LABELS[number]
            axes.plot([where] * len(found.values), found.values, ".", color=colour, alpha=0.4)
            axes.errorbar([where], [found.mean], yerr=[found.reach or 0], fmt="_", color=colour, capsize=3, label=label)
    axes.set_xticks(range(len(recipes)), recipes, fontsize=7)
    axes.set_ylabel("NashConv" if GAMES[game].exact else "score of a probe", fontsize=8)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3, axis="y")
