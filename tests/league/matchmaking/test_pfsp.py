"""Prioritised fictitious self-play: weightings with known answers, no nan, and the share of self-play."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_league import ask, exact, frozen, league, scores, shares

from league.ids import PlayerId
from league.matchmaking.config import WEIGHTINGS
from league.matchmaking.pfsp import probabilities
from league.payoff import Payoff

KNOWN = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.99])


@pytest.mark.parametrize(
    ("weighting", "answer"),
    [
        ("hard", [0.491, 0.297, 0.152, 0.055, 0.006, 0.000]),
        ("var", [0.105, 0.244, 0.291, 0.244, 0.105, 0.012]),
        ("capped", [0.262, 0.262, 0.262, 0.157, 0.052, 0.005]),
        ("uniform", [1 / 6] * 6),
        ("linear", [0.358, 0.279, 0.199, 0.120, 0.040, 0.004]),
    ],
)
def test_known_answers(weighting, answer):
    assert probabilities(weighting, KNOWN) == pytest.approx(answer, abs=6e-4)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_everybody_beaten_is_uniform_and_not_nan(weighting):
    assert probabilities(weighting, np.ones(4)).tolist() == [0.25] * 4


def test_var_is_uniform_when_all_is_certain():
    assert probabilities("var", np.array([0.0, 1.0])).tolist() == [0.5, 0.5]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from(WEIGHTINGS))
def test_weights_are_probabilities(values, weighting):
    found = probabilities(weighting, np.array(values))
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()


@settings(deadline=None)
@given(st.lists(st.floats(0, 0.999), min_size=2, max_size=10), st.sampled_from(["hard", "linear", "capped"]))
def test_the_harder_an_opponent_the_more_it_is_met(values, weighting):
    found = probabilities(weighting, np.array(sorted(values)))
    assert (np.diff(found) <= 1e-12).all()


def test_an_unknown_weighting_is_refused():
    with pytest.raises(ValueError, match="choose one of hard"):
        probabilities("soft", KNOWN)


def test_pfsp_mixes_the_live_self_with_weighted_pasts():
    population = league(frozen("m.0", "m"), frozen("n.0", "n"))
    payoff = scores(m__m_0=0.9, m__n_0=0.5)
    found = shares(ask(exact(name="pfsp", self_play=0.2), population, payoff, "m"))
    assert found == {"m*": 0.2, "m.0": 0.8 * 0.01 / 0.26, "n.0": 0.8 * 0.25 / 0.26}


def test_pfsp_without_selfplay_does_without_it():
    population = league(frozen("m.0", "m"))
    assert shares(ask(exact(name="pfsp", self_play=0.0), population, Payoff(), "m")) == {"m.0": 1.0}


def test_an_opponent_beaten_long_ago_comes_back_once_the_player_has_changed():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"))
    payoff = Payoff()
    for _ in range(200):
        payoff.record(PlayerId("m"), PlayerId("m.0"), 1.0)
        payoff.record(PlayerId("m"), PlayerId("m.1"), 0.5)
    config = exact(name="pfsp", self_play=0.0)

    def share():
        return {c.opponent: c.probability for c in ask(config, population, payoff, "m")}[PlayerId("m.0")]

    seldom = share()
    for _ in range(30):
        payoff.scale_row(PlayerId("m"), 0.8)
    assert 0 < seldom < 0.01
    assert share() > 0.3
