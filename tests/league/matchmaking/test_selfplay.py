"""Naive and fictitious self-play: the live self, and the own past."""

from small_league import ask, foxes_and_hounds, frozen, league, shares

from league.matchmaking.config import MatchmakingConfig
from league.payoff import Payoff


def test_naive_selfplay_never_meets_the_past():
    population = league(frozen("m.0", "m"))
    assert shares(ask(MatchmakingConfig(name="selfplay"), population, Payoff(), "m")) == {"m*": 1.0}


def test_fictitious_selfplay_is_even_over_the_own_past_and_present():
    population = league(frozen("m.0", "m"), frozen("m.1", "m"), frozen("n.0", "n"))
    found = shares(ask(MatchmakingConfig(name="fsp"), population, Payoff(), "m"))
    assert found == {"m*": 1 / 3, "m.0": 1 / 3, "m.1": 1 / 3}


def test_selfplay_of_a_bound_player_is_against_the_live_players_of_the_other_role():
    found = ask(MatchmakingConfig(name="selfplay"), foxes_and_hounds(), Payoff(), "fox", frozenset({"hound"}))
    assert shares(found) == {"hound*": 0.5, "any*": 0.5}
