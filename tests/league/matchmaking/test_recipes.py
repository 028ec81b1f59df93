"""Matchmaking: exact mixtures, whatever the state of the league."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_league import ask, frozen, league, main, shares

from league.matchmaking.config import NAMES, MatchmakingConfig
from league.payoff import Payoff
from league.population import Population

pasts = st.lists(st.sampled_from(["m", "n", "me", "le"]), max_size=12)
results = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15), st.sampled_from([0.0, 0.5, 1.0])), max_size=80)


@settings(deadline=None, max_examples=80)
@given(pasts, results, st.sampled_from(NAMES), st.booleans(), st.sampled_from(["m", "n", "me", "le"]))
def test_choices_are_an_exact_distribution_over_lawful_opponents(parents, games, name, anchors, who):
    population = league(*(frozen(f"{parent}.{i}", parent) for i, parent in enumerate(parents)))
    payoff, everybody = Payoff(), list(population)
    for i, j, outcome in games:
        a, b = everybody[i % len(everybody)], everybody[j % len(everybody)]
        if a != b:
            payoff.record(a.id, b.id, outcome)
    before = payoff.to_arrays()
    choices = ask(MatchmakingConfig(name=name, train_against_anchors=anchors), population, payoff, who)
    assert sum(c.probability for c in choices) == pytest.approx(1.0, abs=1e-12)
    assert all(c.probability > 0 for c in choices)
    assert len({(c.opponent, c.live, c.why) for c in choices}) == len(choices)
    for choice in choices:
        assert choice.live == population[choice.opponent].learning
        assert choice.why
        assert anchors or population[choice.opponent].anchor is None
    assert payoff == Payoff.from_arrays(*before)  # asking changes nothing


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("who", ["m", "me", "le"])
def test_before_anybody_is_frozen_live_players_meet(name, who):
    choices = ask(MatchmakingConfig(name=name), league(), Payoff(), who)
    assert all(c.live for c in choices)


@pytest.mark.parametrize("name", NAMES)
def test_a_lone_main_plays_itself(name):
    population = Population([main("m")])
    assert shares(ask(MatchmakingConfig(name=name), population, Payoff(), "m")) == {"m*": 1.0}
