"""Mixtures and samples: exact sums, proportions, one choice for each reason."""

from collections import Counter

import numpy as np
import pytest
from small_league import ask, frozen, league

from league.ids import Hash, PlayerId
from league.matchmaking.choice import Choice, mixture, sample
from league.matchmaking.config import MatchmakingConfig
from league.payoff import Payoff
from league.player import Player


def player(name, kind="main"):
    return Player(id=PlayerId(name), kind=kind, snapshot=Hash(name) if kind == "frozen" else None)


def test_the_same_opponent_for_the_same_reason_is_one_choice():
    a, b = player("a"), player("b", "frozen")
    found = mixture([([a, b], [0.25, 0.25], "x"), ([b], [0.25], "x"), ([b], [0.25], "y")])
    assert found == [
        Choice(a.id, True, 0.25, "x"),
        Choice(b.id, False, 0.5, "x"),
        Choice(b.id, False, 0.25, "y"),
    ]


def test_a_mixture_of_nobody_is_refused():
    with pytest.raises(ValueError, match="nobody"):
        mixture([([player("a")], [0.0], "x")])


def test_samples_follow_the_probabilities():
    choices = [Choice(PlayerId(name), False, p, "") for name, p in (("a", 0.5), ("b", 0.3), ("c", 0.2))]
    rng = np.random.default_rng(1)
    counts = Counter(sample(choices, rng).opponent for _ in range(20_000))
    for choice in choices:
        assert counts[choice.opponent] / 20_000 == pytest.approx(choice.probability, abs=0.015)


def test_choices_that_were_left_out_are_not_sampled_and_the_others_keep_their_proportions():
    choices = [Choice(PlayerId(name), False, p, "") for name, p in (("b", 0.3), ("c", 0.1))]
    rng = np.random.default_rng(1)
    counts = Counter(sample(choices, rng).opponent for _ in range(20_000))
    assert counts["b"] / 20_000 == pytest.approx(0.75, abs=0.015)
    with pytest.raises(ValueError, match="nobody to choose"):
        sample([], rng)


def test_each_seat_gets_a_sample_of_its_own():
    population = league(*(frozen(f"m.{i}", "m") for i in range(10)))
    choices = ask(MatchmakingConfig(), population, Payoff(), "le")
    rng = np.random.default_rng(0)
    tables = [{sample(choices, rng).opponent for _ in range(3)} for _ in range(50)]
    assert max(map(len, tables)) == 3


def test_the_same_rng_samples_the_same():
    choices = ask(MatchmakingConfig(), league(frozen("m.0", "m")), Payoff(), "m")
    one, two = np.random.default_rng(9), np.random.default_rng(9)
    assert [sample(choices, one) for _ in range(20)] == [sample(choices, two) for _ in range(20)]
