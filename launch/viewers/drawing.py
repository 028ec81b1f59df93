"""Figures of a league by matplotlib, which is imported for the first one."""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from launch.viewers.curves import CurveRow
from league.metrics import ELO, NASH_CONV, SPEED, WAIT
from league.population import Population
from league.standings import PayoffTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

LABELLED = 16  # players beyond which the cells of a heat map have no numbers
DARK = 33  # per cent from the middle at which a cell is so dark that its number is white
# Colours that colour-blind readers can distinguish: of Okabe and Ito for lines, from orange to blue for scores.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#000000")
SCORES = ("#8C4A00", "#E08214", "#FDD9B0", "#F7F7F7", "#B5D4E9", "#3F8FC5", "#0B3C6F")


def png_of(figure: "Figure", dpi: int = 100) -> bytes:
    """Return a figure as the bytes of a PNG file, the same ones each time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()


def payoff_figure(table: PayoffTable) -> "Figure":
    """Plot the score of each player against each other one: rows against columns, in per cent."""
    from matplotlib.figure import Figure

    count = len(table.players)
    scores = np.array([[np.nan if c is None else 100 * c.score for c in row] for row in table.cells], dtype=float)
    side = 2.4 + 0.34 * count
    figure = Figure(figsize=(side + 0.8, side), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(scores.reshape(count, count), cmap=_scores(), vmin=0, vmax=100)
    axes.set_facecolor("#cccccc")  # pairs that have not met: no shade of a score
    axes.set_xticks(range(count), table.players, rotation=90, fontsize=8)
    axes.set_yticks(range(count), table.players, fontsize=8)
    if count <= LABELLED:
        for i, j in zip(*np.nonzero(~np.isnan(scores.reshape(count, count))), strict=True):
            colour = "white" if abs(scores[i, j] - 50) > DARK else "black"
            axes.text(j, i, f"{scores[i, j]:.0f}", ha="center", va="center", fontsize=7, color=colour)
    figure.colorbar(image, ax=axes, label="score of the row against the column, %", shrink=0.8)
    return figure


def _scores() -> "Colormap":
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("scores", SCORES)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def payoff_png(table: PayoffTable) -> tuple[bytes, int, int]:
    """Return the heat map as PNG, with its width and height."""
    figure = payoff_figure(table)
    width, height = (int(inches * 100) for inches in figure.get_size_inches())
    return png_of(figure), width, height


def ratings_figure(
    rows: Sequence[CurveRow], players: Sequence[str], anchors: Mapping[str, float], scale: str = ELO
) -> "Figure":
    """Plot the rating of each player over matches, with its interval; anchors are dashed lines."""
    figure, axes = _plot("matches", "Elo" if scale == ELO else "margin a game")
    for number, player in enumerate(players):
        found = [(row.matches, row.values) for row in rows if f"{scale}{player}" in row.values]
        matches = [at for at, _ in found]
        rating = [values[f"{scale}{player}"] for _, values in found]
        colour = _colour(number)
        axes.plot(matches, rating, color=colour, label=player, linewidth=1.6)
        low, high = ([values.get(f"{scale}{player}{end}", np.nan) for _, values in found] for end in ("_low", "_high"))
        axes.fill_between(matches, low, high, color=colour, alpha=0.18, linewidth=0)
    least = 50.0 if scale == ELO else 0.05  # room above and below the curves
    axes.set_ylim(*_shown(rows, [f"{scale}{player}" for player in players], anchors, least))
    for name, pinned in anchors.items():
        axes.axhline(pinned, color="#888888", linestyle="--", linewidth=1)
        place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        axes.annotate(name, (1, pinned), (4, 0), **place, fontsize=8, va="center", ha="left")
    if players:
        figure.legend(fontsize=8, loc="outside right upper")
    return figure


def _shown(
    rows: Sequence[CurveRow], curves: Sequence[str], anchors: Mapping[str, float], least: float
) -> tuple[float, float]:
    """Return the part of the scale that matters: of the first wide intervals only the middle."""
    ratings = [row.values[curve] for row in rows for curve in curves if curve in row.values]
    known = [*ratings, *anchors.values()] or [0.0]
    room = max(least, 0.15 * (max(known) - min(known)))
    return min(known) - room, max(known) + room


def family_figure(population: Population, births: Mapping[str, int], matches: int) -> "Figure":
    """Plot who was frozen from whom, and when: a line for each learning player, a dot for each frozen one."""
    from matplotlib.figure import Figure

    learning = [player.id for player in population.learning()]
    figure = Figure(figsize=(8, 1.2 + 0.7 * len(learning)), layout="constrained")
    axes = figure.add_subplot()
    for number, parent in enumerate(learning):
        lane, colour = len(learning) - 1 - number, _colour(number)
        pasts = [player.id for player in population.frozen_of(parent) if player.id in births]
        axes.plot([0, max(matches, 1)], [lane, lane], color=colour, linewidth=2, zorder=1)
        axes.scatter([births[p] for p in pasts], [lane] * len(pasts), color=colour, edgecolor="white", zorder=2)
        for i, past in enumerate(pasts):
            up = 9 if i % 2 else -14  # neighbours would write over each other
            label = past.removeprefix(parent)
            axes.annotate(label, (births[past], lane), (0, up), textcoords="offset points", fontsize=7, ha="center")
    axes.set_yticks(range(len(learning)), list(reversed(learning)), fontsize=8)
    axes.set_ylim(-0.6, len(learning) - 0.4)
    axes.set_xlabel("matches")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return figure


def nash_conv_figure(rows: Sequence[CurveRow], players: Sequence[str]) -> "Figure | None":
    """Plot the exact NashConv of each player over env steps; None if it was not measured."""
    curves = {player: f"{NASH_CONV}/{player}" for player in players}
    found = {
        player: [(row.env_steps, row.values[name]) for row in rows if name in row.values]
        for player, name in curves.items()
    }
    if not any(found.values()):
        return None
    figure, axes = _plot("env steps", "NashConv")
    for number, (player, points) in enumerate(found.items()):
        steps, values = [at for at, _ in points], [value for _, value in points]
        axes.plot(steps, values, color=_colour(number), label=player, linewidth=1.6, drawstyle="steps-post")
    axes.set_ylim(bottom=0)
    figure.legend(fontsize=8, loc="outside right upper")
    return figure


def throughput_figure(rows: Sequence[CurveRow]) -> "Figure":
    """Plot env steps per second and the share of time that processes waited, over the time of play."""
    figure, axes = _plot("minutes of play", "env steps per second")
    measured = [row for row in rows if row.elapsed is not None and SPEED in row.values]
    minutes = [(row.elapsed or 0.0) / 60 for row in measured]
    speeds = [row.values[SPEED] for row in measured]
    axes.plot(minutes, speeds, color=_colour(0), linewidth=1.6, label="env steps")
    axes.set_ylim(bottom=0)
    right = axes.twinx()
    right.set_ylim(0, 100)
    right.set_ylabel("share of time spent waiting, %")
    names = sorted({name for row in measured for name in row.values if name.startswith(WAIT)})
    for number, name in enumerate(names[:8], start=1):
        share = [100 * row.values.get(name, np.nan) for row in measured]
        right.plot(minutes, share, color=_colour(number), linewidth=0.9, alpha=0.7, label=f"{name[5:]} waits")
    figure.legend(fontsize=7, loc="outside right upper")
    return figure


def _plot(x: str, y: str) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4), layout="constrained")  # the legend is beside the curves
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.25)
    return figure, axes
