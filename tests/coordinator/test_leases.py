"""Leases: progress renews them, talk does not."""

import pytest

from coordinator.leases import Leases


@pytest.fixture
def leases():
    leases = Leases(30.0)
    leases.grant(1, 0, "a", 100.0)
    return leases


def test_a_lease_expires_without_progress(leases):
    assert leases.expired(129.9) == []
    assert leases.expired(130.0) == [1]


def test_progress_renews_and_talk_does_not(leases):
    leases.renew(1, 0, "a", 5, 110.0)
    leases.renew(1, 0, "a", 5, 130.0)
    assert leases.expired(139.9) == []
    assert leases.expired(140.0) == [1]


def test_the_first_word_counts_as_progress(leases):
    leases.renew(1, 0, "a", 0, 120.0)
    assert leases.expired(149.0) == []


def test_only_its_holder_renews_a_lease(leases):
    leases.renew(1, 0, "b", 99, 120.0)
    assert leases.holder(1) == "a"
    assert leases.expired(130.0) == [1]


def test_after_a_restart_whoever_has_a_ticket_claims_it():
    leases = Leases(30.0)
    leases.grant(1, 0, "", 0.0)
    leases.renew(1, 0, "a", 7, 20.0)
    leases.renew(1, 0, "b", 8, 25.0)
    assert leases.holder(1) == "a"
    assert leases.expired(49.0) == []
    assert leases.expired(50.0) == [1]


def test_waiting_tickets_come_in_order_and_have_no_lease(leases):
    leases.grant(2, 0, "a", 100.0)
    leases.enqueue(2)
    leases.enqueue(1)
    assert list(leases.waiting) == [2, 1]
    assert len(leases) == 0
    assert leases.expired(1e9) == []
    assert leases.holder(1) is None
    leases.grant(2, 1, "b", 200.0)
    assert list(leases.waiting) == [1]
    assert leases.holder(2) == "b"


def test_what_is_settled_is_forgotten(leases):
    leases.grant(2, 0, "a", 100.0)
    leases.enqueue(2)
    leases.end(1)
    leases.end(2)
    leases.end(3)
    assert (len(leases), list(leases.waiting)) == (0, [])


def test_the_tickets_of_one_session(leases):
    leases.grant(2, 0, "b", 100.0)
    leases.grant(3, 0, "a", 100.0)
    assert leases.held_by("a") == [1, 3]
    assert leases.held_by("c") == []


def test_the_tickets_of_a_process_are_listed_by_how_long_it_has_held_them():
    leases = Leases(30.0)
    for ticket, holder in [(5, "c0 s1"), (2, "c1 s"), (3, "c0 s2"), (9, "c0 s1"), (4, "")]:
        leases.grant(ticket, 0, holder, 100.0)
    leases.enqueue(2)
    assert leases.oldest_by_name(2) == {"c0": [5, 3], "": [4]}
    assert leases.count_by_name() == {"c0": 3, "": 1}
