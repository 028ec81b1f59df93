"""Asking matchmakers: exact mixtures whatever the state of the league, checked answers, and scores that stay fresh."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_kinds import shipped_kinds
from small_league import ask, frozen, league, main, shares

from league.errors import InputError
from league.ids import PlayerId
from league.kinds import kind_matchmaker
from league.matchmaking.asking import checked, matchmaker, opponents_read, refreshed
from league.matchmaking.choice import Choice
from league.matchmaking.config import MatchmakingConfig
from league.payoff import Payoff
from league.plugins import BUILTIN, PluginError
from league.population import Population
from league.promotion import reads_targets, targets
from league.rulebook import LeagueConfig

NAMES = tuple(BUILTIN["ludus.matchmakers"])
LEARNING = ("m", "n", "me", "le")
pasts = st.lists(st.sampled_from(LEARNING), max_size=12)
results = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15), st.sampled_from([0.0, 0.5, 1.0])), max_size=80)
RULES = LeagueConfig(kinds=shipped_kinds())


def played(parents, games, weight=1):
    """Return a league with these pasts, and a payoff of these games, each `weight` times."""
    population = league(*(frozen(f"{parent}.{i}", parent) for i, parent in enumerate(parents)))
    payoff, everybody = Payoff(), list(population)
    for i, j, outcome in games:
        a, b = everybody[i % len(everybody)], everybody[j % len(everybody)]
        for _ in range(weight if a != b else 0):
            payoff.record(a.id, b.id, outcome)
    return population, payoff


@settings(deadline=None, max_examples=80)
@given(pasts, results, st.sampled_from(NAMES), st.booleans(), st.sampled_from(LEARNING))
def test_choices_are_an_exact_distribution_over_lawful_opponents(parents, games, name, anchors, who):
    population, payoff = played(parents, games)
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


@settings(deadline=None, max_examples=80)
@given(pasts, results, st.sampled_from(LEARNING))
def test_every_score_that_a_rule_reads_is_refreshed_for_ever(parents, games, who):
    population, payoff = played(parents, games, weight=50)
    player = population[PlayerId(who)]
    rules = RULES.rules(player.kind)
    chosen = {}
    for choice in kind_matchmaker(rules)(player, population, payoff):
        chosen[choice.opponent] = chosen.get(choice.opponent, 0.0) + choice.probability
    goals = targets(player, population, rules.promotion) if reads_targets(rules.promotion) else []
    read = {p.id for p in (*opponents_read(player, population, rules.matchmaking, None), *goals)}
    assert {p.id for p in population.frozen()} <= read or rules.promotion.targets == ["main"]
    floor = rules.matchmaking.floor
    assert all(chosen[name] >= floor / (1 + floor) / len(read) - 1e-12 for name in read)
    assert sum(chosen.values()) == pytest.approx(1.0)


def test_an_opponent_that_a_score_keeps_away_is_still_met():
    population = league(*(frozen(f"m.{i}", "m") for i in range(3)))
    payoff = Payoff()
    for _ in range(500):
        payoff.record(PlayerId("m"), PlayerId("m.0"), 1.0)
        payoff.record(PlayerId("m"), PlayerId("m.1"), 0.0)
    config = MatchmakingConfig(name="pfsp", floor=0.12, self_play=0.0)
    found = {c.opponent: c for c in ask(config, population, payoff, "m") if c.why == "refresh"}
    assert set(found) == {"m.0"}
    both = sum(c.probability for c in ask(config, population, payoff, "m") if c.opponent == "m.0")
    assert 0.12 / 1.12 / 3 <= both <= 0.04


def test_without_a_floor_nothing_is_added():
    choices = [Choice(PlayerId("m"), True, 1.0, "self-play")]
    assert refreshed(choices, [frozen("m.0", "m")], 0.0) == choices


def test_partners_by_weight_are_refreshed_too():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"))
    payoff = Payoff()
    payoff.record_return(PlayerId("m"), PlayerId("m.0"), 5.0)
    payoff.record_return(PlayerId("m"), PlayerId("m.1"), -5.0)
    config = MatchmakingConfig(partner_self=0.0, partner_weighting="hard", floor=0.1)
    found = {c.opponent: c.probability for c in matchmaker(config)(population["m"], population, payoff, mates=True)}
    assert found["m.0"] == pytest.approx(0.05 / 1.05), "the best partner has no weight of its own"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("who", ["m", "me", "le"])
def test_before_anybody_is_frozen_live_players_meet(name, who):
    choices = ask(MatchmakingConfig(name=name), league(), Payoff(), who)
    assert all(c.live for c in choices)


@pytest.mark.parametrize("name", NAMES)
def test_a_lone_main_plays_itself(name):
    population = Population([main("m")])
    assert shares(ask(MatchmakingConfig(name=name), population, Payoff(), "m")) == {"m*": 1.0}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "list of Choice"),
        ("m", "list of Choice"),
        ([("m", True, 1.0, "why")], "list of Choice"),
        ([Choice("m", True, 0.4, "a"), Choice("n", True, 0.4, "b")], "sum to 0.8; they must sum to 1"),
        ([Choice("nobody", True, 1.0, "a")], "chose 'nobody', and there is no such player"),
        ([Choice("m", True, float("nan"), "a")], "gave 'm' the probability nan"),
        ([Choice("m", True, 2.0, "a"), Choice("n", True, -1.0, "b")], "gave 'n' the probability -1.0"),
    ],
)
def test_an_answer_that_is_none_is_refused(answer, message):
    with pytest.raises(InputError, match=message):
        checked(answer, "mine:choose", league())


def test_an_unknown_matchmaker_is_named_with_the_nearest_one():
    with pytest.raises(PluginError, match=r"unknown matchmaker 'alfastar'\. Did you mean 'alphastar'"):
        matchmaker(MatchmakingConfig(name="alfastar"))
    with pytest.raises(PluginError, match="--allow mine"):
        matchmaker(MatchmakingConfig(name="mine:choose"))
