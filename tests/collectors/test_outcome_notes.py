"""What random play shows about who wins: what is said, and when nothing is."""

import numpy as np
import pytest

from collectors.envs.config import EnvConfig
from collectors.outcome_notes import ENOUGH, look_at_outcomes
from collectors.played_episodes import PlayedEpisodes, from_transcripts
from league.spec import Array, EnvSpec, Seat


def spec_of(*seats):
    agents = tuple(f"agent_{i}" for i in range(sum(len(seat.agents) for seat in seats)))
    return EnvSpec("toy", agents, seats, Array((1,), "float32"), actions=2)


DUEL = spec_of(Seat((0,)), Seat((1,)))
ROLES = spec_of(Seat((0,), "tiger"), Seat((1,), "deer"))
FOUR = spec_of(*(Seat((i,)) for i in range(4)))
NOISE = np.random.default_rng(0).normal(size=(16, 4))


def seen(spec, returns, ranks=None, config=None, present=None):
    table = np.array(returns, float)
    there = np.ones(table.shape, bool) if present is None else np.array(present)
    rule, notes = look_at_outcomes(spec, PlayedEpisodes(table, there, ranks or [None] * len(table)), config)
    return rule, [(note.text, note.grave) for note in notes]


def zero_sum(values):
    return np.stack([values, -values], axis=1)


def test_a_zero_sum_game_of_two_has_nothing_to_say():
    assert seen(DUEL, zero_sum(NOISE[:, 0])) == ("the highest return wins", [])
    assert seen(DUEL, zero_sum(np.ones(16)))[1] == [], "the first seat always won: seats are swapped"
    assert seen(DUEL, zero_sum(NOISE[:, 0]) + 0.5)[1] == [], "a constant sum is as good"


def test_equal_returns_look_co_operative():
    ((text, grave),) = seen(DUEL, np.repeat(NOISE[:, :1], 2, axis=1))[1]
    assert grave
    assert "the same return in each of 16 episodes" in text
    assert """env.sides='["all", "all"]' league=cooperative""" in text
    assert seen(spec_of(Seat((0,), side="x"), Seat((1,), side="x")), np.ones((16, 2)))[1] == []


def test_equal_returns_say_nothing_where_the_environment_names_the_winner():
    rule, notes = seen(DUEL, np.ones((16, 2)), ranks=[(0, 1)] * 16)
    assert rule == "the winner that its infos name wins, else the highest return"
    assert notes == []


@pytest.mark.parametrize("noise", [0.1, 2.0])
def test_returns_that_rise_and_fall_together(noise):
    notes = seen(DUEL, 3 * NOISE[:, :1] + noise * NOISE[:, 1:3])[1]
    assert ("rise and fall together" in notes[0][0]) == (noise < 1)


def test_teams_are_found_by_their_returns():
    teams = NOISE[:, [0, 1, 0, 1]] + 0.05 * NOISE
    ((text, grave),) = seen(FOUR, teams)[1]
    assert grave
    assert "agent_0 and agent_2 go together" in text
    assert """env.sides='["agent_0", "agent_1", "agent_0", "agent_1"]'""" in text
    right = spec_of(*(Seat((i,), side="ab"[i % 2]) for i in range(4)))
    assert not any(grave for _, grave in seen(right, teams)[1])
    wrong = spec_of(Seat((0, 1)), Seat((2, 3)))
    assert """env.seats='[["agent_0", "agent_2"], ["agent_1", "agent_3"]]'""" in seen(wrong, teams)[1][0][0]
    assert not any(grave for _, grave in seen(FOUR, teams[: ENOUGH - 1])[1]), "too few episodes to say so"


def test_a_role_that_is_always_ahead():
    returns = np.array([[9.0, -9.0]]) + NOISE[:, :2]
    (text,) = [text for text, grave in seen(ROLES, returns)[1] if grave]
    assert text.startswith(
        "tiger returned more than deer in all of 16 episodes: returns of these roles are not comparab"
    )
    assert "env.outcome" in text
    returns[3] = (0.0, 1.0)
    assert not any(grave for _, grave in seen(ROLES, returns)[1]), "once it was behind"
    judged = EnvConfig(outcome="mine:judge")
    assert not any(grave for _, grave in seen(ROLES, [[9.0, -9.0]] * 16, [(0, 1)] * 16, judged)[1])


def test_a_general_sum_says_what_ranks():
    returns = NOISE[:, :2]
    assert seen(DUEL, returns)[1][0][0].startswith("not zero-sum: the highest return wins; returns are shown beside")
    margin = EnvConfig(draw_margin=0.5)
    rule, notes = seen(DUEL, returns, [(0, 1)] * 16, margin)
    assert rule == "the highest return wins, by more than 0.5"
    assert rule in notes[0][0]


def test_who_is_away_is_named_and_left_out():
    present = np.ones((16, 4), bool)
    present[:3, 2] = False
    notes = seen(FOUR, NOISE, present=present)[1]
    assert notes[0] == ("agent 'agent_2' did not take part in 3 of 16 episodes; it has no rank there", False)
    shared = np.where(present, 5.0, 0.0)
    assert "the same return" in seen(FOUR, shared, present=present)[1][1][0]


def test_no_episodes_say_nothing():
    rule, notes = look_at_outcomes(DUEL, from_transcripts(DUEL, ()), EnvConfig())
    assert (rule, list(notes)) == ("the highest return wins", [])
