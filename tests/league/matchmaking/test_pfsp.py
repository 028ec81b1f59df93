"""Weightings, mixtures and draws: known answers, exact sums, no nan."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.ids import Hash, PlayerId
from league.matchmaking.choice import Choice, mixture, sample
from league.matchmaking.config import WEIGHTINGS
from league.matchmaking.pfsp import probabilities
from league.player import Kind, Player

KNOWN = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.99])


def player(name, kind=Kind.MAIN):
    return Player(id=PlayerId(name), kind=kind, snapshot=Hash(name) if kind == Kind.FROZEN else None)


# --- weightings ---


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


# --- mixtures and draws ---


def test_the_same_opponent_for_the_same_reason_is_one_choice():
    a, b = player("a"), player("b", Kind.FROZEN)
    found = mixture([([a, b], [0.25, 0.25], "x"), ([b], [0.25], "x"), ([b], [0.25], "y")])
    assert found == [
        Choice(a.id, True, 0.25, "x"),
        Choice(b.id, False, 0.5, "x"),
        Choice(b.id, False, 0.25, "y"),
    ]


def test_a_mixture_of_nobody_is_refused():
    with pytest.raises(ValueError, match="nobody"):
        mixture([([player("a")], [0.0], "x")])


def test_draws_follow_the_probabilities():
    choices = [Choice(PlayerId(name), False, p, "") for name, p in (("a", 0.5), ("b", 0.3), ("c", 0.2))]
    rng = np.random.default_rng(1)
    drawn = Counter(sample(choices, rng).opponent for _ in range(20_000))
    for choice in choices:
        assert drawn[choice.opponent] / 20_000 == pytest.approx(choice.probability, abs=0.015)


def test_choices_that_were_left_out_are_not_drawn_and_the_others_keep_their_proportions():
    choices = [Choice(PlayerId(name), False, p, "") for name, p in (("b", 0.3), ("c", 0.1))]
    rng = np.random.default_rng(1)
    drawn = Counter(sample(choices, rng).opponent for _ in range(20_000))
    assert drawn["b"] / 20_000 == pytest.approx(0.75, abs=0.015)
    with pytest.raises(ValueError, match="nobody to choose"):
        sample([], rng)
