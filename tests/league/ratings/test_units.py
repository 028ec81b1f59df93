"""Units: Davidson's rule for draws on the scale of scores, and games of a pair that go together."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_league import SimulatedLeague

from league.ratings.bradley_terry import fit_outcomes
from league.ratings.units import draw_chance, draw_variances, unit_ratio


@given(st.floats(0.001, 0.999), st.floats(0.0, 50.0))
def test_draws_follow_davidsons_rule_and_leave_the_score_as_it_is(score, nu):
    drawn = float(draw_chance(np.array([score]), nu)[0])
    won, lost = score - drawn / 2, 1 - score - drawn / 2
    assert won > -1e-12
    assert lost > -1e-12
    assert drawn == pytest.approx(nu * math.sqrt(max(won, 0) * max(lost, 0)), rel=1e-5, abs=1e-9)


def test_the_variance_of_a_game_is_that_of_its_three_outcomes():
    score = np.array([0.7])
    drawn = float(draw_chance(score, 1.0)[0])
    won = 0.7 - drawn / 2
    there, back = draw_variances((score, score), 1.0)
    assert there[0] == back[0] == pytest.approx(won + drawn / 4 - 0.49)


@pytest.mark.parametrize("nu", [0.0, 0.3, 2.0])
def test_the_draws_that_were_planted_are_found(nu):
    league = SimulatedLeague(np.array([0.0, 80.0, 200.0]), pairs=3000, nu=nu)
    assert fit_outcomes(league.play(np.random.default_rng(0)), {0: 0.0}).draw_odds == pytest.approx(nu, rel=0.06)


@pytest.mark.parametrize("together", [0.0, 0.5, 1.0])
def test_games_that_go_together_add_to_the_variance_of_a_pair(together):
    league = SimulatedLeague(np.array([0.0, 30.0, 60.0]), pairs=3000, together=together)
    pairing = fit_outcomes(league.play(np.random.default_rng(1)), {0: 0.0}).pairing
    assert math.exp(pairing.value) == pytest.approx(1 + together, rel=0.05)


def test_a_favoured_seat_is_no_pairing():
    league = SimulatedLeague(np.array([0.0, 30.0, 60.0]), pairs=3000, seat=200.0)
    assert abs(fit_outcomes(league.play(np.random.default_rng(2)), {0: 0.0}).pairing.surprise) < 4


def test_a_cell_that_one_player_always_wins_says_nothing_on_variances():
    found = unit_ratio(np.array([0.0, 0.0]), np.array([0.01, 1000.0]), 1.2)
    assert found[0] == pytest.approx(1.2, rel=0.01)
    assert found[1] < 0.01
