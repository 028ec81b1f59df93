"""How many episodes a check can afford."""

from hypothesis import given
from hypothesis import strategies as st

from collectors.pace import Pace, TimeBudget


@given(st.floats(0, 10), st.floats(1e-4, 100), st.floats(0, 1000), st.integers(1, 16), st.integers(1, 64))
def test_what_is_afforded_fits_or_is_the_least(build, episode, seconds, slots, episodes):
    pace = Pace(build, episode)
    count, wide = pace.afford(seconds, slots, episodes)
    assert 1 <= count <= episodes
    assert wide <= max(slots, 2)
    assert count == 1 or pace.cost(count, wide) <= seconds


def test_a_budget_is_never_negative():
    assert TimeBudget(0.0).left == 0.0
    assert 0 < TimeBudget(60.0).left <= 60.0
