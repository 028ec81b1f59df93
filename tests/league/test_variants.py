"""Variants divide the seeds among themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.ids import SEED_BITS
from league.ticket import Entry, Purpose, Ticket, episode_seeds
from league.variants import MOST_VARIANTS, WHEEL, seed_in, spin, variant_number, variant_numbers

weights = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=6), st.floats(1e-6, 1e6), min_size=1, max_size=MOST_VARIANTS
)
seeds = st.integers(0, 2**SEED_BITS - 1)


@given(weights)
def test_variants_divide_the_whole_wheel_and_each_has_a_part(given_weights):
    variants = spin(given_weights)
    assert [variant.name for variant in variants] == list(given_weights)
    assert [variant.begin for variant in variants] == [0, *(variant.end for variant in variants[:-1])]
    assert variants[-1].end == WHEEL
    assert all(variant.end > variant.begin for variant in variants)
    total = sum(given_weights.values())
    assert [v.share for v in variants] == pytest.approx([w / total for w in given_weights.values()], abs=2e-3)


@given(weights, seeds, st.data())
def test_a_seed_can_be_made_one_of_any_variant(given_weights, seed, data):
    variants = spin(given_weights)
    wanted = data.draw(st.integers(0, len(variants) - 1))
    made = seed_in(seed, variants[wanted])
    assert variant_number(made, variants) == wanted
    assert 0 <= made < 2**SEED_BITS
    assert made // WHEEL == seed // WHEEL, "seeds of different deals stay different"


def test_random_seeds_play_each_variant_with_its_weight():
    variants = spin({"small": 3.0, "large": 1.0})
    found = variant_numbers(np.random.default_rng(0).integers(2**SEED_BITS, size=20_000), variants)
    assert np.bincount(found) / 20_000 == pytest.approx([0.75, 0.25], abs=0.01)


def test_all_episodes_of_a_ticket_are_of_its_variant_and_a_pair_has_one_seed():
    variants = spin({"small": 3.0, "large": 1.0})
    ticket = Ticket(number=7, purpose=Purpose.EVALUATE, entries=(Entry("a"), Entry("b")), episodes=8, turn=2)
    free, bound = (
        episode_seeds(1, one, 0, range(8))
        for one in (
            ticket,
            Ticket(**{f: getattr(ticket, f) for f in ticket.__struct_fields__} | {"variant": variants[1]}),
        )
    )
    assert {variant_number(seed, variants) for seed in bound} == {1}
    assert bound[::2] == bound[1::2]
    assert len(set(bound)) == len(set(free)) == 4
