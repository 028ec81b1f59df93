"""The pool: anchors only on request, and only players whose role can sit there."""

import pytest
from small_league import ask, foxes_and_hounds, frozen, league, main, shares

from league.ids import PlayerId
from league.matchmaking.config import MatchmakingConfig
from league.payoff import Payoff
from league.player import Player
from league.plugins import BUILTIN
from league.population import Population


@pytest.mark.parametrize("name", ["alphastar", "pfsp"])
def test_anchors_are_met_only_when_the_config_lists_them(name):
    population = league(frozen("m.0", "m"), frozen("old", "m", anchor=500.0))
    config = MatchmakingConfig(name=name)
    assert not {"random", "old"} & shares(ask(config, population, Payoff(), "m")).keys()
    config = MatchmakingConfig(name=name, train_against_anchors=True)
    assert {"random", "old", "m.0"} <= shares(ask(config, population, Payoff(), "m")).keys()


@pytest.mark.parametrize("name", BUILTIN["ludus.matchmakers"])
@pytest.mark.parametrize("who", ["fox", "hound", "any"])
def test_only_players_that_can_sit_there_are_met(name, who):
    choices = ask(MatchmakingConfig(name=name), foxes_and_hounds(), Payoff(), who, frozenset({"hound"}))
    assert choices
    assert {c.opponent for c in choices} <= {"hound", "hound.0", "any", "any.0"}


def test_exploiters_fill_a_role_that_no_main_can_take():
    hound = Player(id=PlayerId("hound"), kind="league_exploiter", role="hound")
    population = Population([main("fox", "fox"), hound])
    assert shares(ask(MatchmakingConfig(), population, Payoff(), "fox", frozenset({"hound"}))) == {"hound*": 1.0}


def test_a_role_that_nobody_can_take_is_named():
    with pytest.raises(ValueError, match="role hound"):
        ask(MatchmakingConfig(), Population([main("fox", "fox")]), Payoff(), "fox", frozenset({"hound"}))


def test_a_pool_of_some_kinds_leaves_the_others_out():
    population = league(frozen("m.0", "m"), frozen("me.0", "me"))
    config = MatchmakingConfig(name="pfsp", self_play=0.0, pool=["main_exploiter"])
    assert shares(ask(config, population, Payoff(), "m")) == {"me.0": 1.0}
