"""Figures: colours and legends."""

import numpy as np

from launch.viewers.drawing import nash_conv_figure, payoff_figure, png_of, ratings_figure, throughput_figure
from launch.viewers.reporting import read_story
from league.payoff import Payoff
from league.standings import payoff_table

DEUTERANOPIA = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])  # Machado et al. 2009


def seen(colours):
    """Return colours as somebody sees them who has no cones for green, from 0 to 1."""
    return np.clip(np.asarray(colours)[..., :3] ** 2.2 @ DEUTERANOPIA.T, 0, 1) ** (1 / 2.2)


def least_difference(cmap):
    """Return how far apart a score and its opposite are at least, to somebody without cones for green."""
    scores = np.linspace(0.0, 0.3, 31)
    return np.abs(seen(cmap(scores)) - seen(cmap(1 - scores))).max(axis=1).min()


def test_the_heat_map_can_be_read_without_telling_red_from_green():
    import matplotlib

    table = payoff_table(["a", "b"], Payoff())
    (axes, *_) = payoff_figure(table).get_axes()
    assert least_difference(axes.images[0].get_cmap()) > 0.3
    assert least_difference(matplotlib.colormaps["RdYlGn"]) < 0.2, "the test can fail"


def test_legends_are_beside_the_curves(run):
    story = read_story(run)
    learning = [player.id for player in story.view.state.population.learning()]
    for figure in (ratings_figure(story.rows, learning, {"random": 0.0}), throughput_figure(story.rows)):
        png_of(figure)
        (legend,) = figure.legends
        assert all(axes.get_legend() is None for axes in figure.get_axes())
        left = legend.get_window_extent().x0
        assert all(axes.get_window_extent().x1 <= left for axes in figure.get_axes())


def test_nash_conv_has_a_curve_if_it_was_measured(run, kuhn):
    assert nash_conv_figure(read_story(run).rows, ["main"]) is None
    figure = nash_conv_figure(read_story(kuhn).rows, ["main"])
    (line,) = figure.get_axes()[0].lines
    steps, values = line.get_data()
    assert list(steps) == sorted(steps)
    assert 0 < values[-1] < values[0] < 1
