"""Promotion: when a player freezes, whom it has to beat first, and whether it begins again."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league.candidate_games import CandidateGames
from league.errors import InputError
from league.ids import Hash, PlayerId
from league.payoff import Payoff, PayoffConfig
from league.player import Player
from league.plugins import PluginError
from league.population import Population
from league.promotion import Case, PromotionConfig, due, resets, sources, targets
from league.spec import Array, EnvSpec, Seat

CONFIG = PromotionConfig(min_decisions=100, max_decisions=1000, min_games=20)
AGAINST_MAINS = PromotionConfig(min_decisions=100, max_decisions=1000, min_games=20, targets=["main"])
MAIN = Player(id=PlayerId("m"), kind="main")
SECOND = Player(id=PlayerId("n"), kind="main")
EXPLOITER = Player(id=PlayerId("me"), kind="main_exploiter")
ROVER = Player(id=PlayerId("le"), kind="league_exploiter")
ANCHOR = Player(id=PlayerId("random"), kind="scripted", bot="random", anchor=0.0)


def frozen(name, parent, role=None, anchor=None, kind="main"):
    return Player(id=PlayerId(name), kind=kind, parent=PlayerId(parent), snapshot=Hash(name), role=role, anchor=anchor)


def due_by_score(player, decisions, population, payoff, config, env=None):
    case = Case(
        player=player, decisions=decisions, population=population, training=payoff, evaluation=Payoff(), env=env
    )
    return due(case, config)


def foxes():
    seats = (Seat((0,), "fox"), Seat((1,), "hound"))
    return EnvSpec(name="game", agents=("a", "b"), seats=seats, observation=Array((1,), "float32"), actions=2)


def league():
    pasts = (frozen("m.0", "m"), frozen("me.0", "me", kind="main_exploiter"), frozen("first", "m", anchor=100.0))
    return Population([MAIN, SECOND, EXPLOITER, ROVER, ANCHOR, *pasts])


def payoff_with(player, opponents, wins, losses=0):
    payoff = Payoff(PayoffConfig(decay=1.0))
    for opponent in opponents:
        for outcome in [1.0] * wins + [0.0] * losses:
            payoff.record(player.id, PlayerId(opponent), outcome)
    return payoff


@pytest.mark.parametrize(
    ("player", "named", "expected"),
    [
        (MAIN, ["pool"], ["m.0", "me.0"]),
        (EXPLOITER, ["main"], ["m", "n"]),
        (EXPLOITER, ["main", "pool"], ["m", "n", "m.0", "me.0"]),
        (MAIN, ["main"], ["n"]),
        (ROVER, [], []),
    ],
)
def test_a_kind_names_whom_its_players_have_to_beat(player, named, expected):
    assert [p.id for p in targets(player, league(), PromotionConfig(targets=named))] == expected


def test_whom_a_player_cannot_meet_it_need_not_beat():
    fox = Player(id=PlayerId("fox"), kind="main", role="fox")
    hound = Player(id=PlayerId("hound"), kind="main", role="hound")
    population = Population([fox, hound, frozen("fox.0", "fox", "fox"), frozen("hound.0", "hound", "hound")])
    assert [p.id for p in targets(fox, population, CONFIG, frozenset({"hound"}))] == ["hound.0"]
    payoff = payoff_with(fox, ["hound.0"], 50)
    assert due_by_score(fox, 500, population, payoff, CONFIG) is None
    assert due_by_score(fox, 500, population, payoff, CONFIG, foxes())


@pytest.mark.parametrize(("player", "config"), [(MAIN, CONFIG), (EXPLOITER, AGAINST_MAINS), (ROVER, CONFIG)])
def test_a_player_that_surely_beats_all_targets_is_due(player, config):
    population = league()
    payoff = payoff_with(player, [t.id for t in targets(player, population, config)], 50)
    why = due_by_score(player, 100, population, payoff, config)
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


def test_by_decisions_no_score_freezes():
    config = PromotionConfig(rule="decisions", min_decisions=100, max_decisions=1000)
    payoff = payoff_with(MAIN, ["m.0", "me.0"], 500)
    assert due_by_score(MAIN, 999, league(), payoff, config) is None
    assert due_by_score(MAIN, 1000, league(), payoff, config) is not None


def test_a_freeze_rule_of_another_package_is_asked_between_min_and_max(tmp_path, monkeypatch):
    (tmp_path / "my_rules.py").write_text(
        "def lead(case, config):\n"
        "    scores = case.training.scores(case.player.id, [p.id for p in case.targets(config)])\n"
        "    return 'leads' if scores.min() > config.settings['by'] else None\n"
        "def wrong(case, config):\n    return 7\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = PromotionConfig(rule="my_rules:lead", min_decisions=100, max_decisions=1000, settings={"by": 0.6})
    payoff = payoff_with(MAIN, ["m.0", "me.0"], 8, 2)
    case = Case(player=MAIN, decisions=500, population=league(), training=payoff, evaluation=Payoff())
    assert due(case, config, ["my_rules"]) == "leads"
    assert due(dataclasses.replace(case, decisions=99), config, ["my_rules"]) is None
    with pytest.raises(PluginError, match="--allow my_rules"):
        due(case, config)
    with pytest.raises(InputError, match="must return a reason or None, got 7"):
        due(case, PromotionConfig(rule="my_rules:wrong", min_decisions=1), ["my_rules"])


def test_the_example_of_a_freeze_rule_asks_for_a_score_against_the_strongest_target(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    config = PromotionConfig(rule="own_freeze_rule:ahead", min_decisions=100, settings={"score": 0.6})
    case = Case(player=MAIN, decisions=500, population=league(), training=Payoff(), evaluation=Payoff())
    assert due(case, config, ["own_freeze_rule"]) is None, "nobody was met"
    better = dataclasses.replace(case, training=payoff_with(MAIN, ["m.0", "me.0"], 30, 10))
    assert due(better, config, ["own_freeze_rule"]) == "scores at least 0.73 against everybody"
    assert due(better, dataclasses.replace(config, settings={"score": 0.8}), ["own_freeze_rule"]) is None


@pytest.mark.parametrize(
    ("reset", "chance", "share"), [("never", 1.0, 0.0), ("initial", 1.0, 1.0), ("main", 0.25, 0.25)]
)
def test_resets_follow_the_rules(reset, chance, share):
    rng, config = np.random.default_rng(3), PromotionConfig(reset=reset, reset_chance=chance)
    assert sum(resets(config, rng) for _ in range(2000)) / 2000 == pytest.approx(share, abs=0.04)


def test_weights_come_from_live_players_of_the_kind_and_the_role():
    fox, hound = (Player(id=PlayerId(role), kind="main", role=role) for role in ("fox", "hound"))
    hunter = Player(id=PlayerId("hunter"), kind="main_exploiter", role="hound")
    population = Population([fox, hound, hunter, frozen("hound.0", "hound", "hound")])
    assert sources(hunter, population, PromotionConfig(reset="main")) == [hound]
    assert sources(hunter, population, PromotionConfig(reset="initial")) == []
    assert sources(hound, population, PromotionConfig(reset="main")) == [], "its own weights are no start"


@pytest.mark.slow
def test_looking_after_every_game_does_not_freeze_a_player_that_is_no_better():
    config = PromotionConfig(min_decisions=1, max_decisions=10**9, targets=["main"], threshold=0.7)
    population, rng, early = Population([MAIN, EXPLOITER]), np.random.default_rng(5), 0
    for _ in range(20):
        payoff, games = Payoff(), CandidateGames()
        games.note({})
        for _ in range(300):
            payoff.record(EXPLOITER.id, MAIN.id, float(rng.random() < 0.7))
            case = Case(
                player=EXPLOITER, decisions=2, population=population, training=payoff, evaluation=payoff, games=games
            )
            if due(case, config) is not None:
                early += 1
                break
    assert early <= 2, "with the interval of the games that still count, a third of these players would be frozen"


def record_returns(payoff, margins):
    """Record games of the exploiter against the main, and by how much it won them."""
    payoff.record_games(EXPLOITER.id, MAIN.id, [(0, 1) if margin > 0 else (1, 0) for margin in margins])
    payoff.record_margins(EXPLOITER.id, MAIN.id, margins.tolist())


def test_by_return_looking_after_every_candidate_does_not_freeze_a_player_that_is_no_better(figure):
    """The true score is the threshold. At the same confidence in each look 4 % of these would be frozen."""
    config = PromotionConfig(min_decisions=1, max_decisions=10**9, targets=["main"], threshold=0.6)
    population, rng, early = Population([MAIN, EXPLOITER]), np.random.default_rng(5), 0
    for _ in range(120):
        payoff, games = Payoff(), CandidateGames()
        payoff.go_by_return(1.0)
        for _ in range(20):
            games.note({})
            margins = rng.choice([-1.0, 0.5, 1.0], 25, p=[0.3, 0.2, 0.5]) - 0.1  # a mean of 0.2: a score of 0.6
            record_returns(payoff, margins)
            case = Case(
                player=EXPLOITER, decisions=2, population=population, training=payoff, evaluation=payoff, games=games
            )
            if due(case, config) is not None:
                early += 1
                break
    figure(f"by return, a true score of .6, 20 looks: surely above .6 in {early / 120:.1%} (nominal 2.5 %)")
    assert early / 120 <= 0.025


def test_by_return_a_player_that_is_better_is_frozen_though_it_was_looked_at_often():
    config = PromotionConfig(min_decisions=1, max_decisions=10**9, targets=["main"], threshold=0.6)
    payoff, games, rng = Payoff(), CandidateGames(), np.random.default_rng(6)
    payoff.go_by_return(1.0)
    for _ in range(50):
        games.note({})
    record_returns(payoff, rng.choice([-1.0, 1.0], 200, p=[0.05, 0.95]))
    case = Case(
        player=EXPLOITER, decisions=2, population=Population([MAIN, EXPLOITER]), training=payoff, evaluation=payoff
    )
    assert due(dataclasses.replace(case, games=games), config) is not None


def test_games_before_the_last_freeze_prove_nothing():
    config = PromotionConfig(min_decisions=1, max_decisions=10**9, targets=["main"], threshold=0.6)
    payoff, games = payoff_with(EXPLOITER, ["m", "n"], 200), CandidateGames()
    games.note(payoff.raw_row(EXPLOITER.id))
    case = Case(player=EXPLOITER, decisions=2, population=league(), training=payoff, evaluation=payoff, games=games)
    assert due(case, config) is None
    for name in ["m", "n"] * 40:
        payoff.record(EXPLOITER.id, PlayerId(name), 1.0)
    assert "all 2 targets" in due(case, config)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"min_decisions": 10, "max_decisions": 5}, "min_decisions <= max_decisions"),
        ({"min_decisions": 0, "max_decisions": 0}, "positive"),
        ({"threshold": 1.2}, "threshold"),
        ({"threshold": 1.0}, "which no score surely exceeds"),
        ({"reset_chance": -0.1}, "reset_chance"),
        ({"confidence": 1.0}, "confidence"),
        ({"min_games": -1.0}, "min_games"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        PromotionConfig(**wrong)


def test_a_quarry_has_to_be_beaten_instead_of_the_live_player():
    config = dataclasses.replace(AGAINST_MAINS, quarry=True)
    population = league()
    assert targets(EXPLOITER, population, config) == [], "it never began again"
    population.begin(EXPLOITER.id)
    population.add(frozen("m.1", "m"))
    assert [p.id for p in targets(EXPLOITER, population, config)] == ["first"], "the newest then; n has no past"
