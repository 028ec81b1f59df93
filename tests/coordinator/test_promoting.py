"""After a new candidate: freezes, resets, and old candidates pruned."""

import pytest
from league_table import kinds, take

from coordinator.promoting import KEPT_CANDIDATES
from league.events import (
    CandidateWritten,
    PlayerFrozen,
    PlayerReset,
    SnapshotPruned,
)
from league.rulebook import PlayerConfig
from league.ticket import Purpose


def test_the_pool_starts_with_one_frozen_player_for_every_main(bench, config):
    league = bench(config=config(a=PlayerConfig(), b=PlayerConfig(), e=PlayerConfig(kind="league_exploiter")))
    league.write()
    assert [event.player.id for event in kinds(league, PlayerFrozen)] == ["a.0", "b.0"]
    assert kinds(league, PlayerReset) == []
    assert league.state.population["a.0"].snapshot == "a-0-0"


def test_an_exploiter_is_frozen_first_then_reset_to_the_newest_weights_of_the_main(league):
    league.write("main", version=1, decisions=10)
    league.write("exploiter", version=5, decisions=2000)
    tail = [event for _, event in league.ledger.events()][-3:]
    assert [type(event) for event in tail] == [CandidateWritten, PlayerFrozen, PlayerReset]
    assert (tail[1].player.id, tail[1].player.snapshot) == ("exploiter.0", "exploiter-0-5")
    assert tail[1].player.kind == "main_exploiter"
    assert (tail[2].incarnation, tail[2].start) == (1, "main-0-1")
    row = next(row for row in league.progress().players if row.player == "exploiter")
    assert (row.incarnation, row.start) == (1, "main-0-1")
    hosts = {host.player: host.incarnation for host in league.report().hosts}
    assert hosts == {"main": 0, "exploiter": 1}


def test_exploiters_begin_from_the_main_once_it_has_learned_something(league):
    league.write("main", version=1, decisions=2000)
    tail = [event for _, event in league.ledger.events()][-3:]
    assert [type(event) for event in tail] == [CandidateWritten, PlayerFrozen, PlayerReset]
    assert (tail[2].player, tail[2].incarnation, tail[2].start) == ("exploiter", 1, "main-0-1")
    league.write("exploiter", version=0, decisions=0)
    league.write("main", version=2, decisions=4000)
    assert [event.player for event in kinds(league, PlayerReset)] == ["exploiter"], "only once"


def test_where_a_player_began_stays_in_the_store_and_survives_a_restart(league):
    league.write("main", version=1, decisions=10)
    league.write("exploiter", version=5, decisions=2000)
    for version in range(2, 9):
        league.write("main", version=version, decisions=10 * version)
    assert "main-0-1" in league.state.kept["main"]
    assert "main-0-2" not in league.state.kept["main"]
    league.crash()
    row = next(row for row in league.progress().players if row.player == "exploiter")
    assert (row.incarnation, row.start) == (1, "main-0-1")


def test_a_reset_to_the_initial_weights(bench, config):
    rules = config()
    rules.kinds["main_exploiter"].promotion["reset"] = "initial"
    league = bench(config=rules)
    league.write()
    league.write("exploiter", version=5, decisions=2000)
    assert kinds(league, PlayerReset)[-1].start is None
    row = next(row for row in league.progress().players if row.player == "exploiter")
    assert (row.incarnation, row.start) == (1, "exploiter-0-0")


def test_a_main_is_frozen_and_goes_on(league):
    league.write("main", version=1, decisions=2000)
    assert [event.player.id for event in kinds(league, PlayerFrozen)] == ["main.0", "main.1"]
    assert league.state.incarnations["main"] == 0
    league.write("main", version=2, decisions=3999)
    assert len(kinds(league, PlayerFrozen)) == 2
    league.write("main", version=3, decisions=4000)
    assert kinds(league, PlayerFrozen)[-1].player.id == "main.2"


