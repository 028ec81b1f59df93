"""Margins: the map to scores, and intervals of means that a few equal values do not make certain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.interval import wilson
from league.margins import largest_margin, mean_interval, to_score

FINITE = st.floats(-1e6, 1e6)


@given(FINITE, FINITE, st.floats(1e-3, 1e6))
def test_the_map_is_monotone_antisymmetric_and_stays_within_0_and_1(one, other, scale):
    low, high = sorted((one, other))
    assert 0.0 <= to_score(low, scale) <= to_score(high, scale) <= 1.0
    assert to_score(one, scale) + to_score(-one, scale) == pytest.approx(1.0)


def test_known_answers_of_the_map():
    assert [float(to_score(m, 13.0)) for m in (-13.0, 0.0, 6.5, 13.0, 99.0)] == [0.0, 0.5, 0.75, 1.0, 1.0]
    assert largest_margin((-2.0, 2.0)) == 2.0
    assert largest_margin((0.0, 1.0)) == 0.5, "one returned 1, the other nothing: a lead of 1, a margin of a half"
    assert largest_margin((3.0, 3.0)) is None


@given(st.integers(1, 500), st.data())
def test_of_wins_and_losses_it_contains_the_wilson_interval_and_has_its_middle(games, data):
    won = data.draw(st.integers(0, games))
    low, high = mean_interval(2.0 * won - games, float(games), games, 1.0)
    wilson_low, wilson_high = (2 * float(bound) - 1 for bound in wilson(won, games))
    assert low <= wilson_low + 1e-9
    assert wilson_high <= high + 1e-9
    assert (low + high) / 2 == pytest.approx((wilson_low + wilson_high) / 2, abs=1e-9)


def test_without_units_nothing_is_known_and_equal_values_are_not_certain():
    assert mean_interval(0.0, 0.0, 0.0, 2.0) == pytest.approx((-2.0, 2.0))
    low, high = mean_interval(3.0, 3.0, 3.0, 2.0)  # three times 1
    assert low < 0.0 < 1.0 < high


@pytest.mark.parametrize("units", [10, 30, 200])
def test_intervals_cover_the_mean_of_skewed_margins(units):
    """A pot that is won by 1 seven times in ten, lost by 2 otherwise: the mean is 0.1."""
    rng = np.random.default_rng(units)
    values = np.where(rng.random((4000, units)) < 0.7, 1.0, -2.0)
    low, high = mean_interval(values.sum(axis=1), (values**2).sum(axis=1), units, 2.0)
    covered = float(((low <= 0.1) & (high >= 0.1)).mean())
    assert covered >= 0.94
