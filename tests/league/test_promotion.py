"""Promotion: when a player freezes, whom it has to beat first, and whether it begins again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.ids import Hash, PlayerId
from league.payoff import Payoff, PayoffConfig
from league.player import Kind, Player
from league.population import Population
from league.promotion import PromotionConfig, due_by_score, resets, targets

CONFIG = PromotionConfig(min_decisions=100, max_decisions=1000, min_games=20)
MAIN = Player(id=PlayerId("m"), kind=Kind.MAIN)
SECOND = Player(id=PlayerId("n"), kind=Kind.MAIN)
EXPLOITER = Player(id=PlayerId("me"), kind=Kind.MAIN_EXPLOITER)
ROVER = Player(id=PlayerId("le"), kind=Kind.LEAGUE_EXPLOITER)
ANCHOR = Player(id=PlayerId("random"), kind=Kind.SCRIPTED, bot="random", anchor=0.0)


def frozen(name, parent, role=None, anchor=None):
    return Player(
        id=PlayerId(name), kind=Kind.FROZEN, parent=PlayerId(parent), snapshot=Hash(name), role=role, anchor=anchor
    )


def league():
    pasts = (frozen("m.0", "m"), frozen("me.0", "me"), frozen("first", "m", anchor=100.0))
    return Population([MAIN, SECOND, EXPLOITER, ROVER, ANCHOR, *pasts])


def payoff_with(player, opponents, wins, losses=0):
    payoff = Payoff(PayoffConfig(decay=1.0))
    for opponent in opponents:
        for outcome in [1.0] * wins + [0.0] * losses:
            payoff.record(player.id, PlayerId(opponent), outcome)
    return payoff


@pytest.mark.parametrize(
    ("player", "expected"),
    [(MAIN, ["m.0", "me.0"]), (ROVER, ["m.0", "me.0"]), (EXPLOITER, ["m", "n"])],
)
def test_whom_each_kind_has_to_beat(player, expected):
    assert [p.id for p in targets(player, league())] == expected


def test_whom_a_player_cannot_meet_it_need_not_beat():
    fox = Player(id=PlayerId("fox"), kind=Kind.MAIN, role="fox")
    hound = Player(id=PlayerId("hound"), kind=Kind.MAIN, role="hound")
    population = Population([fox, hound, frozen("fox.0", "fox", "fox"), frozen("hound.0", "hound", "hound")])
    assert [p.id for p in targets(fox, population, frozenset({"hound"}))] == ["hound.0"]
    payoff = payoff_with(fox, ["hound.0"], 50)
    assert due_by_score(fox, 500, population, payoff, CONFIG) is None
    assert due_by_score(fox, 500, population, payoff, CONFIG, frozenset({"hound"}))


@pytest.mark.parametrize("player", [MAIN, EXPLOITER, ROVER])
def test_a_player_that_surely_beats_all_targets_is_due(player):
    population = league()
    payoff = payoff_with(player, [t.id for t in targets(player, population)], 50)
    why = due_by_score(player, 100, population, payoff, CONFIG)
    assert why is not None
    assert "all 2 targets" in why


def test_never_before_min_decisions():
    payoff = payoff_with(MAIN, ["m.0", "me.0"], 500)
    assert due_by_score(MAIN, 99, league(), payoff, CONFIG) is None


def test_at_max_decisions_whatever_the_scores():
    payoff = payoff_with(MAIN, ["m.0", "me.0"], 0, 500)
    assert due_by_score(MAIN, 999, league(), payoff, CONFIG) is None
    assert due_by_score(MAIN, 1000, league(), payoff, CONFIG) == "1000 decisions since its last freeze"


def test_one_target_that_was_not_met_is_enough_to_wait():
    assert due_by_score(MAIN, 500, league(), payoff_with(MAIN, ["m.0"], 500), CONFIG) is None


def test_the_gate_is_the_lower_bound_and_not_the_score():
    sure, lucky = payoff_with(MAIN, ["m.0", "me.0"], 80, 20), payoff_with(MAIN, ["m.0", "me.0"], 20, 5)
    assert sure.raw(MAIN.id, PlayerId("m.0"))[0] / 100 == lucky.raw(MAIN.id, PlayerId("m.0"))[0] / 25 == 0.8
    assert due_by_score(MAIN, 500, league(), sure, CONFIG) is not None  # 0.8 of 100: the lower end is 0.711
    assert due_by_score(MAIN, 500, league(), lucky, CONFIG) is None  # 0.8 of 25: it is 0.609


def test_more_confidence_asks_for_more_games():
    payoff = payoff_with(MAIN, ["m.0", "me.0"], 80, 20)
    strict = PromotionConfig(min_decisions=100, max_decisions=1000, confidence=0.999)
    assert due_by_score(MAIN, 500, league(), payoff, strict) is None


def test_min_games_count_against_each_target():
    payoff = payoff_with(MAIN, ["m.0", "me.0"], 19)
    assert due_by_score(MAIN, 500, league(), payoff, CONFIG) is None
    payoff.record(MAIN.id, PlayerId("m.0"), 1.0)
    assert due_by_score(MAIN, 500, league(), payoff, CONFIG) is None
    payoff.record(MAIN.id, PlayerId("me.0"), 1.0)
    assert due_by_score(MAIN, 500, league(), payoff, CONFIG) is not None


def test_virtual_games_prove_nothing():
    payoff = payoff_with(MAIN, ["m.0", "me.0"], 500)
    payoff.inherit(SECOND.id, MAIN.id)
    assert payoff.score(SECOND.id, PlayerId("m.0")) > 0.9
    assert due_by_score(SECOND, 500, league(), payoff, CONFIG) is None


def test_games_of_long_ago_do_not_freeze_a_player_that_has_changed():
    payoff = payoff_with(MAIN, ["m.0", "me.0"], 50)
    payoff.scale_row(MAIN.id, 0.1)
    assert due_by_score(MAIN, 500, league(), payoff, CONFIG) is None


def test_without_targets_only_time_freezes():
    population = Population([MAIN, ANCHOR])
    assert due_by_score(MAIN, 999, population, Payoff(), CONFIG) is None
    assert due_by_score(MAIN, 1000, population, Payoff(), CONFIG) is not None


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 120), st.integers(0, 60), st.integers(0, 1200))
def test_more_wins_never_take_a_freeze_back(wins, losses, decisions):
    before = due_by_score(MAIN, decisions, league(), payoff_with(MAIN, ["m.0", "me.0"], wins, losses), CONFIG)
    after = due_by_score(MAIN, decisions, league(), payoff_with(MAIN, ["m.0", "me.0"], wins + 1, losses), CONFIG)
    assert before is None or after is not None
    assert decisions >= CONFIG.min_decisions or before is None


def test_resets_follow_the_kind():
    rng = np.random.default_rng(3)
    counts = {p.id: sum(resets(p, CONFIG, rng) for _ in range(2000)) for p in (MAIN, EXPLOITER, ROVER)}
    assert counts[MAIN.id] == 0
    assert counts[EXPLOITER.id] == 2000
    assert counts[ROVER.id] / 2000 == pytest.approx(0.25, abs=0.04)


def test_only_learning_players_are_reset():
    with pytest.raises(ValueError, match="only learning players"):
        resets(ANCHOR, CONFIG, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"min_decisions": 10, "max_decisions": 5}, "min_decisions <= max_decisions"),
        ({"min_decisions": 0, "max_decisions": 0}, "positive"),
        ({"threshold": 1.2}, "threshold"),
        ({"reset_main": -0.1}, "reset_main"),
        ({"confidence": 1.0}, "confidence"),
        ({"min_games": -1.0}, "min_games"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        PromotionConfig(**wrong)
