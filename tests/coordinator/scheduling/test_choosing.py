"""Random choices of the scheduler: they follow from the ticket's number alone."""

import numpy as np

from coordinator.scheduling.choosing import TicketRandomness, any_of, least_played
from league.ticket import Entry


def test_the_numbers_of_a_ticket_follow_from_its_key():
    randomness = TicketRandomness()
    first = randomness.of(7, 1).random(3).tolist()
    other = randomness.of(7, 2).random(3).tolist()
    assert randomness.of(7, 1).random(3).tolist() == first != other
    key = np.array([7, 1], np.uint64)
    assert np.random.Generator(np.random.Philox(key=key)).random(3).tolist() == first


def test_a_single_seat_costs_no_random_number():
    rng = np.random.default_rng(0)
    assert any_of([4], rng) == 4
    assert rng.random() == np.random.default_rng(0).random()
    assert {any_of([1, 3], rng) for _ in range(50)} == {1, 3}


def test_who_played_least_is_chosen_and_ties_are_shared():
    a, b, c = (Entry(name) for name in "abc")
    rng = np.random.default_rng(0)
    assert {least_played([a, b, c], [2.0, 1.0, 3.0], rng).player for _ in range(20)} == {"b"}
    assert {least_played([a, b, c], [1.0, 1.0, 3.0], rng).player for _ in range(50)} == {"a", "b"}
