"""The lineup of two players: teams, one side for all, roles that forbid a seat."""

import pytest

from league.lineup import pair_lineup
from league.spec import Array, EnvSpec, Seat


def table(*seats):
    """Return a game with one agent in each seat, given as (role, side)."""
    return EnvSpec(
        name="game",
        agents=tuple(f"agent_{i}" for i in range(len(seats))),
        seats=tuple(Seat((i,), role, side) for i, (role, side) in enumerate(seats)),
        observation=Array((1,), "float32"),
        actions=2,
    )


def anybody(player, role):
    return True


def bound(player, role):
    return role in player


RED_AND_BLUE = table(("lead", "red"), ("wing", "red"), ("lead", "blue"), ("wing", "blue"))
TOGETHER = table(("lead", "all"), ("wing", "all"), ("wing", "all"))


@pytest.mark.parametrize(("place", "expected"), [(0, "FFSS"), (1, "FFSS"), (2, "SSFF"), (3, "SSFF")])
def test_the_first_has_its_side_and_the_second_the_other(place, expected):
    assert "".join(pair_lineup(RED_AND_BLUE, place, "F", "S", anybody)) == expected


def test_on_one_side_the_first_has_only_its_seat_and_those_that_the_second_cannot_take():
    assert pair_lineup(TOGETHER, 1, "F", "S", anybody) == ["S", "F", "S"]
    assert pair_lineup(TOGETHER, 0, "lead and wing", "wing", bound) == ["lead and wing", "wing", "wing"]
    assert pair_lineup(TOGETHER, 1, "lead and wing", "wing", bound) == ["lead and wing", "lead and wing", "wing"]


def test_alone_the_first_never_has_a_second_seat():
    assert "".join(pair_lineup(RED_AND_BLUE, 0, "F", "S", anybody, alone=True)) == "FSSS"
    assert pair_lineup(TOGETHER, 1, "lead and wing", "wing", bound, alone=True) == [None, "lead and wing", "wing"]


def test_a_seat_that_neither_can_take_is_none():
    assert pair_lineup(RED_AND_BLUE, 0, "lead", "lead", bound) == ["lead", None, "lead", None]
