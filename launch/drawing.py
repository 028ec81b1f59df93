"""Pictures of a league, drawn with matplotlib, which is imported when the first one is drawn."""

import io
from typing import TYPE_CHECKING

import numpy as np

from league.standings import PayoffTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELLED = 16  # players beyond which the cells of a heat map have no numbers


def png_of(figure: "Figure", dpi: int = 100) -> bytes:
    """Return a figure as the bytes of a PNG file, the same ones each time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()


def payoff_figure(table: PayoffTable) -> "Figure":
    """Draw who scores what against whom: rows against columns, in per cent."""
    from matplotlib.figure import Figure

    count = len(table.players)
    scores = np.array([[np.nan if c is None else 100 * c.score for c in row] for row in table.cells], dtype=float)
    side = 2.4 + 0.34 * count
    figure = Figure(figsize=(side + 0.8, side), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(scores.reshape(count, count), cmap="RdYlGn", vmin=0, vmax=100)
    axes.set_facecolor("#eeeeee")
    axes.set_xticks(range(count), table.players, rotation=90, fontsize=8)
    axes.set_yticks(range(count), table.players, fontsize=8)
    if count <= LABELLED:
        for i, j in zip(*np.nonzero(~np.isnan(scores.reshape(count, count))), strict=True):
            axes.text(j, i, f"{scores[i, j]:.0f}", ha="center", va="center", fontsize=7)
    figure.colorbar(image, ax=axes, label="score of the row against the column, %", shrink=0.8)
    return figure


def payoff_png(table: PayoffTable) -> tuple[bytes, int, int]:
    """Return the heat map as PNG, with its width and height."""
    figure = payoff_figure(table)
    width, height = (int(inches * 100) for inches in figure.get_size_inches())
    return png_of(figure), width, height
