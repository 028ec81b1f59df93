"""Seeds derived from names: stable, different for each part, and small enough for every environment."""

from hypothesis import given, settings
from hypothesis import strategies as st

from league.ids import SEED_BITS, derive_seed


@settings(deadline=None)
@given(st.lists(st.integers() | st.text(), max_size=5))
def test_a_seed_is_stable_and_fits_every_environment(parts):
    assert derive_seed(*parts) == derive_seed(*parts)
    assert 0 <= derive_seed(*parts) < 2**SEED_BITS


def test_seeds_are_the_same_on_every_machine_and_differ_by_every_part():
    assert derive_seed(1, "ticket", 7) == 813299650  # printf 1/ticket/7 | b2sum -l 64: the first 31 bits
    others = {derive_seed(*parts) for parts in ((1, "ticket", 7), (2, "ticket", 7), (1, "init", 7), (1, "ticket", 8))}
    assert len(others) == 4
