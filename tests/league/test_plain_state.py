"""The plain part of a league's state: counts from zero, and nothing shared between states."""

from dataclasses import fields

from league.plain_state import NOT_FOUNDED, TRAINING, PlainState, Tally


def test_what_was_not_counted_is_zero_and_reading_adds_no_key():
    tally = Tally()
    assert tally["a"] == 0
    assert tally == {}
    tally["a"] += 2
    assert tally == {"a": 2}


def test_a_new_state_trains_and_shares_nothing_with_another():
    one, other = PlainState(), PlainState()
    assert (one.phase, one.config_hash, one.tickets) == (TRAINING, NOT_FOUNDED, 0)
    assert one == other
    for field in fields(PlainState):
        value = getattr(one, field.name)
        assert not isinstance(value, dict) or value is not getattr(other, field.name), field.name
