"""The scheduler: shares, rates, roles, and the same draw for the same seed."""

from collections import Counter

import pytest

from coordinator.scheduler import Scheduler
from coordinator.scheduling.training import LEAD
from league.rulebook import PlayerConfig
from league.ticket import Purpose

BOT = {"kind": "scripted", "bot": "random", "anchor": 0.0}


def share_of_steps(league):
    return league.state.steps[Purpose.EVALUATE] / league.state.env_steps


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("lengths", [(5, 5), (4, 40), (40, 4)])
def test_evaluation_gets_its_share_of_steps_whatever_its_episodes_last(bench, config, share, lengths):
    rules = config()
    rules.evaluation.share = share
    league = bench(config=rules)
    league.write()
    length = dict(zip(Purpose, lengths, strict=True))
    for _ in range(60):
        tickets = league.report(want=8).tickets  # eight at a time: what is outstanding must count
        league.report(results=[league.result(t, length=length[t.purpose]) for t in tickets])
    slack = 8 * 2 * max(lengths) / league.state.env_steps
    assert share_of_steps(league) == pytest.approx(share, abs=slack)


def test_what_is_under_way_counts_before_the_first_result_is_in(bench, config):
    rules = config()
    rules.evaluation.share = 0.25
    league = bench(config=rules)
    league.write()
    tickets = league.report(want=40).tickets
    assert sum(t.purpose == Purpose.EVALUATE for t in tickets) == pytest.approx(10, abs=1)


@pytest.mark.parametrize(("anchored", "low", "high"), [(0.0, 0.0, 0.35), (0.5, 0.4, 0.75), (1.0, 1.0, 1.0)])
def test_evaluation_meets_anchors_as_often_as_configured(bench, config, anchored, low, high):
    rules = config()
    rules.evaluation.share, rules.evaluation.anchored = 0.5, anchored
    league = bench(config=rules)
    for version in range(12):  # a pool in which anchors are few
        league.write("main", version=version, decisions=2000 * version)
    played = [t for t in league.play(300) if t.purpose == Purpose.EVALUATE]
    met = sum("random" in {e.player for e in t.entries} for t in played) / len(played)
    assert low <= met <= high


def test_no_share_no_evaluation(bench, config):
    rules = config()
    rules.evaluation.share = 0.0
    league = bench(config=rules)
    league.write()
    assert {t.purpose for t in league.play(30)} == {Purpose.TRAIN}


def test_training_episodes_follow_the_rates(bench, config):
    players = {"a": PlayerConfig(rate=3.0), "b": PlayerConfig(rate=1.0), "c": PlayerConfig(rate=0.0)}
    league = bench(config=config(**players, bot=PlayerConfig(**BOT)))
    league.write()
    trained = Counter(t.trains for t in league.play(200) if t.trains)
    assert set(trained) == {"a", "b"}
    assert trained["a"] == pytest.approx(3 * trained["b"], abs=3)


def test_tickets_carry_the_team_spirit_of_the_player_that_they_train(bench, config):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.team.spirit, rules.team.spirit_final, rules.team.anneal_decisions = 0.2, 1.0, 1000
    league = bench(config=rules)
    league.write()
    told = {}
    for decisions in (500, 4000):
        for ticket in league.play(40):
            told.setdefault((ticket.trains, ticket.purpose), []).append(ticket.spirit)
        league.write("a", version=decisions, decisions=decisions)
    for ticket in league.play(40):
        told.setdefault((ticket.trains, ticket.purpose), []).append(ticket.spirit)
    assert sorted(set(told["a", Purpose.TRAIN])) == pytest.approx([0.2, 0.6, 1.0])
    assert set(told["b", Purpose.TRAIN]) == {0.2}, "by its own decisions"
    assert set(told[None, Purpose.EVALUATE]) == {0.0}


