"""The three kinds of AlphaStar: shares, thresholds, and what each rule falls through to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_league import ask, exact, frozen, league, main, reasons, scores, shares

from league.ids import PlayerId
from league.matchmaking.alphastar import without_monotone_suffix
from league.payoff import Payoff
from league.player import Player
from league.population import Population


def test_the_monotone_suffix():
    assert without_monotone_suffix([]) == 0
    assert without_monotone_suffix([0.2]) == 0
    assert without_monotone_suffix([0.9, 0.8, 0.8, 0.1]) == 0
    assert without_monotone_suffix([0.5, 0.9, 0.8]) == 2
    assert without_monotone_suffix([0.9, 0.5, 0.8]) == 3


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), max_size=12))
def test_what_is_cut_falls_and_what_is_kept_ends_in_a_rise(values):
    kept = without_monotone_suffix(values)
    cut = values[max(kept - 1, 0) :]
    assert cut == sorted(cut, reverse=True)
    assert kept == 0 or values[kept - 2] < values[kept - 1]


def test_a_main_splits_its_matches_50_15_35():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"), frozen("me.0", "me"))
    payoff = scores(m__m_0=0.5, m__m_1=0.5, m__me_0=0.1)
    found = ask(exact(), population, payoff, "m")
    assert reasons(found) == {"pfsp": 0.5, "verification: exploiters": 0.15, "self-play": 0.35}
    weights = {"m.0": 0.25 / 1.31, "m.1": 0.25 / 1.31, "me.0": 0.81 / 1.31}
    hard = {c.opponent: c.probability for c in found if c.why == "pfsp"}
    assert hard == {name: pytest.approx(0.5 * weight) for name, weight in weights.items()}
    assert {c.opponent: c.probability for c in found if c.live} == {"m": 0.175, "n": 0.175}


def test_verification_meets_all_frozen_exploiters_by_weight_once_one_of_them_exploits():
    population = league(frozen("me.0", "me"), frozen("le.0", "le"), frozen("n.0", "n"))
    found = ask(exact(), population, scores(m__me_0=0.2, m__le_0=0.6), "m")
    verified = [c for c in found if c.why == "verification: exploiters"]
    assert shares(verified) == {"me.0": 0.15 * 0.64 / 0.8, "le.0": 0.15 * 0.16 / 0.8}


def test_verification_finds_the_past_that_was_forgotten():
    names = ["m.0", "m.1", "m.2", "m.3"]
    population = league(*(frozen(name, "m") for name in names))
    payoff = scores(m__m_0=0.4, m__m_1=0.9, m__m_2=0.8, m__m_3=0.5)
    found = ask(exact(), population, payoff, "m")
    # m.2 and m.3 are the monotone suffix; of n there is no past, so that half falls through
    verified = [c for c in found if c.why == "verification: forgotten"]
    assert shares(verified) == {"m.0": 0.075 * 0.36 / 0.37, "m.1": 0.075 * 0.01 / 0.37}
    live = {c.opponent: pytest.approx(c.probability) for c in found if c.live}
    assert live == {"m": 0.175, "n": 0.25}


def test_exploiters_are_verified_before_the_forgotten_past():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"), frozen("me.0", "me"))
    payoff = scores(m__m_0=0.4, m__m_1=0.9, m__me_0=0.1)
    found = reasons(ask(exact(), population, payoff, "m"))
    assert found == {"pfsp": 0.5, "verification: exploiters": 0.15, "self-play": 0.35}


def test_verification_falls_through_to_selfplay_when_nothing_was_forgotten():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"), frozen("me.0", "me"))
    payoff = scores(m__m_0=0.9, m__m_1=0.8, m__me_0=0.35)
    assert reasons(ask(exact(), population, payoff, "m")) == {"pfsp": 0.5, "self-play": 0.5}


def test_verification_thresholds_are_strict_and_configurable():
    population = league(frozen("me.0", "me"))
    payoff = scores(m__me_0=0.35)
    low, high = exact(), exact(exploited_below=0.4)
    assert "verification: exploiters" not in reasons(ask(low, population, payoff, "m"))
    assert "verification: exploiters" in reasons(ask(high, population, payoff, "m"))


def test_a_rise_above_the_threshold_is_not_forgotten():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"))
    found = ask(exact(), population, scores(m__m_0=0.8, m__m_1=0.9), "m")
    assert "verification: forgotten" not in reasons(found)


def test_a_main_that_is_far_behind_another_main_plays_its_past():
    population = league(frozen("n.0", "n"), frozen("n.1", "n"))
    payoff = scores(m__n=0.2, m__n_0=0.9, m__n_1=0.5)
    found = ask(exact(), population, payoff, "m")
    past = [c for c in found if c.why == "self-play: past main"]
    assert shares(past) == {"n.0": 0.25 * 0.09 / 0.34, "n.1": 0.25 * 0.25 / 0.34}
    assert {c.opponent for c in found if c.live} == {"m"}


def test_a_main_that_is_far_behind_a_main_without_a_past_plays_it_live():
    found = ask(exact(), league(), scores(m__n=0.1), "m")
    assert shares(found) == {"m*": 0.5, "n*": 0.5}


def test_shares_of_zero_leave_no_trace():
    config = exact(pfsp=0.85, verification=0.15, self_play=0.0)
    population = league(frozen("me.0", "me"))
    found = ask(config, population, scores(m__me_0=0.1), "m")
    assert reasons(found) == {"pfsp": 0.85, "verification: exploiters": 0.15}


def test_a_main_that_would_only_meet_the_pool_plays_live_until_there_is_one():
    config = exact(pfsp=1.0, verification=0.0, self_play=0.0)
    assert shares(ask(config, league(), Payoff(), "m")) == {"m*": 0.5, "n*": 0.5}
    assert shares(ask(config, league(frozen("n.0", "n")), Payoff(), "m")) == {"n.0": 1.0}


EXPLOITER = exact(name="exploiter", rivals=["main"], live_above=0.1)
ROVER = exact(name="pfsp", rivals=["main"], weighting="capped", self_play=0.0)


def test_an_exploiter_meets_its_live_rivals_while_it_has_a_chance():
    population = league(frozen("m.0", "m"), frozen("n.0", "n"))
    payoff = scores(me__m=0.11, me__n=0.5)
    assert shares(ask(EXPLOITER, population, payoff, "me")) == {"m*": 0.5, "n*": 0.5}


def test_an_exploiter_without_a_chance_meets_mostly_the_past_of_that_rival():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"), frozen("n.0", "n"), frozen("me.0", "me"))
    payoff = scores(me__m=0.05, me__n=0.5, me__m_0=0.5, me__m_1=0.1)
    past = 0.5 * 0.75
    expected = {"n*": 0.5, "m*": 0.125, "m.0": past * 0.25 / 0.34, "m.1": past * 0.09 / 0.34}
    assert shares(ask(EXPLOITER, population, payoff, "me")) == expected


@given(st.floats(0, 1))
def test_however_badly_an_exploiter_plays_it_meets_the_live_rival_again(score):
    population = Population([main("m"), Player(id=PlayerId("me"), kind="main_exploiter"), frozen("m.0", "m")])
    choices = ask(EXPLOITER, population, scores(me__m=score), "me")
    assert sum(c.probability for c in choices if c.opponent == "m") >= EXPLOITER.live_least


def test_an_exploiter_as_in_the_papers_text():
    config = exact(name="exploiter", rivals=["main"], rival_past=0.5, live_above=0.2, live_least=0.0)
    population = Population([main("m"), Player(id=PlayerId("me"), kind="main_exploiter"), frozen("m.0", "m")])
    assert shares(ask(config, population, scores(me__m=0.3), "me")) == {"m*": 0.5, "m.0": 0.5}
    assert shares(ask(config, population, scores(me__m=0.15), "me")) == {"m.0": 1.0}


def test_a_league_exploiter_meets_all_frozen_players_capped():
    population = league(frozen("m.0", "m"), frozen("n.0", "n"), frozen("me.0", "me"))
    payoff = scores(le__m_0=0.1, le__n_0=0.5, le__me_0=0.8)
    found = ask(ROVER, population, payoff, "le")
    assert shares(found) == {"m.0": 0.5 / 1.2, "n.0": 0.5 / 1.2, "me.0": 0.2 / 1.2}
    assert shares(ask(ROVER, league(), payoff, "le")) == {"m*": 0.5, "n*": 0.5}, (
        "the live mains, while there is no pool"
    )


def test_kinds_are_fields_and_not_parsed_out_of_names():
    population = Population([main("main_exploiter_7"), Player(id=PlayerId("main"), kind="league_exploiter")])
    population.add(frozen("x", "main_exploiter_7"))
    found = ask(ROVER, population, Payoff(), "main")
    assert shares(found) == {"x": 1.0}


def test_frozen_players_of_any_other_kind_are_verified():
    population = Population([main("m"), Player(id=PlayerId("spar"), kind="sparring_partner")])
    population.add(Player(id=PlayerId("spar.0"), kind="sparring_partner", parent="spar", snapshot="s"))
    found = ask(exact(), population, scores(m__spar_0=0.1), "m")
    assert reasons(found)["verification: exploiters"] == 0.15


def test_an_exploiter_meets_its_quarry_until_it_is_frozen_or_reset():
    population = league(frozen("m.0", "m"))
    config = exact(name="exploiter", rivals=["main"], quarry=0.8)
    assert shares(ask(config, population, scores(), "me")) == {"m*": 0.5, "n*": 0.5}, "it never began again"
    population.begin(PlayerId("me"))
    population.add(frozen("m.1", "m"))
    found = ask(config, population, scores(), "me")
    assert shares(found) == {"m.0": 0.4, "m*": 0.1, "n*": 0.5}, "n has no past"
    assert reasons(found) == {"quarry": 0.4, "rival": 0.6}
    population.begin(PlayerId("me"))
    assert shares(ask(config, population, scores(), "me")) == {"m.1": 0.4, "m*": 0.1, "n*": 0.5}
