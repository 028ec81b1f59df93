"""Kinds of players: rows of config, whose fields override those of the league."""

import pytest
from shipped_kinds import shipped_kinds

from league.errors import InputError
from league.kinds import KindConfig, kind_matchmaker, rules_of
from league.matchmaking.config import MatchmakingConfig
from league.payoff import Payoff
from league.player import Player
from league.population import Population
from league.promotion import PromotionConfig
from league.rulebook import LeagueConfig


def rules(matchmaking=None, promotion=None):
    row = KindConfig(matchmaking=matchmaking or {}, promotion=promotion or {})
    return rules_of({"main": row}, "main", MatchmakingConfig(), PromotionConfig(max_decisions=300_000))


def test_a_row_overrides_what_the_league_says():
    found = rules({"name": "pfsp", "rivals": ["main"]}, {"threshold": 0.6})
    assert (found.matchmaking.name, found.matchmaking.rivals, found.matchmaking.self_play) == ("pfsp", ["main"], 0.35)
    assert (found.promotion.threshold, found.promotion.max_decisions) == (0.6, 300_000)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"promotion": {"max_decision": 5}}, r"unknown key 'league.kinds.main.promotion.max_decision'; did you mean "),
        ({"promotion": {"max_decisions": "soon"}}, r"league.kinds.main.promotion.max_decisions: Expected `int`"),
        ({"promotion": {"threshold": 1.5}}, r"^league.kinds.main.promotion.threshold must be at least 0 and below 1"),
        ({"matchmaking": {"pfsp": 0.9}}, r"^league.kinds.main.matchmaking: self_play .* must be 1 under alphastar"),
        ({"matchmaking": {"zzz": 1}}, r"unknown key 'league.kinds.main.matchmaking.zzz'; it has name, rivals"),
    ],
)
def test_a_row_that_cannot_be_meant_is_refused_with_its_key(row, message):
    with pytest.raises(InputError, match=message):
        rules(**row)


def test_an_unknown_kind_is_named_with_the_nearest_one():
    with pytest.raises(InputError, match="unknown kind 'mian'; did you mean 'main'"):
        rules_of({"main": KindConfig()}, "mian", MatchmakingConfig(), PromotionConfig())


def test_a_negative_rate_is_refused():
    with pytest.raises(ValueError, match="rate must not be negative"):
        KindConfig(rate=-1.0)


def test_who_exploits_is_up_against_other_kinds():
    config = LeagueConfig(kinds=shipped_kinds())
    assert {kind: config.rules(kind).exploits for kind in config.kinds} == {
        "main": False,
        "main_exploiter": True,
        "league_exploiter": True,
    }


def test_the_targets_of_the_freeze_rule_are_refreshed_whatever_the_matchmaker_prefers():
    found = rules({"name": "selfplay"}, {"targets": ["pool"]})
    mine = Player(id="m", kind="main")
    past = Player(id="m.0", kind="main", parent="m", snapshot="s")
    choices = {c.opponent: c.why for c in kind_matchmaker(found)(mine, Population([mine, past]), Payoff())}
    assert choices == {"m": "self-play", "m.0": "refresh"}
    blind = rules({"name": "selfplay"}, {"rule": "decisions"})
    assert {c.opponent for c in kind_matchmaker(blind)(mine, Population([mine, past]), Payoff())} == {"m"}
