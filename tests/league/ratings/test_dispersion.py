"""Dispersion: chi-square and spread of cells whose truth is known, and quantiles of Student's t."""

import numpy as np
import pytest
from scipy.special import stdtrit

from league.ratings.dispersion import Cells, Dispersion, laplacian, measure, student, unit_variance


def cells(residuals, variance, information, leverage=0.0):
    count = len(residuals)
    games = np.full(count, 100.0)
    return Cells(
        first=np.arange(count), second=np.arange(count) + count, games=games, gap=np.zeros(count),
        predicted=np.zeros(count), observed=residuals / games, information=np.full(count, information),
        variance=np.full(count, variance), leverage=np.full(count, leverage),
    )  # fmt: skip


def test_residuals_of_chance_alone_have_a_misfit_of_one_and_little_spread():
    rng = np.random.default_rng(0)
    found = measure(cells(5 * rng.standard_normal(4000), variance=25.0, information=25.0))
    assert found.misfit == pytest.approx(1, abs=0.08)
    assert found.spread < 0.08 / 25
    assert abs(found.surprise) < 3


def test_the_spread_that_pairs_have_of_their_own_is_found():
    rng, own = np.random.default_rng(1), 0.5
    residuals = 5 * rng.standard_normal(4000) + 25 * own * rng.standard_normal(4000)
    found = measure(cells(residuals, variance=25.0, information=25.0))
    assert found.spread**0.5 == pytest.approx(own, rel=0.05)
    assert found.misfit == pytest.approx(1 + 25 * own**2, rel=0.1)
    assert found.surprise > 20


def test_what_the_fit_absorbs_takes_freedom():
    found = measure(cells(np.zeros(10), variance=25.0, information=25.0, leverage=0.7))
    assert found.freedom == pytest.approx(3)
    assert (found.misfit, found.spread) == (0.0, 0.0)
    assert measure(cells(np.zeros(10), 25.0, 25.0, leverage=1.0)).misfit is None
    assert Dispersion(chi_square=0.0, freedom=0.0, spread=0.0).surprise == 0.0


def test_one_upset_in_a_hopeless_pair_is_no_misfit():
    found = measure(cells(np.array([1.0]), variance=1e-4, information=1e-4))
    assert found.chi_square == 4.0


def test_an_interval_reaches_further_where_the_spread_had_to_be_estimated():
    plain, spread = (Dispersion(chi_square=9.0, freedom=4.0, spread=s) for s in (0.0, 0.1))
    assert plain.reach(0.95) == pytest.approx(1.96, abs=0.001)
    assert spread.reach(0.95) == pytest.approx(stdtrit(8, 0.975), rel=0.01)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("freedom", [5, 8, 20, 300])
def test_students_quantile(confidence, freedom):
    assert student(confidence, freedom) == pytest.approx(stdtrit(freedom, (1 + confidence) / 2), rel=0.03)


def test_a_cell_with_few_units_has_the_pooled_variance_and_one_with_many_its_own():
    deviations, units = np.array([0.0, 0.0, 40000.0]), np.array([1.0, 2.0, 10001.0])
    found = unit_variance(deviations, units, np.full(3, 2.0))
    assert found == pytest.approx([2.0, 1.96, 4.0], rel=0.01)


def test_the_laplacian_is_the_sum_over_cells():
    first, second, weights = np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.0, 2.0, 3.0])
    wanted = np.zeros((3, 3))
    for i, j, weight in zip(first, second, weights, strict=True):
        z = np.eye(3)[i] - np.eye(3)[j]
        wanted += weight * np.outer(z, z)
    assert laplacian(first, second, weights, 3) == pytest.approx(wanted)
