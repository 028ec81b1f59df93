"""Averages of weights: the formula, the newest statistics, and the checkpoint."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.policies.layout import PolicyConfig, describe
from league.policies.normalising import COUNT, MEAN, VARIANCE
from league.spec import Array, EnvSpec, Seat
from learners.weight_average import WeightAverage

SPEC = EnvSpec("toy", ("a",), (Seat((0,)),), Array((2,), "float32"), actions=2)
PLAIN = describe(PolicyConfig(hidden=[3]), SPEC)
NORMALISING = describe(PolicyConfig(hidden=[3], normalise=True), SPEC)


def versions(count, layout=PLAIN):
    return np.random.default_rng(count).standard_normal((count, layout.size)).astype(np.float32)


@settings(deadline=None, max_examples=30)
@given(decay=st.floats(0.01, 0.999), count=st.integers(1, 40))
def test_it_is_the_weighted_mean_of_all_versions(decay, count):
    average, flats = WeightAverage(decay, PLAIN), versions(count)
    for flat in flats:
        average.add(flat)
    powers = decay ** np.arange(count)[::-1]
    np.testing.assert_allclose(average.read(flats[-1]), powers @ flats / powers.sum(), atol=1e-5)


def test_before_the_first_version_it_is_the_newest_weights():
    (flat,) = versions(1)
    assert WeightAverage(0.9, PLAIN).read(flat) is flat
    assert WeightAverage(0.9, PLAIN).state() == {}


def test_statistics_of_observations_are_the_newest_ones():
    average, flats = WeightAverage(0.9, NORMALISING), versions(5, NORMALISING)
    for flat in flats:
        average.add(flat)
    found, newest = (NORMALISING.views(flat) for flat in (average.read(flats[-1]), flats[-1]))
    for name in (COUNT, MEAN, VARIANCE):
        np.testing.assert_array_equal(found[name], newest[name])
    assert not np.allclose(found["policy.weight"], newest["policy.weight"])


@pytest.mark.parametrize("before", [0, 3])
def test_it_goes_on_from_its_state(before):
    one, other, flats = WeightAverage(0.9, PLAIN), WeightAverage(0.9, PLAIN), versions(6)
    for flat in flats[:before]:
        one.add(flat)
    other.restore(one.state())
    for average in (one, other):
        for flat in flats[before:]:
            average.add(flat)
    np.testing.assert_array_equal(one.read(flats[-1]), other.read(flats[-1]))


def test_what_it_returns_is_a_copy():
    average, flats = WeightAverage(0.5, PLAIN), versions(2)
    average.add(flats[0])
    kept = average.read(flats[0])
    before = kept.copy()
    average.add(flats[1])
    np.testing.assert_array_equal(kept, before)
