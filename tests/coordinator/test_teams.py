"""Sides of several seats: who plays with whom, what it counts for, and leagues in which nobody is beaten."""

from collections import Counter

import pytest

from coordinator.opening import OpeningError, check_seats
from coordinator.promoting import promote
from league.player import Player
from league.promotion import opponent_roles
from league.rulebook import PlayerConfig
from league.spec import Array, EnvSpec, Seat
from league.ticket import Episode, Purpose, Result

BOT = {"kind": "scripted", "bot": "random", "anchor": 0.0}


def table(*seats):
    """Return a game with one agent in each seat, given as (role, side)."""
    return EnvSpec(
        name="game",
        agents=tuple(f"agent_{i}" for i in range(len(seats))),
        seats=tuple(Seat((i,), role, side) for i, (role, side) in enumerate(seats)),
        observation=Array((1,), "float32"),
        actions=2,
    )


TWO_V_TWO = table(("player", "red"), ("player", "red"), ("player", "blue"), ("player", "blue"))
PAIR = table(("player", "all"), ("player", "all"))
KNIGHTS = table(("archer", "all"), ("knight", "all"))


def names(ticket):
    return [entry.player for entry in ticket.entries]


def finish(league, ticket, ranks, returns=None):
    episode = Episode(ranks, returns or tuple(-float(rank) for rank in ranks), 5)
    result = Result(ticket=ticket.number, attempt=ticket.attempt, episodes=(episode,) * ticket.episodes)
    return league.report(results=[result])


