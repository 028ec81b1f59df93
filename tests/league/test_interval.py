"""Wilson intervals: known answers, always around the score, narrower with more games."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.interval import quantile, wilson


def test_wilson_known_answers():
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


@settings(deadline=None)
@given(st.floats(0, 1e4), st.floats(0, 1), st.floats(0.5, 0.999))
def test_wilson_holds_the_score_and_narrows_with_games(count, score, confidence):
    low, high = wilson(count * score, count, confidence)
    more_low, more_high = wilson(10 * count * score, 10 * count, confidence)
    assert 0 <= low <= high <= 1
    if count > 0:
        assert low - 1e-9 <= score <= high + 1e-9
    assert more_high - more_low <= high - low + 1e-12


def test_a_confidence_of_one_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(1.0)
