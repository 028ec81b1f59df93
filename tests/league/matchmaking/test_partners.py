"""Partners: the live self for its share, else the pool by the returns so far."""

import numpy as np
from small_league import foxes_and_hounds, frozen, league, shares

from league.ids import PlayerId
from league.matchmaking.asking import matchmaker
from league.matchmaking.config import MatchmakingConfig
from league.matchmaking.partners import partners, relative
from league.payoff import Payoff


def team_mates(population, payoff=None, who="m", roles=None, **settings):
    config = MatchmakingConfig(**settings)
    return shares(partners(population[PlayerId(who)], population, payoff or Payoff(), config, roles))


def test_the_live_self_has_its_share_and_the_pool_the_rest():
    population = league(frozen("m.0", "m"), frozen("n.0", "n"))
    assert team_mates(population, partner_self=0.6) == {"m*": 0.6, "m.0": 0.2, "n.0": 0.2}
    assert team_mates(population, partner_self=0.0) == {"m.0": 0.5, "n.0": 0.5}


def test_while_the_pool_is_empty_the_live_self_is_the_only_partner():
    assert team_mates(league(), partner_self=0.0) == {"m*": 1.0}


def test_hard_partners_are_those_with_low_returns():
    payoff = Payoff()
    payoff.record_return(PlayerId("m"), PlayerId("m.0"), -8.0)
    payoff.record_return(PlayerId("m"), PlayerId("m.1"), -4.0)
    population = league(frozen("m.0", "m"), frozen("m.1", "m"), frozen("m.2", "m"))
    found = team_mates(population, payoff, partner_self=0.0, partner_weighting="hard")
    assert found == {"m.0": 0.8, "m.2": 0.2}  # (1 - 0)^2, and (1 - 1/2)^2 for the one that is unknown


def test_where_its_role_cannot_sit_live_players_stand_for_the_self():
    found = team_mates(foxes_and_hounds(), who="fox", roles=frozenset({"hound"}), partner_self=0.5)
    assert found == {"hound*": 0.25, "any*": 0.25, "hound.0": 0.25, "any.0": 0.25}


def test_returns_that_do_not_differ_are_neutral():
    assert relative(np.array([3.0, 3.0, np.nan])).tolist() == [0.5] * 3
    assert relative(np.full(2, np.nan)).tolist() == [0.5] * 2


def test_every_recipe_asks_for_partners_on_the_own_side():
    population = league(frozen("m.0", "m"))
    config = MatchmakingConfig(name="selfplay", partner_self=0.0)
    choices = matchmaker(config)(population[PlayerId("m")], population, Payoff(), mates=True)
    assert shares(choices) == {"m.0": 1.0}