@pytest.mark.parametrize(("own", "low", "high"), [(0.0, 0.0, 0.0), (0.5, 0.35, 0.65), (1.0, 1.0, 1.0)])
def test_team_mates_are_drawn_as_configured(bench, config, own, low, high):
    rules = config(main=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.matchmaking.name, rules.matchmaking.partner_self, rules.evaluation.share = "pfsp", own, 0.0
    league = bench(config=rules, env=TWO_V_TWO)
    league.write()
    tickets = league.play(200)
    mates = Counter(names(t)[1] for t in tickets)
    assert set(mates) <= {"main", "main.0"}
    assert all(names(t)[0] == "main" for t in tickets)
    assert low <= mates["main"] / 200 <= high


def test_hard_partners_are_those_with_low_returns(bench, config):
    rules = config(main=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.matchmaking.partner_self, rules.matchmaking.partner_weighting, rules.matchmaking.floor = 0.0, "hard", 0.0
    league = bench(config=rules, env=PAIR)
    league.write()
    league.write(version=1, decisions=5000)
    state = league.state
    state.training.record_return("main", "main.0", -8.0)
    state.training.record_return("main", "main.1", -4.0)
    main = state.population["main"]
    choices = league.coordinator.scheduler.choices(main, frozenset({"player"}), mates=True)
    assert {c.opponent: c.probability for c in choices} == {"main.0": 1.0}


def test_evaluation_plays_teams_of_one_player_and_counts_one_game(bench, config):
    rules = config(main=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.evaluation.share = 0.5
    league = bench(config=rules, env=TWO_V_TWO)
    league.write()
    evaluations = 0
    while evaluations < 10:
        ticket = league.report(want=1).tickets[0]
        finish(league, ticket, (0, 0, 1, 1))
        if ticket.purpose == Purpose.EVALUATE:
            evaluations += 1
            a, b, c, d = names(ticket)
            assert a == b != c == d
    state = league.state
    games = sum(sum(state.evaluation.raw(p.id, q.id)) for p in state.population for q in state.population)
    assert games == 2 * state.episodes["evaluate"], "one game for each episode, seen from both sides"
    assert league.refolded().evaluation == state.evaluation


def test_a_player_alone_against_a_pair_trains_on_both_sides(bench, config):
    rules = config(main=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.evaluation.share, rules.matchmaking.name, rules.matchmaking.partner_self = 0.0, "fsp", 0.0
    league = bench(config=rules, env=table(("player", "one"), ("player", "two"), ("player", "two")))
    league.write()
    places = Counter(names(t).index("main") for t in league.play(60) if names(t).count("main") == 1)
    assert min(places[0], places[1]) > 3


def test_targets_sit_on_other_sides():
    env = table(("lead", "red"), ("wing", "red"), ("prey", "blue"))
    assert opponent_roles(env, Player(id="a", kind="main", role="wing")) == {"prey"}
    assert opponent_roles(env, Player(id="a", kind="main", role="prey")) == {"lead", "wing"}
    assert opponent_roles(env, Player(id="a", kind="main")) == {"lead", "wing", "prey"}
    assert opponent_roles(TWO_V_TWO, Player(id="a", kind="main")) == {"player"}


# --- co-operation --------------------------------------------------------------------------------------------


def cooperative(bench, config, env=PAIR, **players):
    rules = config(**(players or {"main": PlayerConfig(), "other": PlayerConfig(), "bot": PlayerConfig(**BOT)}))
    rules.evaluation.share = 0.5
    league = bench(config=rules, env=env)
    league.write()
    return league


def test_everybody_plays_with_everybody_and_itself(bench, config):
    league = cooperative(bench, config)
    for _ in range(120):
        ticket = league.report(want=1).tickets[0]
        value = float("main" in names(ticket)) + float("other" in names(ticket))
        finish(league, ticket, (0, 0), (value, value))
    state = league.state
    players = ["main", "other", "bot", "main.0", "other.0"]
    games = [[state.evaluation.return_games(a, b) for b in players] for a in players]
    assert min(min(row) for row in games) > 0
    means = state.evaluation.mean_returns(players)
    assert means[0, 1] == means[1, 0] == 2.0
    assert (means[0, 0], means[0, 2], means[2, 2]) == (1.0, 1.0, 0.0)
    assert all(state.evaluation.games(a, b) == 0 for a in players for b in players), "nobody was beaten"
    assert state.elo["main"] == 0.0
    assert league.refolded().evaluation == state.evaluation


def test_the_final_evaluation_is_cross_play(bench, config):
    rules = config(main=PlayerConfig(), other=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.budget.minutes, rules.evaluation.final_games = 1.0, 6
    league = bench(config=rules, env=PAIR)
    league.write()
    league.end_training(60.0)
    tickets = []
    while not league.tick() and len(tickets) < 100:
        tickets += league.report(want=1).tickets
        finish(league, tickets[-1], (0, 0))
    assert league.state.phase == "over"
    everybody = ("main", "other", "bot")
    counts = {a: {b: league.state.games_of_newest(a, b) for b in everybody} for a in ("main", "other")}
    assert counts == {"main": {"main": 6, "other": 6, "bot": 6}, "other": {"main": 6, "other": 6, "bot": 6}}


def test_two_roles_of_one_side_and_players_bound_to_them(bench, config):
    players = {"main": PlayerConfig(role="each"), "bot": PlayerConfig(**BOT)}
    league = cooperative(bench, config, KNIGHTS, **players)
    assert [p.id for p in league.state.population.learning()] == ["main_archer", "main_knight"]
    for _ in range(60):
        ticket = league.report(want=1).tickets[0]
        archer, knight = names(ticket)
        assert archer.startswith(("main_archer", "bot"))
        assert knight.startswith(("main_knight", "bot"))
        finish(league, ticket, (0, 0))
    assert league.state.evaluation.return_games("main_archer", "main_knight") > 0


def test_with_three_roles_mains_are_evaluated_together(bench, config):
    trio = table(("archer", "all"), ("knight", "all"), ("healer", "all"))
    league = cooperative(bench, config, trio, main=PlayerConfig(role="each"), bot=PlayerConfig(**BOT))
    for _ in range(90):
        ticket = league.report(want=1).tickets[0]
        roles = ("archer", "knight", "healer")
        assert all(name.startswith((f"main_{role}", "bot")) for name, role in zip(names(ticket), roles, strict=True))
        finish(league, ticket, (0, 0, 0))
    met = league.state.evaluation.return_games
    for pair in (("main_archer", "main_knight"), ("main_knight", "main_healer"), ("main_archer.0", "bot")):
        assert met(*pair) > 0, pair


def test_a_co_operative_player_freezes_when_it_returns_surely_more_than_its_past(bench, config):
    league = cooperative(bench, config, main=PlayerConfig(), bot=PlayerConfig(**BOT))
    league.coordinator.state.config.promotion.min_games = 5
    league.write("main", version=1, decisions=1500)
    main, evaluation = league.state.population["main"], league.state.evaluation
    for player, level in (("main.0", 0.0), ("main", 0.05)):
        for i in range(20):
            evaluation.record_return(player, player, level + i % 2, 1.0)
    assert promote(league.state, main) == [], "the intervals touch"
    for i in range(40):
        evaluation.record_return("main", "main", 2.0 + i % 2, 1.0)
    (frozen,) = promote(league.state, main)
    assert frozen.player.id == "main.1"
    assert "surely more than main.0" in frozen.why


def test_exploiters_have_nothing_to_exploit_in_co_operation(config):
    with pytest.raises(OpeningError, match=r"exploiter.*nobody to exploit. Add league=cooperative"):
        check_seats(config(), PAIR)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_return_that_is_no_number_is_not_counted(bench, config, value):
    league = cooperative(bench, config)
    ticket = league.report(want=1).tickets[0]
    finish(league, ticket, (0, 0), (1.0, value))
    assert not sum(league.state.results.values())
    assert league.state.open[ticket.number].attempt == 1
