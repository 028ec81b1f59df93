"""Margins: by how much a game was won, and the score in [0, 1] that matchmakers get from it.

The margin of a game is half of what one side returned more than the other: in a zero-sum game of two the return itself.
The map from a mean margin to a score is linear: 0.5 where both returned the same, 1 at the scale, 0 at minus the scale,
and no further. Where every game is won or lost by the scale, it is the share of wins.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from league.interval import quantile

Floats = npt.NDArray[np.float64]


def to_score(margin: Any, scale: float) -> Any:
    """Return the score of a mean margin, for numbers or arrays.

    >>> [float(to_score(margin, 2.0)) for margin in (-2.0, 0.0, 1.0, 9.0)]
    [0.0, 0.5, 0.75, 1.0]
    """
    return np.clip(0.5 + margin / (2.0 * scale), 0.0, 1.0)


def largest_margin(returns: tuple[float, float] | None) -> float | None:
    """Return the largest margin that returns within these bounds allow; None if they are not known.

    >>> largest_margin((-13.0, 13.0)), largest_margin((0.0, 4.0)), largest_margin(None)
    (13.0, 2.0, None)
    """
    if returns is None or not returns[1] > returns[0]:
        return None
    return (returns[1] - returns[0]) / 2.0


def mean_interval(total: Any, squares: Any, units: Any, scale: float, confidence: float = 0.95) -> tuple[Any, Any]:
    """Return the interval of the mean of independent values of about -scale to scale, for numbers or arrays.

    `total` and `squares` are the sums of the values and of their squares. As many virtual units as the square of the
    normal quantile (3.8 at 95 %), half of them at each end, keep a few equal values from looking certain; of wins and
    losses alone this is the interval of Agresti and Coull. Without units it has both ends.

    >>> [round(float(bound), 2) for bound in mean_interval(6.0, 10.0, 10.0, 1.0)]  # eight wins, two losses
    [-0.04, 0.91]
    """
    virtual = quantile(confidence) ** 2
    weight = units + virtual
    middle = total / weight
    spread = np.maximum((squares + virtual * scale * scale) / weight - middle * middle, 0.0)
    reach = quantile(confidence) * np.sqrt(spread / weight)
    return middle - reach, middle + reach
