"""Training tickets: rates, starved players, roles."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from league_table import BOT

from coordinator.scheduling.training import LEAD
from league.rulebook import PlayerConfig
from league.ticket import Purpose


def trained(tickets):
    """Return how many of the tickets train each player."""
    return Counter(player for ticket in tickets for player in ticket.trains)


def test_no_ticket_before_the_first_candidate(bench):
    league = bench()
    assert league.report(want=5).tickets == ()
    league.write("exploiter")
    assert league.report(want=5).tickets == (), "its only opponent, the main, has no weights yet"
    league.write("main")
    assert len(league.report(want=5).tickets) == 5


def test_a_reset_player_gets_no_ticket_before_its_new_candidate(league):
    league.write("exploiter", version=5, decisions=2000)
    assert {ticket.trains for ticket in league.play(20)} <= {("main",), ()}
    league.write("exploiter", version=0, decisions=2000)
    assert "exploiter" in trained(league.play(20))


def test_training_episodes_follow_the_rates(bench, config):
    players = {"a": PlayerConfig(rate=3.0), "b": PlayerConfig(rate=1.0), "c": PlayerConfig(rate=0.0)}
    rules = config(**players, bot=PlayerConfig(**BOT))
    rules.matchmaking.name = "selfplay"
    league = bench(config=rules)
    league.write()
    counts = trained(league.play(200))
    assert set(counts) == {"a", "b"}
    assert counts["a"] == pytest.approx(3 * counts["b"], abs=3)


def test_a_match_of_two_live_players_trains_both(league):
    """The exploiter meets nobody but the main at first; the main meets itself."""
    tickets = [t for t in league.play(40) if t.purpose == Purpose.TRAIN]
    entries = {tuple(entry.player for entry in t.entries): t.trains for t in tickets}
    assert entries["exploiter", "main"] == ("exploiter", "main")
    assert entries["main", "main"] == ("main",)
    assert all(len(t.trains) == 1 for t in tickets if any(entry.snapshot for entry in t.entries))


def test_of_two_live_players_the_one_that_has_credit_trains(league):
    tickets = league.play(20, starved=("main",))
    assert {t.trains for t in tickets if t.purpose == Purpose.TRAIN} == {("exploiter",)}
    assert any(entry.player == "main" and entry.snapshot is None for t in tickets for entry in t.entries)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rates=st.lists(st.sampled_from([0.1, 0.5, 1.0, 3.0, 8.0]), min_size=2, max_size=4))
def test_rates_hold_whoever_meets_whom(bench, config, rates):
    """Players that are trained in matches of others, too, wait until the rest has caught up."""
    rules = config(**{f"p{i}": PlayerConfig(rate=rate) for i, rate in enumerate(rates)}, bot=PlayerConfig(**BOT))
    league = bench(config=rules)
    league.write()
    tickets = league.play(150)
    assert any(len(t.trains) > 1 for t in tickets)
    counted = {player: count * rules.episodes for player, count in trained(tickets).items()}
    assert counted == {player: count for player, count in league.state.asked.items() if count}
    had = [league.state.asked[f"p{i}"] / rate for i, rate in enumerate(rates)]
    lead = (LEAD + 1) * rules.episodes / sum(rates)
    assert max(had) - min(had) <= lead + rules.episodes / min(rates)


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
    assert sorted(set(told[("a",), Purpose.TRAIN])) == pytest.approx([0.2, 0.6, 1.0])
    assert set(told[("b",), Purpose.TRAIN]) == {0.2}, "by its own decisions"
    assert set(told[(), Purpose.EVALUATE]) == {0.0}


def test_a_starved_player_gets_no_ticket_and_the_others_go_on(bench, config):
    league = bench(config=config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT)))
    league.write()
    assert {t.trains for t in league.play(20, starved=("a",))} == {("b",), ()}
    league.play(40, starved=("a", "b"))
    assert league.report(want=1, starved=("a", "b")).tickets == (), "evaluation keeps to its share"
    assert all("a" in t.trains for t in league.play(20) if t.trains), "and then it catches up"


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


def test_a_mixture_is_met_when_all_its_members_have_weights(bench, config):
    blend = PlayerConfig(kind="mixture", members=["b", "bot"], shares=[0.75, 0.25], anchor=0.0)
    rules = config(a=PlayerConfig(), b=PlayerConfig(), bot=PlayerConfig(**BOT), blend=blend)
    rules.matchmaking.name, rules.matchmaking.train_against_anchors = "pfsp", True
    league = bench(config=rules)
    league.write("a")

    def met(tickets):
        return [e for t in tickets if t.trains for e in t.entries if e.player == "blend"]

    assert met(league.play(60)) == [], "b has no candidate yet"
    league.write("b")
    entries = met(league.play(60))
    assert entries
    for entry in entries:
        assert [(member.player, member.share) for member in entry.members] == [("b", 0.75), ("bot", 0.25)]
        assert entry.members[0].snapshot is not None
        assert entry.snapshot is None