def test_a_starved_player_gets_no_ticket_and_the_others_go_on(bench, config):
    league = bench(config=config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT)))
    league.write()
    assert {t.trains for t in league.play(20, starved=("a",))} == {"b", None}
    league.play(40, starved=("a", "b"))
    assert league.report(want=1, starved=("a", "b")).tickets == (), "evaluation keeps to its share"
    assert {t.trains for t in league.play(20)} == {"a", None}, "and then it catches up"


def test_nobody_runs_far_ahead_of_a_starved_player(bench, config):
    """Where the learner is the limit, a player with a large rate is starved most of the time, and still comes first."""
    league = bench(config=config(a=PlayerConfig(rate=8.0), b=PlayerConfig(rate=1.0), bot=PlayerConfig(**BOT)))
    league.write()
    ahead = [t for t in league.play(3 * LEAD, starved=("a",)) if t.trains]
    assert 0 < len(ahead) <= LEAD, "b goes on for a while, and then rests"
    for round_ in range(40):
        league.play(9, starved=("a",) if round_ % 4 else ())
    asked = league.state.asked
    assert asked["a"] > asked["b"]


def test_a_player_that_comes_late_starts_level_with_the_others(bench, config):
    rules = config(a=PlayerConfig(), bot=PlayerConfig(**BOT))
    league = bench(config=rules)
    league.write()
    league.play(50)
    league.ledger.close()
    league.config.players["late"] = PlayerConfig(rate=2.0)
    league.open()
    assert league.state.asked["late"] == 2 * league.state.asked["a"]


def test_a_starved_player_gets_no_second_attempt_either(bench):
    league = bench()
    league.write()
    ticket = next(t for t in league.report(want=4).tickets if t.trains)
    league.now = 30.0
    league.tick()
    starved = league.report(want=9, starved=(ticket.trains,)).tickets
    assert ticket.trains not in {t.trains for t in starved}
    assert ticket.number in {t.number for t in league.report(want=9).tickets}


@pytest.mark.parametrize("seed", [7, 0, -1, 2**63])
def test_the_same_seed_and_state_draw_the_same_ticket(bench, seed):
    one, two = bench(seed=seed), bench(seed=seed)
    for league in (one, two):
        league.write()
    assert one.play(40) == two.play(40)
    assert Scheduler(one.state).next(0.0) == one.coordinator.scheduler.next(0.0)
    one.crash()
    assert one.report(want=9).tickets == two.report(want=9).tickets, "there is no state of a generator to lose"


def test_drawing_changes_nothing(bench):
    league = bench()
    league.write()
    scheduler = league.coordinator.scheduler
    assert scheduler.next(0.0) == scheduler.next(0.0)
    assert league.coordinator.take() == []


def test_another_seed_draws_otherwise(bench):
    one, two = bench(seed=1), bench(seed=2)
    for league in (one, two):
        league.write()
        league.write("main", version=1, decisions=3000)
        league.write("main", version=2, decisions=6000)
    opponents = [[entry.player for t in league.play(40) for entry in t.entries] for league in (one, two)]
    assert opponents[0] != opponents[1]


def test_anchors_are_for_evaluation_only(bench):
    league = bench()
    league.write()
    for ticket in league.play(60):
        if ticket.purpose == Purpose.TRAIN:
            assert "random" not in {entry.player for entry in ticket.entries}
            assert ticket.entries[0].snapshot is None, "the trained player plays with its live weights"
        else:
            assert all(entry.snapshot or entry.bot for entry in ticket.entries), "evaluation plays snapshots only"
            assert len({entry.player for entry in ticket.entries}) == 2


def test_evaluation_lets_everybody_meet_everybody(bench, config):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.evaluation.share = 0.5
    league = bench(config=rules)
    league.write()
    met = Counter()
    for ticket in league.play(200):
        if ticket.purpose == Purpose.EVALUATE:
            met[frozenset(entry.player for entry in ticket.entries)] += 1
    assert len(met) == 10  # a, b, a.0, b.0 and the bot
    assert max(met.values()) <= 2 * min(met.values())


# --- roles and seats ----------------------------------------------------------------------------------------


