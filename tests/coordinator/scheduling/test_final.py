"""The final evaluation: whom each last candidate plays, and how often."""

from collections import Counter

import pytest
from league_table import BOT, budgeted, roles_taken

from league.rulebook import PlayerConfig
from league.state import FINAL, OVER
from league.ticket import Purpose


def test_the_final_evaluation_plays_exactly_its_games_with_the_newest_candidates(bench, config):
    league = budgeted(bench, config, final_games=5, minutes=1.0)
    league.write(version=1, decisions=10)
    league.end_training(60.0)
    tickets = league.play(100)
    assert all(t.purpose == Purpose.EVALUATE for t in tickets)
    everybody = league.coordinator.scheduler.contestants()
    assert {entry for t in tickets for entry in t.entries} == set(everybody)
    assert [t.entries for t in tickets if not {"main", "exploiter"} & {e.player for e in t.entries}] == []
    assert [league.state.games_of_newest(player, "random") for player in ("main", "exploiter")] == [5, 5]
    assert not league.report(want=1).stop
    league.tick()
    assert league.state.phase == OVER
    assert league.state.why == "the budget of 1 minutes is spent"
    orders = league.report(want=1)
    assert (orders.stop, orders.tickets) == (True, ())
    assert league.progress().stop


def test_in_a_final_evaluation_that_time_may_end_all_pairings_come_along(bench, config):
    league = budgeted(bench, config, final_games=4000, minutes=2.0)
    league.end_training(120.0)
    scheduler, episodes = league.coordinator.scheduler, league.state.config.evaluation.episodes
    done, wanted = scheduler.final_games()
    league.play(20)
    left = [left for _, other, left in scheduler.final_pairings() if other.bot]
    assert max(left) - min(left) <= episodes
    assert scheduler.final_games() == (done + 20 * episodes, wanted)


def test_the_final_evaluation_hands_out_no_game_too_many_while_others_are_under_way(bench, config):
    league = budgeted(bench, config, final_games=7, minutes=1.0)
    league.end_training(60.0)
    tickets = league.report(want=50).tickets
    frozen = len(league.state.population.frozen())
    each = 7 // (frozen + 1)  # the other candidate is met like a frozen player, and both count these games
    assert sum(t.episodes for t in tickets) == 2 * (7 + frozen * each) + each
    league.tick()
    assert league.state.phase == FINAL, "not before they are played"
    league.now = 30.0
    league.tick()
    again = league.report(want=50).tickets
    assert [t.attempt for t in again] == [1] * len(tickets)
    league.report(results=[league.result(t) for t in again])
    league.tick()
    assert league.state.phase == OVER


def test_candidates_meet_live_exploiters_in_the_final_evaluation(bench, config):
    league = budgeted(bench, config, final_games=30, minutes=1.0)
    league.end_training(60.0)
    league.play(200)
    games = league.state.games_of_newest
    assert games("main", "exploiter") == games("exploiter", "main") == 15


def test_kinds_that_are_not_rated_are_not_evaluated(bench, config):
    rules = config()
    rules.kinds["main_exploiter"].rated = False
    rules.evaluation.share = 0.5
    league = bench(config=rules)
    league.write()
    league.write("exploiter", version=1, decisions=2000)
    assert "exploiter.0" in league.state.population
    evaluations = [t for t in league.play(60) if t.purpose == Purpose.EVALUATE]
    assert {entry.player for t in evaluations for entry in t.entries} == {"main", "main.0", "random"}


def final(bench, config, env, players, final_games=6):
    rules = config(**players)
    rules.budget.minutes, rules.evaluation.final_games = 1.0, final_games
    league = bench(config=rules, env=env)
    league.write()
    league.end_training(60.0)
    return league


def test_the_final_evaluation_with_three_seats_counts_games_not_episodes(bench, config, env):
    league = final(
        bench, config, env("player", "player", "player"), {"main": PlayerConfig(), "bot": PlayerConfig(**BOT)}
    )
    tickets = league.play(50)
    assert sum(t.episodes for t in tickets) == 3 + 3
    assert [league.state.games_of_newest("main", other) for other in ("bot", "main.0")] == [6, 6]
    league.tick()
    assert league.state.phase == "over"


@pytest.mark.parametrize(("frozen", "each"), [(1, 6), (2, 6), (5, 2), (30, 1)])
def test_in_the_final_evaluation_candidates_meet_pasts_as_often_as_anchors(bench, config, env, frozen, each):
    rules = config(main=PlayerConfig(), bot=PlayerConfig(**BOT), other=PlayerConfig(**BOT | {"anchor": 9.0}))
    rules.budget.minutes, rules.evaluation.final_games = 1.0, 6
    rules.promotion.min_decisions, rules.promotion.max_decisions = 1, 1
    league = bench(config=rules)
    for version in range(frozen):
        league.write(version=version, decisions=version)
    pasts = [player.id for player in league.state.population.frozen()]
    assert len(pasts) == frozen
    league.end_training(60.0)
    league.play(100)
    met = {p.id: games for p in league.state.population if (games := league.state.games_of_newest("main", p.id))}
    assert met == {"bot": 6, "other": 6} | dict.fromkeys(pasts[-12:], each)
    league.tick()
    assert league.state.phase == "over"


def test_in_the_final_evaluation_every_role_has_the_same_share(bench, config, env):
    players = {"main": PlayerConfig(), "bot": PlayerConfig(**BOT)}
    players["other"] = PlayerConfig(kind="scripted", bot="random", anchor=1.0)
    league = final(bench, config, env("fox", "hound"), players)
    games = Counter()
    for ticket in league.play(50):
        first, second = (entry.player for entry in ticket.entries)
        games[first, second] += ticket.episodes
    for other in ("bot", "other"):
        assert abs(games["main", other] - games[other, "main"]) <= 1
        assert games["main", other]


def test_the_final_evaluation_keeps_to_roles_and_takes_all_of_them(bench, config, env):
    players = {"fox": PlayerConfig(role="fox"), "main": PlayerConfig(), "bot": PlayerConfig(**BOT)}
    players["hunter"] = PlayerConfig(kind="scripted", bot="random", anchor=1.0, role="hound")
    roles = ("fox", "hound")
    league = final(bench, config, env(*roles), players)
    tickets = league.play(50)
    taken = roles_taken(tickets, roles)
    assert taken["fox"] == {"fox"}
    assert taken["main"] == {"fox", "hound"}
    assert taken["hunter"] == {"hound"}
    everybody = sorted(player.id for player in league.state.population)
    assert {
        player: [other for other in everybody if league.state.games_of_newest(player, other)]
        for player in ("fox", "main")
    } == {
        "fox": ["bot", "hunter", "main", "main.0"],
        "main": ["bot", "fox", "fox.0", "hunter", "main.0"],
    }
    league.tick()
    assert league.state.phase == "over"


def test_a_game_with_one_seat_trains_evaluates_and_ends(bench, config, env):
    league = final(bench, config, env("player"), {"main": PlayerConfig(), "bot": PlayerConfig(**BOT)})
    assert sum(t.episodes for t in league.play(20)) == 6
    league.tick()
    assert league.state.phase == "over"
    league.coordinator.reopen()
    tickets = league.play(30)
    assert {len(t.entries) for t in tickets} == {1}
    assert {t.purpose for t in tickets} == set(Purpose)
