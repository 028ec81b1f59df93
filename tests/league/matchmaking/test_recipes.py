"""Matchmaking: exact mixtures, whatever the state of the league."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.ids import Hash, PlayerId
from league.matchmaking.choice import sample
from league.matchmaking.config import NAMES, MatchmakingConfig
from league.matchmaking.recipes import matchmaker
from league.payoff import Payoff, PayoffConfig
from league.player import Kind, Player
from league.population import Population


def main(name, role=None):
    return Player(id=PlayerId(name), kind=Kind.MAIN, role=role)


def frozen(name, parent, role=None, anchor=None):
    return Player(
        id=PlayerId(name), kind=Kind.FROZEN, parent=PlayerId(parent), snapshot=Hash(name), role=role, anchor=anchor
    )


def league(*extra):
    """A main, a second main, both kinds of exploiters, and a scripted anchor."""
    return Population(
        [
            main("m"),
            main("n"),
            Player(id=PlayerId("me"), kind=Kind.MAIN_EXPLOITER),
            Player(id=PlayerId("le"), kind=Kind.LEAGUE_EXPLOITER),
            Player(id=PlayerId("random"), kind=Kind.SCRIPTED, bot="random", anchor=0.0),
            *extra,
        ]
    )


def scores(**by_pair):
    """A payoff in which `a__b=0.8` makes a score 0.8 against b (m_0 stands for m.0)."""
    payoff = Payoff(PayoffConfig(decay=1.0, prior_games=1e-9))
    for pair, score in by_pair.items():
        a, b = (PlayerId(name.replace("_", ".")) for name in pair.split("__"))
        for game in range(100):
            payoff.record(a, b, float(game < round(100 * score)))
    return payoff


def ask(config, population, payoff, who, roles=None):
    return matchmaker(config)(population[PlayerId(who)], population, payoff, roles)


def shares(choices):
    """The probability of each opponent, live ones marked with a star."""
    total = Counter()
    for choice in choices:
        total[choice.opponent + ("*" if choice.live else "")] += choice.probability
    return {name: pytest.approx(share) for name, share in total.items()}


def reasons(choices):
    total = Counter()
    for choice in choices:
        total[choice.why] += choice.probability
    return {why: pytest.approx(share) for why, share in total.items()}


# --- draws for seats ---


def test_each_seat_gets_a_draw_of_its_own():
    population = league(*(frozen(f"m.{i}", "m") for i in range(10)))
    choices = ask(MatchmakingConfig(), population, Payoff(), "le")
    rng = np.random.default_rng(0)
    tables = [{sample(choices, rng).opponent for _ in range(3)} for _ in range(50)]
    assert max(map(len, tables)) == 3


def test_the_same_rng_draws_the_same():
    choices = ask(MatchmakingConfig(), league(frozen("m.0", "m")), Payoff(), "m")
    one, two = np.random.default_rng(9), np.random.default_rng(9)
    assert [sample(choices, one) for _ in range(20)] == [sample(choices, two) for _ in range(20)]


# --- every recipe, any league ---

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


@pytest.mark.parametrize("name", ["alphastar", "pfsp"])
def test_anchors_are_met_only_when_the_config_lists_them(name):
    population = league(frozen("m.0", "m"), frozen("old", "m", anchor=500.0))
    config = MatchmakingConfig(name=name)
    assert not {"random", "old"} & shares(ask(config, population, Payoff(), "m")).keys()
    config = MatchmakingConfig(name=name, train_against_anchors=True)
    assert {"random", "old", "m.0"} <= shares(ask(config, population, Payoff(), "m")).keys()


# --- naive, fictitious and prioritised self-play ---


def test_naive_selfplay_never_meets_the_past():
    population = league(frozen("m.0", "m"))
    assert shares(ask(MatchmakingConfig(name="selfplay"), population, Payoff(), "m")) == {"m*": 1.0}


def test_fictitious_selfplay_is_even_over_the_own_past_and_present():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"), frozen("n.0", "n"))
    found = shares(ask(MatchmakingConfig(name="fsp"), population, Payoff(), "m"))
    assert found == {"m*": 1 / 3, "m.0": 1 / 3, "m.1": 1 / 3}


def test_pfsp_mixes_the_live_self_with_weighted_pasts():
    population = league(frozen("m.0", "m"), frozen("n.0", "n"))
    payoff = scores(m__m_0=0.9, m__n_0=0.5)
    found = shares(ask(MatchmakingConfig(name="pfsp", self_play=0.2), population, payoff, "m"))
    assert found == {"m*": 0.2, "m.0": 0.8 * 0.01 / 0.26, "n.0": 0.8 * 0.25 / 0.26}


def test_pfsp_without_selfplay_does_without_it():
    population = league(frozen("m.0", "m"))
    assert shares(ask(MatchmakingConfig(name="pfsp", self_play=0.0), population, Payoff(), "m")) == {"m.0": 1.0}


def test_an_opponent_beaten_long_ago_comes_back_once_the_player_has_changed():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"))
    payoff = Payoff()
    for _ in range(200):
        payoff.record(PlayerId("m"), PlayerId("m.0"), 1.0)
        payoff.record(PlayerId("m"), PlayerId("m.1"), 0.5)
    config = MatchmakingConfig(name="pfsp", self_play=0.0)

    def share():
        return {c.opponent: c.probability for c in ask(config, population, payoff, "m")}[PlayerId("m.0")]

    seldom = share()
    for _ in range(30):
        payoff.scale_row(PlayerId("m"), 0.8)
    assert 0 < seldom < 0.01
    assert share() > 0.3


# --- roles ---


def foxes_and_hounds():
    population = Population([main("fox", "fox"), main("hound", "hound"), main("any")])
    for name, parent, role in (("fox.0", "fox", "fox"), ("hound.0", "hound", "hound"), ("any.0", "any", None)):
        population.add(frozen(name, parent, role))
    return population


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("who", ["fox", "hound", "any"])
def test_only_players_that_can_sit_there_are_met(name, who):
    choices = ask(MatchmakingConfig(name=name), foxes_and_hounds(), Payoff(), who, frozenset({"hound"}))
    assert choices
    assert {c.opponent for c in choices} <= {"hound", "hound.0", "any", "any.0"}


def test_selfplay_of_a_bound_player_is_against_the_live_players_of_the_other_role():
    found = ask(MatchmakingConfig(name="selfplay"), foxes_and_hounds(), Payoff(), "fox", frozenset({"hound"}))
    assert shares(found) == {"hound*": 0.5, "any*": 0.5}


def test_exploiters_fill_a_role_that_no_main_can_take():
    hound = Player(id=PlayerId("hound"), kind=Kind.LEAGUE_EXPLOITER, role="hound")
    population = Population([main("fox", "fox"), hound])
    assert shares(ask(MatchmakingConfig(), population, Payoff(), "fox", frozenset({"hound"}))) == {"hound*": 1.0}


def test_a_role_that_nobody_can_take_is_named():
    with pytest.raises(ValueError, match="role hound"):
        ask(MatchmakingConfig(), Population([main("fox", "fox")]), Payoff(), "fox", frozenset({"hound"}))


# --- config ---


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "alfastar"}, "choose one of alphastar"),
        ({"weighting": "soft"}, "choose one of hard"),
        ({"pfsp": 0.6}, "must be 1"),
        ({"exploited_below": 1.5}, "exploited_below"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        MatchmakingConfig(**wrong)


def test_shares_have_to_sum_to_one_only_where_all_are_used():
    assert MatchmakingConfig(name="pfsp", self_play=0.8).self_play == 0.8
