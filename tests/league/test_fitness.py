"""Fitness: what batches and credits count of it, and its parts."""

import numpy as np

from league.fitness import FIELDS, Fitness, join_fitness


def fitness(count, first=0):
    numbers = np.arange(first, first + count)
    return Fitness(
        "hero",
        2,
        offset=numbers,
        sign=np.where(numbers % 2, -1, 1).astype(np.int8),
        returned=numbers * 0.5,
        decisions_made=(numbers + 1).astype(np.int32),
        version=np.full(count, 7, np.int32),
    )


def test_it_counts_episodes_and_knows_its_decisions():
    found = fitness(4)
    assert (found.units, found.lane_units.tolist(), found.lane_decisions.tolist()) == (4, [1] * 4, [1, 2, 3, 4])


def test_lanes_joined_again_are_the_whole():
    whole = fitness(5)
    again = join_fitness([whole.lanes(0, 2), whole.lanes(2, 5)])
    assert (again.player, again.incarnation) == ("hero", 2)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
        assert getattr(again, name).dtype == getattr(whole, name).dtype
