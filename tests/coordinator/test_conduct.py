"""Conduct: one that fails alone is at fault; if everybody fails, the environment is."""

import pytest

from coordinator.conduct import Conduct

LIMIT, REST = 5, 30.0
TWO = {"a", "b"}


@pytest.fixture
def conduct():
    return Conduct(LIMIT, REST)


def fault(conduct, name, count, now=0.0):
    for _ in range(count):
        conduct.faulted(name, "on fire", now)


def test_who_fails_everything_while_another_succeeds_is_at_fault(conduct):
    fault(conduct, "a", LIMIT)
    assert not conduct.at_fault("a"), "nobody has shown that it can be done"
    conduct.succeeded("b", 0.0)
    assert conduct.at_fault("a") == "on fire"
    assert not conduct.at_fault("b")


def test_a_result_forgives_what_was_before(conduct):
    fault(conduct, "a", LIMIT - 1)
    conduct.succeeded("b", 0.0)
    conduct.succeeded("a", 0.0)
    fault(conduct, "a", LIMIT - 1)
    conduct.succeeded("b", 0.0)
    assert not conduct.at_fault("a")


def test_in_a_game_that_breaks_for_all_nobody_is_at_fault(conduct):
    for _ in range(4 * LIMIT):
        conduct.faulted("a", "on fire", 0.0)
        conduct.faulted("b", "on fire", 0.0)
    conduct.succeeded("b", 0.0)
    assert not conduct.at_fault("a"), "b fails far more often than not, too"


def test_what_others_did_before_its_first_fault_says_nothing(conduct):
    for _ in range(100):
        conduct.succeeded("b", 0.0)
    fault(conduct, "a", LIMIT)
    fault(conduct, "b", LIMIT)
    assert not conduct.at_fault("a"), "perhaps the disk is full since then"


def test_a_suspect_waits_for_the_others_and_not_for_ever(conduct):
    fault(conduct, "a", LIMIT)
    assert conduct.rests("a", lambda: TWO, REST - 1)
    assert not conduct.rests("a", lambda: TWO, REST), "the others may never play"
    assert not conduct.rests("a", lambda: {"a"}, 0.0), "there is nobody to wait for"
    assert not conduct.rests("b", lambda: TWO, 0.0)
    conduct.faulted("b", "on fire", 0.0)
    assert not conduct.rests("a", lambda: TWO, 0.0), "the other one fails, too"


def test_nobody_succeeds_when_all_who_are_there_failed_since_the_last_result(conduct):
    assert not conduct.nobody_succeeds(set(), 0.0), "nothing happened yet"
    conduct.faulted("a", "on fire", 0.0)
    assert conduct.nobody_succeeds({"a"}, 0.0)
    assert not conduct.nobody_succeeds(TWO, 0.0)
    conduct.faulted("b", "gone", 0.0)
    assert conduct.nobody_succeeds(TWO, 0.0)
    conduct.succeeded("b", 0.0)
    assert not conduct.nobody_succeeds(TWO, 0.0)


def test_who_failed_a_moment_after_a_result_may_only_share_its_name_with_who_succeeds(conduct):
    conduct.succeeded("a", 10.0)
    fault(conduct, "a", 1000, 11.0)
    assert not conduct.nobody_succeeds({"a"}, 11.0), "a stolen key can fail any number of tickets in no time"
    assert conduct.nobody_succeeds({"a"}, 10.0 + REST)
