"""Pairs: growth keeps everything, arrays there and back are the same table, an unknown player reads an empty row."""

import numpy as np
import pytest

from league.ids import PlayerId
from league.pairs import SMALLEST_CAPACITY, Field, Pairs
from league.payoff import FIELDS, Payoff

A, B, C = PlayerId("a"), PlayerId("b"), PlayerId("c")
COUNTS = {"games": Field("q"), "score": Field("d", 0.5)}


def played(results):
    payoff = Payoff()
    for a, b, outcome in results:
        payoff.record(a, b, outcome)
    return payoff


def test_rows_come_in_order_and_reading_adds_nobody():
    pairs = Pairs(COUNTS)
    assert [pairs.index(player) for player in (A, B, A)] == [0, 1, 0]
    assert (pairs.find(A), pairs.find(C)) == (0, 2)
    assert pairs.find_all([B, C, A]).tolist() == [1, 2, 0]
    assert pairs.players == [A, B]


def test_both_views_have_the_same_bytes_also_after_growth():
    pairs = Pairs(COUNTS)
    for number in range(SMALLEST_CAPACITY):
        pairs.index(PlayerId(f"p{number}"))
    assert pairs.capacity == 2 * SMALLEST_CAPACITY, "one row stays empty"
    pairs.flat["games"][3 * pairs.capacity + 5] = 7
    assert pairs.matrix["games"][3, 5] == 7
    assert pairs.matrix["games"].sum() == 7
    assert np.unique(pairs.matrix["score"]).tolist() == [0.5], "a new pair has the start of its field"


def test_a_table_with_players_loads_nothing():
    players, arrays = Pairs(COUNTS).to_arrays()
    pairs = Pairs(COUNTS)
    pairs.index(A)
    with pytest.raises(ValueError, match="load only into a new table"):
        pairs.load(players, arrays)


def test_growth_keeps_everything():
    many = [PlayerId(f"m{i}") for i in range(200)]
    payoff = Payoff()
    for i, player in enumerate(many):
        assert payoff.index(player) == i
        payoff.record_return(player, player, float(i))
        if i:
            payoff.record(player, many[i // 2], 1.0)
        assert payoff.score(player, PlayerId("unknown")) == 0.5  # a row is always left for those
    for i, player in enumerate(many[1:], start=1):
        assert payoff.raw(player, many[i // 2])[0] == 1
        assert payoff.mean_returns([player])[0, 0] == i


def test_equality_sees_one_game():
    assert played([(A, B, 1.0)]) == played([(A, B, 1.0)])
    assert played([(A, B, 1.0)]) != played([(A, B, 0.5)])
    assert played([(A, B, 1.0)]) != played([(B, A, 0.0)])  # the order of rows is part of it
    assert played([]) != 3


def test_arrays_are_copies():
    payoff = played([(A, B, 1.0)])
    _, arrays = payoff.to_arrays()
    arrays["wins"][:] = 77
    assert payoff.games(A, B) == 1


def test_arrays_that_do_not_fit_are_refused():
    players, arrays = played([(A, B, 1.0)]).to_arrays()
    with pytest.raises(ValueError, match="shape"):
        Payoff.from_arrays([*players, C], arrays)
    with pytest.raises(ValueError, match="wins"):
        Payoff.from_arrays(players, {n: a for n, a in arrays.items() if n != "wins"})
    with pytest.raises(ValueError, match="each player once"):
        Payoff.from_arrays([A, A], arrays)
    assert set(arrays) == set(FIELDS)
