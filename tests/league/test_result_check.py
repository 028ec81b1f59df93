"""What a result may say: exactly what the collectors' own ranking, and the ticket, can bring about."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from collectors.envs.outcomes import rank_alone
from collectors.seating import pack_actions
from league.limits import LARGEST_RETURN, LONGEST_EPISODE
from league.result_check import action_bytes, problem
from league.spec import Array, EnvSpec, Seat
from league.ticket import Entry, Episode, Purpose, Ticket


def game(seats=2, **options):
    spec = {"actions": 7, **options}
    agents = tuple(f"agent_{i}" for i in range(seats))
    return EnvSpec("game", agents, tuple(Seat((i,)) for i in range(seats)), Array((3,), "float32"), **spec)


def ticket(seats=2, episodes=1):
    entries = tuple(Entry(f"player_{i}") for i in range(seats))
    return Ticket(number=1, purpose=Purpose.TRAIN, entries=entries, episodes=episodes)


RIGHT = Episode((0, 1), (1.0, -1.0), 9, bytes(9))


def test_what_is_right_is_right():
    assert problem(ticket(episodes=3), [RIGHT] * 3, game()) == ""
    most = Episode((0, 0), (LARGEST_RETURN, -LARGEST_RETURN), LONGEST_EPISODE, bytes(18))
    assert problem(ticket(), [most], game()) == ""


@pytest.mark.parametrize(
    ("episode", "reason"),
    [
        (Episode((-7, 99), (1.0, -1.0), 9), "ranks"),
        (Episode((1, 1), (1.0, -1.0), 9), "ranks"),
        (Episode((0, 2), (1.0, -1.0), 9), "ranks"),
        (Episode((0, -2), (1.0, -1.0), 9), "ranks"),
        (Episode((0,), (1.0, -1.0), 9), "2 entries"),
        (Episode((0, 1), (1.0,), 9), "2 entries"),
        (Episode((0, 1), (1e308, 0.0), 9), "return"),
        (Episode((0, 1), (math.nextafter(LARGEST_RETURN, math.inf), 0.0), 9), "return"),
        (Episode((0, 1), (math.nan, 0.0), 9), "return"),
        (Episode((0, 1), (1.0, -1.0), 2**64 - 1), "moves"),
        (Episode((0, 1), (1.0, -1.0), -1), "moves"),
        (Episode((0, 1), (1.0, -1.0), 9, bytes(19)), "actions"),
    ],
)
def test_what_cannot_be_is_named(episode, reason):
    assert reason in problem(ticket(), [episode], game())
    assert "episodes instead of" in problem(ticket(), [RIGHT, RIGHT], game())


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6), st.sampled_from([0.0, 0.5, 1.0]))
def test_every_ranking_of_a_collector_is_admitted(values, margin):
    ranks = tuple(rank_alone(np.array([values]), margin)[0].tolist())
    episode = Episode(ranks, (0.0,) * len(values), 1)
    assert problem(ticket(len(values)), [episode], game(len(values))) == ""


@pytest.mark.parametrize(
    "env", [game(), game(actions=300), game(actions=70_000), game(actions=5, choices=(2, 3)), game(continuous=3)]
)
def test_the_size_of_actions_is_that_of_packed_ones(env):
    packed = pack_actions(np.zeros((5, *env.action.shape), env.action.dtype), env)
    assert len(packed) == 5 * action_bytes(env)
