"""Who sits where, what each entry earned, and which actions are kept."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.envs.outcomes import rank_alone
from collectors.envs.rows import Ends, Rows
from collectors.seating import (
    ACTION_BYTES,
    HeldTicket,
    Seating,
    episodes_to_record,
    pack_actions,
    same_cast,
    unpack_actions,
)
from league.spec import Array, EnvSpec, Seat
from league.ticket import Entry, Episode, Purpose, Ticket


def spec_of(*seats, agents=None, actions=4):
    count = agents or sum(len(seat.agents) for seat in seats)
    return EnvSpec(
        name="game",
        agents=tuple(f"agent_{i}" for i in range(count)),
        seats=seats,
        observation=Array((1,), "float32"),
        actions=actions,
    )


DUEL = spec_of(Seat((0,)), Seat((1,)))
TEAMS = spec_of(Seat((0, 2)), Seat((1, 3)))
HUNT = spec_of(Seat((0,), "fox"), Seat((1,), "hound"), Seat((2,), "hound"))


def ticket_of(spec, episodes=2, purpose=Purpose.EVALUATE, number=1):
    entries = tuple(Entry(f"player_{i}") for i in range(len(spec.seats)))
    return Ticket(number=number, purpose=purpose, entries=entries, episodes=episodes)


def rows_of(*rows):
    slot, agent, reward = zip(*rows, strict=True)
    return Rows(
        slot=np.array(slot, np.int32),
        agent=np.array(agent, np.int32),
        observation=np.zeros((len(rows), 1), np.float32),
        mask=np.ones((len(rows), 4), np.bool_),
        reward=np.array(reward, np.float32),
        first=np.zeros(len(rows), np.bool_),
    )


def ends_of(*ends, over=()):
    slot, agent, reward = zip(*ends, strict=True) if ends else ((), (), ())
    return Ends(
        slot=np.array(slot, np.int32),
        agent=np.array(agent, np.int32),
        reward=np.array(reward, np.float32),
        truncated=np.zeros(len(ends), np.bool_),
        observation=np.zeros((len(ends), 1), np.float32),
        over=np.array(over, np.int32),
    )


def seated(spec, episodes, slots=None, record=None):
    """Seat the first episodes of a ticket, one in each slot; entry i is played by actor 10 + i."""
    seating = Seating(spec, slots or episodes)
    ticket = ticket_of(spec, episodes)
    playing = HeldTicket(ticket, episodes if record is None else record)
    begin(seating, playing, episodes)
    return seating, playing


def begin(seating, playing, room):
    """Seat the next episodes of a ticket in as many free slots."""
    actors = [10 + i for i in range(len(seating.spec.seats))]
    seating.begin([seating.reserve(playing, same_cast(actors), room)])


def act(seating, *rows, actions=None):
    return seating.add_moves(rows_of(*rows), np.array(actions or [0] * len(rows), np.int32))


def test_two_interchangeable_seats_are_swapped_in_every_other_episode():
    seating, _ = seated(DUEL, 4)
    assert seating.entry.tolist() == [[0, 1], [1, 0], [0, 1], [1, 0]]
    assert seating.actor.tolist() == [[10, 11], [11, 10], [10, 11], [11, 10]]


def test_episodes_of_several_tickets_begin_at_once():
    seating = Seating(DUEL, 4)
    one, two = HeldTicket(ticket_of(DUEL, 2), record=0), HeldTicket(ticket_of(DUEL, 4), record=1)
    slots = seating.begin(
        [seating.reserve(one, same_cast([10, 11]), room=4), seating.reserve(two, same_cast([12, 13]), room=2)]
    )
    assert slots.tolist() == [0, 1, 2, 3]
    assert seating.actor.tolist() == [[10, 11], [11, 10], [12, 13], [13, 12]]
    assert all(found is one for found in seating.tickets[:2])
    assert all(found is two for found in seating.tickets[2:])
    assert (one.unstarted, two.unstarted) == (0, 2)


def test_only_seats_of_the_same_role_are_swapped():
    seating, _ = seated(HUNT, 2)
    assert seating.entry.tolist() == [[0, 1, 2], [0, 2, 1]]


def test_later_episodes_of_a_ticket_go_on_with_the_rotation():
    seating, playing = seated(DUEL, 1, slots=2)
    playing.ticket = ticket_of(DUEL, 3)
    begin(seating, playing, room=1)
    assert seating.entry.tolist() == [[0, 1], [1, 0]]
    assert playing.started == 2
    assert playing.unstarted == 1


def test_outcomes_are_told_for_entries_whatever_their_seats():
    seating, playing = seated(DUEL, 2)
    assert act(seating, (0, 0, 0.0), (1, 0, 0.0)) == 2
    assert act(seating, (0, 1, 0.0), (1, 1, 0.0)) == 2
    assert playing.result() is None
    touched = seating.finish(ends_of((0, 0, 1.0), (0, 1, -1.0), (1, 0, 1.0), (1, 1, -1.0), over=(0, 1)))
    assert touched == [playing, playing]
    first, second = playing.result().episodes
    assert (first.returns, first.ranks, first.length) == ((1.0, -1.0), (0, 1), 2)
    assert (second.returns, second.ranks) == ((-1.0, 1.0), (1, 0))
    assert sorted(seating.free) == [0, 1]


def test_what_an_agent_earned_before_it_died_counts():
    seating, playing = seated(DUEL, 1)
    act(seating, (0, 0, 0.5), (0, 1, 0.0))
    assert seating.finish(ends_of((0, 0, 4.0))) == []  # the episode goes on without it
    act(seating, (0, 1, 1.0))
    seating.finish(ends_of((0, 1, 1.0), over=(0,)))
    assert playing.result().episodes[0].returns == (4.5, 2.0)


def test_a_seat_is_as_good_as_its_agents_on_average_whoever_sits_there():
    seating, playing = seated(spec_of(Seat((0, 1, 2)), Seat((3,))), 2)
    paid = [(slot, agent, 1.0 if agent < 3 else 2.0) for slot in (0, 1) for agent in range(4)]
    seating.finish(ends_of(*paid, over=(0, 1)))  # 1 for each of three agents is worse than 2 for one
    first, second = playing.result().episodes
    assert (first.returns, first.ranks) == ((3.0, 2.0), (1, 0))
    assert (second.returns, second.ranks) == ((2.0, 3.0), (0, 1))


def test_a_team_earns_what_its_agents_earn():
    seating, playing = seated(TEAMS, 2)
    everybody = [(slot, agent, 0.0) for slot in (0, 1) for agent in range(4)]
    assert act(seating, *everybody) == 2  # agents that act at the same time make one step
    rewards = (1.0, 0.25, 2.0, 0.5)
    ends = [(slot, agent, rewards[agent]) for slot in (0, 1) for agent in range(4)]
    seating.finish(ends_of(*ends, over=(1, 0)))
    first, second = playing.result().episodes
    assert (first.returns, first.length) == ((3.0, 0.75), 1)
    assert (second.returns, second.ranks) == ((0.75, 3.0), (1, 0))


def test_a_slot_begins_its_next_episode_with_nothing():
    seating, playing = seated(DUEL, 1, record=2)
    playing.ticket = ticket_of(DUEL, 2)
    act(seating, (0, 0, 0.0), actions=[3])
    seating.finish(ends_of((0, 0, 5.0), over=(0,)))
    begin(seating, playing, room=1)
    act(seating, (0, 0, 0.0), actions=[2])
    seating.finish(ends_of((0, 0, 1.0), over=(0,)))
    second = playing.result().episodes[1]
    assert (second.returns, second.length, second.actions) == ((0.0, 1.0), 1, b"\x02")


def test_episodes_are_told_in_their_order_not_in_the_order_they_ended():
    seating, playing = seated(DUEL, 3)
    for slot in (2, 0, 1):
        for _ in range(slot + 1):
            act(seating, (slot, 0, 0.0))
        seating.finish(ends_of(over=(slot,)))
    assert [episode.length for episode in playing.result().episodes] == [1, 2, 3]


def test_a_revoked_ticket_has_no_result_and_nothing_left_to_start():
    seating, playing = seated(DUEL, 1)
    playing.revoked = True
    seating.finish(ends_of(over=(0,)))
    assert playing.result() is None
    playing.ticket = ticket_of(DUEL, 9)
    assert playing.unstarted == 0


def test_a_broken_slot_is_free_again():
    seating, playing = seated(DUEL, 2)
    assert seating.abandon(1) is playing
    assert list(seating.free) == [1]
    assert seating.tickets == [playing, None]


@pytest.mark.parametrize(
    ("returns", "ranks"),
    [([3.0, 1.0, 2.0], [0, 2, 1]), ([1.0, 1.0, 0.0], [0, 0, 2]), ([0.0, 0.0], [0, 0]), ([5.0], [0])],
)
def test_ranks(returns, ranks):
    assert rank_alone(np.array(returns)).tolist() == ranks


@given(st.integers(1, 70_000).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), max_size=50))))
def test_packed_actions_come_back(case):
    choices, actions = case
    spec = spec_of(Seat((0,)), actions=choices)
    packed = pack_actions(np.array(actions, np.int32), spec)
    assert unpack_actions(packed, spec).tolist() == actions
    assert len(packed) == len(actions) * (1 if choices <= 256 else 2 if choices <= 65536 else 4)


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(-1, 1, width=32)), max_size=50))
def test_packed_vectors_come_back(actions):
    spec = msgspec.structs.replace(DUEL, actions=3, choices=(3,), continuous=1)
    given = np.array(actions, np.float32).reshape(-1, 2)
    back = unpack_actions(pack_actions(given, spec), spec)
    np.testing.assert_array_equal(back, given)
    assert back.dtype == np.float32


def test_actions_are_kept_in_the_order_of_rows_also_beyond_the_first_buffer():
    seating, playing = seated(DUEL, 2)
    rng = np.random.default_rng(0)
    kept = {0: [], 1: []}
    for _ in range(200):
        rows = [(slot, agent, 0.0) for slot in (0, 1) for agent in (0, 1) if rng.random() < 0.7]
        if rows:
            actions = rng.integers(4, size=len(rows)).tolist()
            act(seating, *rows, actions=actions)
            for (slot, _, _), action in zip(rows, actions, strict=True):
                kept[slot].append(action)
    seating.finish(ends_of(over=(0, 1)))
    assert len(kept[0]) > 128
    for slot, episode in enumerate(playing.result().episodes):
        assert unpack_actions(episode.actions, DUEL).tolist() == kept[slot]


def test_one_tick_may_need_more_room_than_the_buffer_has():
    crowd = spec_of(Seat(tuple(range(300))), actions=400)
    seating, playing = seated(crowd, 1)
    rows = rows_of(*((0, agent, 0.0) for agent in range(300)))
    assert seating.add_moves(rows, np.arange(300, dtype=np.int32)) == 1
    seating.finish(ends_of(over=(0,)))
    assert unpack_actions(playing.result().episodes[0].actions, crowd).tolist() == list(range(300))


def test_only_the_first_episodes_keep_their_actions_if_so_told():
    seating, playing = seated(DUEL, 2, record=1)
    act(seating, (0, 0, 0.0), (1, 0, 0.0), actions=[1, 2])
    seating.finish(ends_of(over=(0, 1)))
    assert [episode.actions for episode in playing.result().episodes] == [b"\x01", b""]


def test_a_result_has_a_bound_of_bytes():
    playing = HeldTicket(ticket_of(DUEL, 3), 3)
    long = Episode((0, 1), (1.0, -1.0), 7, bytes(ACTION_BYTES // 2))
    playing.finished = {0: long, 2: long, 1: long}
    assert [len(e.actions) for e in playing.result().episodes] == [ACTION_BYTES // 2, ACTION_BYTES // 2, 0]
    assert {e.length for e in playing.result().episodes} == {7}


def test_evaluation_keeps_all_actions_and_training_a_share_of_the_tickets():
    assert episodes_to_record(ticket_of(DUEL, 16), 0.0) == 16
    kept = [episodes_to_record(ticket_of(DUEL, 8, Purpose.TRAIN, number=number), 0.01) for number in range(1, 1001)]
    assert sum(kept) == 10
    assert set(kept) == {0, 1}


# --- team spirit ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spirit", "mixed"), [(0.0, [4.0, 0.0, 9.0]), (0.5, [3.0, 1.0, 9.0]), (1.0, [2.0, 2.0, 9.0])])
def test_with_team_spirit_the_rewards_of_a_side_are_mixed_for_learning_and_not_for_the_outcome(spirit, mixed):
    seats = (Seat((0,), side="red"), Seat((1,), side="red"), Seat((2,), side="blue"))
    seating = Seating(spec_of(*seats), slots=1)
    entries = tuple(Entry(f"player_{i}") for i in range(3))
    ticket = Ticket(number=1, purpose=Purpose.TRAIN, entries=entries, episodes=1, trains=("player_0",), spirit=spirit)
    seating.begin([seating.reserve(HeldTicket(ticket, record=0), same_cast([0, 1, 2]), room=1)])
    rows = rows_of((0, 0, 4.0), (0, 1, 0.0), (0, 2, 9.0))
    assert seating.with_training_rewards(rows).reward.tolist() == mixed
    seating.add_moves(rows, np.zeros(3, np.int32))
    assert seating._returns.totals[0].tolist() == [4.0, 0.0, 9.0]
