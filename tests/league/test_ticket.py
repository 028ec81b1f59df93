"""Tickets: seats change hands fairly, and every episode has a seed of its own."""

from collections import Counter

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from league.ids import Hash, PlayerId, TicketNumber
from league.ticket import Entry, Purpose, Ticket, episode_seed, episode_seeds, seating, side_seats, turns

roles = st.lists(st.sampled_from(["fox", "hound", "player"]), min_size=1, max_size=6)


@settings(deadline=None)
@given(roles, st.integers(0, 50))
def test_every_entry_sits_in_exactly_one_seat_of_its_role(names, episode):
    order = seating(names, episode)
    assert sorted(order) == list(range(len(names)))
    assert [names[entry] for entry in order] == names


@settings(deadline=None)
@given(roles)
def test_over_a_full_turn_each_entry_sits_equally_often_in_each_seat_of_its_role(names):
    turn = 60  # divisible by every possible size of a group
    seats = Counter((seat, entry) for e in range(turn) for seat, entry in enumerate(seating(names, e)))
    for (seat, _), times in seats.items():
        assert times == turn / names.count(names[seat])


def test_two_seats_swap_every_episode():
    assert [seating(["player", "player"], e) for e in range(3)] == [(0, 1), (1, 0), (0, 1)]


def test_different_roles_never_swap():
    assert {seating(["fox", "hound"], e) for e in range(4)} == {(0, 1)}


@st.composite
def tables(draw):
    """Roles and sides of up to six seats."""
    names = draw(roles)
    return names, [draw(st.integers(0, 2)) for _ in names]


@settings(deadline=None)
@given(tables(), st.integers(0, 50))
def test_team_mates_stay_together(table, episode):
    names, sides = table
    order = seating(names, episode, sides)
    assert sorted(order) == list(range(len(names)))
    assert [names[entry] for entry in order] == names
    pairs = [(i, j) for i in range(len(names)) for j in range(len(names))]
    assert all((sides[i] == sides[j]) == (sides[order[i]] == sides[order[j]]) for i, j in pairs)


@settings(deadline=None)
@given(tables())
def test_a_full_turn_is_fair_and_then_begins_again(table):
    names, sides = table
    turn = turns(names, sides)
    assert seating(names, turn, sides) == seating(names, 0, sides) == tuple(range(len(names)))
    times = Counter((seat, entry) for e in range(turn) for seat, entry in enumerate(seating(names, e, sides)))
    for seat in range(len(names)):
        assert len({count for (where, _), count in times.items() if where == seat}) == 1


def evaluation(number, turn=1):
    entries = (Entry(PlayerId("m")), Entry(PlayerId("r")))
    return Ticket(number=TicketNumber(number), purpose=Purpose.EVALUATE, entries=entries, episodes=16, turn=turn)


def test_seeds_depend_on_every_part():
    seeds = {
        episode_seed(run, evaluation(ticket), attempt, episode)
        for run in range(4)
        for ticket in range(4)
        for attempt in range(4)
        for episode in range(4)
    }
    assert len(seeds) == 4**4


def test_the_episodes_of_a_turn_share_a_seed():
    paired, single = (episode_seeds(3, evaluation(7, turn), 1, range(6)) for turn in (2, 1))
    assert paired[::2] == paired[1::2] == single[:3]
    assert len(set(single)) == 6


def test_the_first_seat_changes_sides_within_a_turn():
    assert side_seats(("player",) * 2, (0, 1)) == ((0, 1), (1, 0))
    assert side_seats(("fox", "hound"), (0, 1)) == ((0, 1),), "other roles never change seats"
    for seats in side_seats(("player",) * 4, (0, 0, 1, 1)):
        assert sorted(seats) == [0, 0, 2, 2]
        assert seats[0] == seats[1] != seats[2] == seats[3]


def test_a_ticket_survives_the_wire():
    ticket = Ticket(
        number=TicketNumber(7),
        purpose=Purpose.TRAIN,
        entries=(Entry(PlayerId("m")), Entry(PlayerId("m.0"), Hash("h")), Entry(PlayerId("r"), bot="random")),
        episodes=8,
        trains=(PlayerId("m"),),
        attempt=2,
    )
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(ticket), type=Ticket) == ticket