def test_only_opponents_that_a_player_can_meet_count_for_its_promotion(bench, config, env):
    rules = config(fox=PlayerConfig(role="fox"), hound=PlayerConfig(role="hound"))
    rules.promotion.min_games, rules.promotion.max_decisions = 1, 10**9
    league = bench(config=rules, env=env("fox", "hound"))
    league.write()
    league.write("hound", version=1, decisions=10)
    while not league.state.training.games("fox", "hound.0") > 60:
        (ticket,) = league.report(want=1).tickets
        ranks = (0, 1) if ticket.entries[0].player == "fox" else (1, 0)
        league.report(results=[league.result(ticket, ranks=ranks)])
    league.write("fox", version=1, decisions=1000)
    assert kinds(league, PlayerFrozen)[-1].player.id == "fox.1"
    assert "against hound.0 (" in kinds(league, PlayerFrozen)[-1].why


def test_old_candidates_are_pruned_and_what_is_referenced_stays(league):
    ticket = next(t for t in iter(lambda: take(league), None) if t.purpose == Purpose.EVALUATE)
    pinned = {entry.snapshot for entry in ticket.entries if entry.player == "main"}
    for version in range(1, 10):
        league.write("main", version=version, decisions=10 * version)
    gone = {event.snapshot for event in kinds(league, SnapshotPruned)}
    kept = league.state.kept["main"]
    assert kept[-KEPT_CANDIDATES:] == ["main-0-7", "main-0-8", "main-0-9"]
    assert not gone & league.state.referenced()
    assert not gone & pinned
    assert gone | set(kept) == {f"main-0-{version}" for version in range(10)}
    assert "main-0-0" in kept, "it is the initial one, and frozen"


@pytest.fixture
def hunt(bench, config):
    """A league whose exploiter began from the second frozen main, and has a quarry."""
    rules = config()
    rules.kinds["main_exploiter"].matchmaking["quarry"] = 1.0
    rules.kinds["main_exploiter"].promotion |= {"quarry": True, "threshold": 0.6, "max_decisions": 10**9}
    league = bench(config=rules)
    league.write()
    league.write("main", version=1, decisions=2000)
    league.write("exploiter", version=0, decisions=0)
    return league


def beat(league, target, games):
    while league.state.training.games("exploiter", target) < games:
        (ticket,) = league.report(want=1).tickets
        won = (0, 1) if ticket.entries[0].player == "exploiter" else (1, 0)
        league.report(results=[league.result(ticket, ranks=won)])


def test_an_exploiter_that_beats_its_quarry_is_frozen_and_begins_again_from_the_newest_frozen_main(hunt):
    assert hunt.state.starts["exploiter"] == hunt.state.population["main.1"].snapshot
    hunt.write("main", version=2, decisions=4000)
    hunt.write("main", version=3, decisions=4500)
    beat(hunt, "main.1", games=40)
    hunt.write("exploiter", version=9, decisions=1500)
    frozen, reset = kinds(hunt, PlayerFrozen)[-1], kinds(hunt, PlayerReset)[-1]
    assert frozen.player.id == "exploiter.0"
    assert frozen.why.startswith("scores surely more than 0.6 against main.1 (")
    assert set(frozen.scores) == {"main.1"}
    assert frozen.scores["main.1"] > 0.9
    assert reset.start == hunt.state.population["main.2"].snapshot, "not its newest candidate: that is no quarry"
    assert hunt.state.population.quarry("exploiter", "main").id == "main.2"
    assert hunt.refolded().exploits == hunt.state.exploits == {"exploiter.0": frozen.scores}


def test_a_quarry_survives_a_restart(hunt):
    hunt.write("main", version=2, decisions=4000)
    before = hunt.state.population.begun
    hunt.crash()
    assert hunt.state.population.begun == before
    assert hunt.state.population.quarry("exploiter", "main").id == "main.1"
