"""The rules of a league: founders, and what is refused before anything is played."""

import pytest
from shipped_kinds import shipped_kinds

from league.rulebook import BudgetConfig, EvaluationConfig, LeagueConfig, LeaseConfig, PlayerConfig, founders


def league(**players):
    return LeagueConfig(players=players, kinds=shipped_kinds())


def test_founders_come_in_the_order_of_the_config():
    config = league(
        main=PlayerConfig(rate=2.0, role="fox"),
        hunter=PlayerConfig(kind="main_exploiter"),
        random=PlayerConfig(kind="scripted", bot="random", anchor=0.0),
    )
    players = founders(config)
    assert [(p.id, p.kind, p.rate, p.role) for p in players] == [
        ("main", "main", 2.0, "fox"),
        ("hunter", "main_exploiter", 1.0, None),
        ("random", "scripted", 1.0, None),
    ]
    assert players[2].anchor == 0.0


@pytest.mark.parametrize(
    ("players", "message"),
    [
        ({}, "no learning player"),
        ({"main": PlayerConfig(rate=0.0)}, "no learning player"),
        ({"random": PlayerConfig(kind="scripted", bot="random")}, "no learning player"),
        ({"main": PlayerConfig(kind="frozen")}, "a frozen player of the config needs from=FILE"),
        (
            {"main": PlayerConfig(kind="scripted", bot="random", weights="f")},
            "a player of kind scripted has no weights",
        ),
        ({"main": PlayerConfig(kind="mian")}, r"league\.players\.main: unknown kind 'mian'; did you mean 'main'"),
        ({"main": PlayerConfig(bot="random")}, "names its bot"),
        ({"bot": PlayerConfig(kind="scripted")}, "names its bot"),
        ({"main": PlayerConfig(anchor=0.0)}, "cannot be an anchor"),
        ({"main": PlayerConfig(rate=-1.0)}, "rate must not be negative"),
        ({"main": PlayerConfig(), "main.0": PlayerConfig()}, "what a frozen 'main' is called"),
    ],
)
def test_a_league_that_could_not_be_played_is_refused(players, message):
    with pytest.raises(ValueError, match=message):
        founders(LeagueConfig(players=players))


def test_a_dot_alone_is_no_trouble():
    assert [p.id for p in founders(league(**{"v1.0": PlayerConfig(), "a.b": PlayerConfig()}))] == ["v1.0", "a.b"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LeagueConfig(episodes=0), "league.episodes must be at least 1"),
        (lambda: EvaluationConfig(share=1.0), "share"),
        (lambda: EvaluationConfig(episodes=0), "episodes"),
        (lambda: EvaluationConfig(final_games=-1), "final_games"),
        (lambda: EvaluationConfig(elo_k=0.0), "elo_k"),
        (lambda: BudgetConfig(minutes=0.0), "budget.minutes must be positive"),
        (lambda: BudgetConfig(env_steps=-5), "budget.env_steps must be positive"),
        (lambda: LeaseConfig(seconds=0.0), "seconds"),
        (lambda: LeaseConfig(attempts=0), "attempts"),
        (lambda: LeaseConfig(give_up=0), "give_up"),
        (lambda: LeaseConfig(quarantine=0), "quarantine"),
        (lambda: LeagueConfig(episodes=10**6), "at most 65536"),
        (lambda: founders(league(**{"x" * 65: PlayerConfig()})), "a name has 1 to 64 characters, this one 65"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_weights_make_a_start_or_a_frozen_player():
    players = {"main": PlayerConfig(weights="a" * 64), "old": PlayerConfig(kind="frozen", weights="b" * 64)}
    main, old = founders(LeagueConfig(players=players))
    assert (main.start, main.snapshot) == ("a" * 64, None)
    assert (old.start, old.snapshot, old.parent, old.learning) == (None, "b" * 64, None, False)
