"""Progress of learners: rosters, and which candidates count."""

from league_table import budgeted


def test_a_roster_says_who_trains_where_from_which_weights(bench):
    league = bench(learners=("learner-0", "learner-1"))
    first = league.progress(name="learner-0")
    second = league.progress(name="learner-1")
    assert [row.player for row in first.players] == ["main"]
    assert [row.player for row in second.players] == ["exploiter"]
    assert (first.players[0].start, first.players[0].incarnation, first.players[0].train) == (None, 0, True)
    assert not first.stop
    league.write("main")
    assert league.progress(name="learner-0").players[0].start == "main-0-0"
    assert league.progress(name="learner-7").players == ()


def test_stale_and_foreign_candidates_are_ignored(league):
    league.write("main", version=3, decisions=10)
    head = league.ledger.head
    league.progress(league.candidate("main", version=3))
    league.progress(league.candidate("main", version=2))
    league.progress(league.candidate("main", version=9, incarnation=1))
    stranger = league.candidate("main", version=9)
    league.progress(type(stranger)(player="x", incarnation=0, version=9, snapshot="x", decisions=0))
    assert league.ledger.head == head


def test_a_last_candidate_whose_file_is_not_there_yet_is_waited_for(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.tick(elapsed=60.0)
    league.coordinator.inspect = lambda candidate: None
    league.progress(league.candidate("main", 9, 100), finished=["main", "exploiter"])
    league.tick(elapsed=61.0)
    assert league.play(9) == []
    league.coordinator.inspect = lambda candidate: ""
    league.progress(league.candidate("main", 9, 100), finished=["main", "exploiter"])
    league.tick(elapsed=62.0)
    assert "main-0-9" in {entry.snapshot for ticket in league.play(99) for entry in ticket.entries}