def roles_taken(tickets, roles):
    taken = {}
    for ticket in tickets:
        assert len(ticket.entries) == len(roles)
        for entry, role in zip(ticket.entries, roles, strict=True):
            taken.setdefault(entry.player, set()).add(role)
    return taken


def test_players_bound_to_roles_sit_only_there_in_training_and_evaluation(bench, config, env):
    roles = ("fox", "hound", "hound")
    players = {"fox": PlayerConfig(role="fox"), "hound": PlayerConfig(role="hound"), "bot": PlayerConfig(**BOT)}
    rules = config(**players)
    rules.evaluation.share = 0.5
    league = bench(config=rules, env=env(*roles))
    league.write()
    league.write("fox", version=1, decisions=5000)
    league.write("hound", version=1, decisions=5000)
    tickets = league.play(80)
    taken = roles_taken(tickets, roles)
    bound = {name: places for name, places in taken.items() if name != "bot"}
    assert sorted(bound) == ["fox", "fox.0", "fox.1", "hound", "hound.0", "hound.1"]
    assert all(places == {name.split(".")[0]} for name, places in bound.items())
    assert {t.trains for t in tickets} == {"fox", "hound", None}


def test_a_player_for_all_roles_trains_in_all_of_them(bench, config, env):
    roles = ("fox", "hound")
    rules = config(main=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.matchmaking.name = "fsp"
    league = bench(config=rules, env=env(*roles))
    league.write()
    live = [t for t in league.play(60) if t.purpose == Purpose.TRAIN]
    alone = [t for t in live if any(entry.snapshot for entry in t.entries)]
    places = Counter(next(i for i, entry in enumerate(t.entries) if entry.snapshot is None) for t in alone)
    assert min(places[0], places[1]) > 3


def test_three_seats_are_filled_with_different_opponents_if_there_are_some(bench, config, env):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.evaluation.share = 0.5
    league = bench(config=rules, env=env("player", "player", "player"))
    league.write()
    evaluations = [t for t in league.play(40) if t.purpose == Purpose.EVALUATE]
    assert len(evaluations) > 10
    assert all(len({entry.player for entry in t.entries}) == 3 for t in evaluations)


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
    assert {other: sum(tally) for other, tally in league.state.latest["main"].items()} == {"bot": 6, "main.0": 6}
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
    met = {player: sum(tally) for player, tally in league.state.latest["main"].items()}
    assert met == {"bot": 6, "other": 6} | dict.fromkeys(pasts[-12:], each)
    league.tick()
    assert league.state.phase == "over"


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
    assert {player: sorted(tally) for player, tally in league.state.latest.items()} == {
        "fox": ["bot", "hunter", "main.0"],
        "main": ["bot", "fox.0", "hunter", "main.0"],
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


# --- void pairings ------------------------------------------------------------------------------------------


def test_a_void_pair_is_left_out_while_there_are_others(bench, config):
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT))
    rules.matchmaking.name, rules.evaluation.share = "pfsp", 0.5
    league = bench(config=rules)
    league.write()
    scheduler = league.coordinator.scheduler
    for other in ("a.0", "b.0", "bot"):
        scheduler.resting.until[frozenset(("a", other))] = 50.0
    pairs = {frozenset(entry.player for entry in t.entries) for t in league.play(60)}
    assert frozenset(("a", "b")) in pairs
    assert not pairs & {frozenset(("a", "a.0")), frozenset(("a", "b.0")), frozenset(("a", "bot"))}
    league.now = 50.0
    later = {frozenset(entry.player for entry in t.entries) for t in league.play(60)}
    assert later & {frozenset(("a", "a.0")), frozenset(("a", "b.0"))}


def test_a_void_pair_is_drawn_when_nothing_else_is_left(bench, config):
    rules = config(main=PlayerConfig())
    rules.matchmaking.name = "fsp"
    league = bench(config=rules)
    league.write()
    scheduler = league.coordinator.scheduler
    scheduler.resting.until = {frozenset(("main", "main.0")): 1e9, frozenset(("main",)): 1e9}
    assert len(league.play(5)) == 5
