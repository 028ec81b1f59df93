"""The coordinator: verdicts, attempts, restarts, rosters, freezes, phases."""

import pytest

from coordinator.collector_reports import UNPROVEN
from coordinator.last_candidates import SILENCE
from coordinator.open_tickets import BACK_OFF
from coordinator.promoting import KEPT_CANDIDATES
from coordinator.workers import REPLACED, SILENT
from league.events import (
    CandidateWritten,
    OperatorActed,
    PhaseBegan,
    PlayerFrozen,
    PlayerReset,
    ResultCounted,
    SnapshotPruned,
    TicketReissued,
    TicketVoided,
    TicketWithdrawn,
)
from league.rulebook import PlayerConfig
from league.state import FINAL, OVER, TRAINING
from league.store.fold import encode_fold
from league.ticket import Episode, Fault, Purpose, Result
from league.wire.messages import Ack, Command, Done, Follow, Progress, Refused, Report, Role, Verdict

ACCEPTED, DUPLICATE, SUPERSEDED, UNKNOWN = Verdict


@pytest.fixture
def league(bench):
    """A league whose players have their first candidates."""
    league = bench()
    league.write()
    return league


def take(league, session="c0/1", count=1):
    tickets = league.report(session, want=count).tickets
    assert len(tickets) == count
    return tickets if count > 1 else tickets[0]


def kinds(league, kind):
    return [event for _, event in league.ledger.events() if isinstance(event, kind)]


# --- verdicts -----------------------------------------------------------------------------------------------


def test_a_result_is_accepted_once(league):
    ticket = take(league)
    assert league.report(results=[league.result(ticket)]).acks == (Ack(1, 0, ACCEPTED),)
    assert league.report(results=[league.result(ticket)]).acks == (Ack(1, 0, DUPLICATE),)
    assert [event.ticket for event in kinds(league, ResultCounted)] == [1]
    assert league.state.open == {}


def test_the_same_result_twice_in_one_report_is_counted_once(league):
    ticket = take(league)
    acks = league.report(results=[league.result(ticket)] * 2).acks
    assert [ack.verdict for ack in acks] == [ACCEPTED, DUPLICATE]


def test_a_result_of_an_attempt_that_was_given_up_is_superseded(league):
    ticket = take(league)
    league.now = 30.0
    league.tick()
    assert league.report(results=[league.result(ticket)]).acks == (Ack(1, 0, SUPERSEDED),)
    assert kinds(league, ResultCounted) == []
    again = take(league, "c1/1")
    assert (again.number, again.attempt) == (1, 1)
    assert league.report("c1/1", results=[league.result(again)]).acks == (Ack(1, 1, ACCEPTED),)


@pytest.mark.parametrize("number", [0, -1, 2, 10**15])
def test_a_ticket_that_never_was_is_unknown(league, number):
    take(league)
    acks = league.report(results=[Result(ticket=number, attempt=0, episodes=())]).acks
    assert acks == (Ack(number, 0, UNKNOWN),)


@pytest.mark.parametrize("stranger", ["c9/1", "c0/2", "c9/c0/1"])
def test_only_the_session_that_holds_a_ticket_is_heard_about_it(league, stranger):
    ticket = take(league, "c0/1")
    fault = Fault(ticket=1, attempt=0, reason="x")
    acks = league.report(stranger, results=[league.result(ticket)], faults=[fault]).acks
    assert [ack.verdict for ack in acks] == [SUPERSEDED, SUPERSEDED]
    assert league.report(stranger, held=[(1, 0, 5)]).revoked == ((1, 0),)
    assert league.state.open[1].attempt == 0, "nothing happened to it"
    assert league.report("c0/1", results=[league.result(ticket)]).acks[0].verdict == ACCEPTED


def test_a_ticket_that_waits_for_its_next_attempt_is_nobodys(league):
    ticket = take(league)
    league.report(faults=[Fault(ticket=1, attempt=0, reason="x")])
    for session in ("c0/1", "c9/1"):
        acks = league.report(session, results=[league.result(ticket, attempt=1)]).acks
        assert acks == (Ack(1, 1, SUPERSEDED),), "its second attempt was given to nobody yet"


@pytest.mark.parametrize("first", ["held", "results"])
def test_after_a_restart_the_first_session_that_has_a_ticket_keeps_it(league, first):
    tickets = take(league, "c0/1", count=2)
    league.crash()
    claim = {"held": [(1, 0, 5)]} if first == "held" else {"results": [league.result(tickets[0])]}
    league.report("c0/1", **claim)
    acks = league.report("c9/1", results=[league.result(ticket) for ticket in tickets]).acks
    assert [ack.verdict for ack in acks] == [SUPERSEDED if first == "held" else DUPLICATE, ACCEPTED]


@pytest.mark.parametrize(
    "episodes",
    [
        (),
        (Episode((0, 1), (0.0, 0.0), 5),),
        (Episode((0, 1), (0.0, 0.0), 5),) * 3,
        (Episode((0, 1, 2), (0.0, 0.0), 5),) * 2,
        (Episode((0, 1), (0.0,), 5),) * 2,
        (Episode((0, 1), (0.0, 0.0), -5),) * 2,
    ],
)
def test_a_malformed_result_is_no_result_and_the_ticket_is_played_again(league, episodes):
    ticket = take(league)
    (ack,) = league.report(results=[Result(ticket=1, attempt=0, episodes=episodes)]).acks
    assert ack.verdict == SUPERSEDED
    assert kinds(league, ResultCounted) == []
    assert take(league).attempt == 1
    assert league.report(results=[league.result(ticket, attempt=1)]).acks[0].verdict == ACCEPTED


def test_a_human_gets_no_tickets_of_collectors_and_claims_none(league):
    take(league, "c0/1")
    assert league.report("human-ada/1", want=9).tickets == ()
    league.crash()
    acks = league.report("human-ada/1", faults=[Fault(ticket=1, attempt=0, reason="x")]).acks
    assert acks == (Ack(1, 0, SUPERSEDED),)


# --- attempts -----------------------------------------------------------------------------------------------


def test_a_fault_gives_the_ticket_to_the_next_and_three_make_it_void(league):
    take(league)
    for attempt in range(3):
        fault = Fault(ticket=1, attempt=attempt, reason="on fire")
        assert league.report(faults=[fault]).acks == (Ack(1, attempt, ACCEPTED),)
        if attempt < 2:
            assert (take(league).number, league.state.open[1].attempt) == (1, attempt + 1)
    assert [event.why for event in kinds(league, TicketReissued)] == ["on fire"] * 2
    assert [event.ticket for event in kinds(league, TicketVoided)] == [1]
    assert league.report(faults=[Fault(ticket=1, attempt=2, reason="x")]).acks[0].verdict == DUPLICATE
    assert league.state.games == {}, "nobody wins it"


def test_a_void_pairing_rests(league):
    ticket = next(t for t in iter(lambda: take(league), None) if len({entry.player for entry in t.entries}) == 2)
    pair = [entry.player for entry in ticket.entries]
    rests = league.coordinator.scheduler.resting.rests
    for attempt in range(3):
        assert not rests(*pair, league.now)
        league.report(faults=[Fault(ticket=ticket.number, attempt=attempt, reason="x")])
        if attempt < 2:
            assert take(league).number == ticket.number
    assert rests(*pair, league.now)
    assert rests(*reversed(pair), league.now + BACK_OFF - 1)
    assert not rests(*pair, league.now + BACK_OFF)


def test_a_stalled_collector_loses_its_ticket_and_is_told(league):
    take(league)
    for now in (10.0, 20.0, 30.0):
        league.now = now
        league.report(held=[(1, 0, 7)])
        league.tick()
    league.now = 40.0  # its steps stand still since 10
    assert [type(event) for event in league.tick()] == [TicketReissued]
    assert league.report(held=[(1, 0, 7)]).revoked == ((1, 0),)


def test_progress_keeps_a_ticket(league):
    take(league)
    for now in range(0, 300, 10):
        league.now = float(now)
        assert league.report(held=[(1, 0, now)]).revoked == ()
        assert league.tick() == []


def test_a_ticket_that_another_session_holds_is_revoked(league):
    take(league, "c0/1")
    assert league.report("c1/1", held=[(1, 0, 5)]).revoked == ((1, 0),)
    assert league.report("c0/1", held=[(1, 0, 5)]).revoked == ()


def test_a_settled_ticket_is_revoked(league):
    ticket = take(league)
    league.report(results=[league.result(ticket)])
    assert league.report(held=[(1, 0, 5)]).revoked == ((1, 0),)


def test_a_collector_that_came_back_frees_what_it_held_when_its_old_session_is_silent(league):
    take(league, "c0/1", count=2)
    league.now = REPLACED
    league.report("c0/2")
    assert league.tick() == [], "the old one may still be there"
    league.now += 0.1
    league.tick()
    orders = league.report("c0/2", want=2)
    assert [(t.number, t.attempt) for t in orders.tickets] == [(1, 1), (2, 1)]
    assert {event.why for event in kinds(league, TicketReissued)} == {
        "its collector ended, and was started again: the log of the collector says why"
    }


def test_void_after_void_ends_a_league_that_nothing_can_be_played_in(bench, config):
    rules = config()
    rules.lease.attempts, rules.lease.give_up = 1, 5
    league = bench(config=rules)
    league.write()
    for number in range(1, 6):
        assert league.state.phase == TRAINING
        ticket = take(league)
        league.report(faults=[Fault(ticket=ticket.number, attempt=0, reason="on fire")])
        assert league.state.voids == number
        league.tick()
    assert league.state.phase == OVER
    assert league.state.why == "5 tickets in a row were void, the last one because of: on fire"
    assert league.report(want=1).stop


def test_a_result_between_voids_keeps_the_league_going(bench, config):
    rules = config()
    rules.lease.attempts, rules.lease.give_up = 1, 2
    league = bench(config=rules)
    league.write()
    for _ in range(5):
        ticket = take(league)
        league.report(faults=[Fault(ticket=ticket.number, attempt=0, reason="x")])
        league.play()
        league.tick()
    assert league.state.phase == TRAINING


# --- restarts -----------------------------------------------------------------------------------------------


def test_after_a_restart_open_tickets_have_fresh_leases_and_their_holders_claim_them(league):
    ticket = take(league, "c0/1")
    other = take(league, "c1/1")
    league.now = 1000.0
    league.crash()
    assert league.state.term == 2
    assert league.report("c0/1", held=[(ticket.number, 0, 3)]).revoked == ()
    assert league.report("c2/1", held=[(ticket.number, 0, 9)]).revoked == ((ticket.number, 0),)
    assert league.report("c0/1", results=[league.result(ticket)]).acks[0].verdict == ACCEPTED
    league.now = 1030.0
    assert [event.ticket for event in league.tick()] == [other.number]


def test_a_result_is_accepted_whatever_the_term_it_was_asked_in(league):
    ticket = take(league)
    league.crash()
    assert league.report(results=[league.result(ticket)]).acks == (Ack(1, 0, ACCEPTED),)
    league.crash()
    assert league.report(results=[league.result(ticket)]).acks == (Ack(1, 0, DUPLICATE),)


def test_what_was_not_committed_never_happened(league):
    ticket = take(league)
    report = Report(request=1, name="c0", session="c0/1", results=(league.result(ticket),))
    league.coordinator.handle(None, report, league.now)  # and the process dies before the commit
    league.crash()
    assert league.report(results=[league.result(ticket)]).acks == (Ack(1, 0, ACCEPTED),)


def test_the_same_events_are_the_same_league(league):
    league.play(20)
    league.write(version=1, decisions=5000)
    league.play(5)
    assert encode_fold(league.state, 0) == encode_fold(league.refolded(), 0)


# --- roles --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "message"),
    [
        (Role.LEARNER, Report(request=1, name="c0", session="s", want=1)),
        (Role.VIEWER, Report(request=1, name="c0", session="s", want=1)),
        (Role.COLLECTOR, Progress(request=1, name="learner-0", session="s", address="x")),
        (Role.COLLECTOR, Command(request=1, action="stop")),
        (Role.VIEWER, Command(request=1, action="stop")),
    ],
)
def test_a_wrong_role_is_refused_and_changes_nothing(league, role, message):
    head = league.ledger.head
    assert isinstance(league.handle(message, role), Refused)
    assert league.ledger.head == head
    assert not league.coordinator.stopping


def test_a_message_for_somebody_else_is_refused(league):
    assert isinstance(league.handle(Done(term=1, request=1)), Refused)
    assert isinstance(league.handle(Follow(request=1, since=0)), Refused)


@pytest.mark.parametrize("role", [None, Role.COLLECTOR])
def test_a_collector_may_report(league, role):
    assert league.handle(Report(request=4, name="c0", session="s"), role).request == 4


# --- learners -----------------------------------------------------------------------------------------------


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


def test_no_ticket_before_the_first_candidate(bench):
    league = bench()
    assert league.report(want=5).tickets == ()
    league.write("exploiter")
    assert league.report(want=5).tickets == (), "its only opponent, the main, has no weights yet"
    league.write("main")
    assert len(league.report(want=5).tickets) == 5


def test_collectors_get_the_directory_when_it_changed(league):
    orders = league.report()
    assert [(host.player, host.address) for host in orders.hosts] == [
        ("main", "memory://learner-0"),
        ("exploiter", "memory://learner-0"),
    ]
    assert league.report(directory=orders.directory).hosts is None
    league.progress(address="memory://elsewhere")
    moved = league.report(directory=orders.directory)
    assert moved.directory != orders.directory
    assert moved.hosts[0].address == "memory://elsewhere"


def test_a_directory_of_another_term_is_known_by_what_is_in_it(league):
    known = league.report().directory
    league.crash()
    assert league.report(directory=known).hosts == ()
    league.progress(address="memory://elsewhere")
    assert league.report(directory=known).hosts[0].address == "memory://elsewhere"
    league.crash()
    league.progress()
    assert league.report(directory=known).hosts is None


def test_stale_and_foreign_candidates_are_ignored(league):
    league.write("main", version=3, decisions=10)
    head = league.ledger.head
    league.progress(league.candidate("main", version=3))
    league.progress(league.candidate("main", version=2))
    league.progress(league.candidate("main", version=9, incarnation=1))
    stranger = league.candidate("main", version=9)
    league.progress(type(stranger)(player="x", incarnation=0, version=9, snapshot="x", decisions=0))
    assert league.ledger.head == head


def test_the_pool_starts_with_one_frozen_player_for_every_main(bench, config):
    league = bench(config=config(a=PlayerConfig(), b=PlayerConfig(), e=PlayerConfig(kind="league_exploiter")))
    league.write()
    assert [event.player.id for event in kinds(league, PlayerFrozen)] == ["a.0", "b.0"]
    assert kinds(league, PlayerReset) == []
    assert league.state.population["a.0"].snapshot == "a-0-0"


def test_an_exploiter_is_frozen_first_then_reset_to_its_initial_weights(league):
    league.write("exploiter", version=5, decisions=2000)
    tail = [event for _, event in league.ledger.events()][-3:]
    assert [type(event) for event in tail] == [CandidateWritten, PlayerFrozen, PlayerReset]
    assert (tail[1].player.id, tail[1].player.snapshot) == ("exploiter.0", "exploiter-0-5")
    assert tail[2].incarnation == 1
    row = next(row for row in league.progress().players if row.player == "exploiter")
    assert (row.incarnation, row.start) == (1, "exploiter-0-0")
    hosts = {host.player: host.incarnation for host in league.report().hosts}
    assert hosts == {"main": 0, "exploiter": 1}


def test_a_reset_player_gets_no_ticket_before_its_new_candidate(league):
    league.write("exploiter", version=5, decisions=2000)
    assert {ticket.trains for ticket in league.play(20)} <= {"main", None}
    league.write("exploiter", version=0, decisions=2000)
    assert "exploiter" in {ticket.trains for ticket in league.play(20)}


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
    assert "all 1 targets" in kinds(league, PlayerFrozen)[-1].why


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


# --- operators ----------------------------------------------------------------------------------------------


def test_a_paused_league_hands_out_nothing_not_even_a_second_attempt(league):
    take(league)
    league.report(faults=[Fault(ticket=1, attempt=0, reason="x")])
    assert league.handle(Command(request=3, action="pause"), Role.OPERATOR) == Done(term=1, request=3)
    assert league.report(want=3).tickets == ()
    league.crash()
    league.write()
    assert league.report(want=3).tickets == ()
    league.handle(Command(request=4, action="resume"))
    assert len(league.report(want=3).tickets) == 3


@pytest.mark.parametrize("action", ["drain", "stop"])
def test_everybody_is_told_to_stop(league, action):
    league.handle(Command(request=3, action=action))
    orders = league.report(want=3)
    assert (orders.stop, orders.tickets) == (True, ())
    assert league.progress().stop
    assert [event.action for event in kinds(league, OperatorActed)] == [action]


def test_an_unknown_command_says_what_there_is(league):
    done = league.handle(Command(request=3, action="explode"))
    assert done.error == "unknown command 'explode'; there are pause, resume, drain, stop"
    assert kinds(league, OperatorActed) == []


def test_workers_are_known_until_they_are_silent_for_long(league):
    league.report(metrics={"wait_share": 0.5})
    league.now = 10.0
    names = {worker.name: (worker.role, worker.age) for worker in league.coordinator.workers(league.now)}
    assert names == {"learner-0": (Role.LEARNER, 10.0), "c0": (Role.COLLECTOR, 10.0)}
    assert league.coordinator.take_metrics() == [("c0", {"wait_share": 0.5})]
    assert league.coordinator.take_metrics() == []
    league.now = SILENT + 1
    league.tick()
    assert league.coordinator.workers(league.now) == ()


# --- phases -------------------------------------------------------------------------------------------------


def budgeted(bench, config, final_games=5, **budget):
    rules = config()
    for name, value in budget.items():
        setattr(rules.budget, name, value)
    rules.evaluation.final_games = final_games
    league = bench(config=rules)
    league.write()
    return league


def test_a_budget_of_steps(bench, config):
    league = budgeted(bench, config, env_steps=100)
    while league.state.env_steps < 100:
        assert league.state.phase == TRAINING
        league.play()
        league.tick()
    assert league.state.phase == FINAL
    assert kinds(league, PhaseBegan)[-1].why == "the budget of 100 env steps is spent"


def test_a_budget_of_minutes(bench, config):
    league = budgeted(bench, config, minutes=2.0)
    league.tick(elapsed=119.9)
    assert league.state.phase == TRAINING
    league.tick(elapsed=120.0)
    assert league.state.phase == FINAL
    assert league.state.why == "the budget of 2 minutes is spent"


def test_learners_are_told_which_share_of_the_budget_is_spent(bench, config):
    league = budgeted(bench, config, minutes=2.0, env_steps=100)
    assert league.progress().spent == 0
    league.tick(elapsed=30.0)
    assert league.progress().spent == 0.25
    while league.state.env_steps < 50:
        league.play()
    assert league.progress().spent == league.state.env_steps / 100, "by the limit that comes first"
    league.tick(elapsed=1000.0)
    assert league.progress().spent == 1


def test_without_a_budget_nothing_is_spent(league):
    league.tick(elapsed=1e6)
    assert league.progress().spent == 0


def test_when_training_ends_its_tickets_are_withdrawn_and_nobody_trains(bench, config):
    league = budgeted(bench, config, minutes=1.0)
    open_tickets = take(league, count=20)
    trained = {t.number for t in open_tickets if t.purpose == Purpose.TRAIN}
    league.tick(elapsed=60.0)
    assert {event.ticket for event in kinds(league, TicketWithdrawn)} == trained
    held = [(t.number, t.attempt, 1) for t in open_tickets]
    assert {number for number, _ in league.report(held=held).revoked} == trained
    assert {row.train for row in league.progress().players} == {False}
    late = next(t for t in open_tickets if t.number in trained)
    assert league.report(results=[league.result(late)]).acks[0].verdict == DUPLICATE


def test_the_final_evaluation_plays_exactly_its_games_with_the_newest_candidates(bench, config):
    league = budgeted(bench, config, final_games=5, minutes=1.0)
    league.write(version=1, decisions=10)
    league.end_training(60.0)
    tickets = league.play(100)
    assert all(t.purpose == Purpose.EVALUATE for t in tickets)
    everybody = league.coordinator.scheduler.contestants()
    assert {entry for t in tickets for entry in t.entries} == set(everybody)
    assert [t.entries for t in tickets if not {"main", "exploiter"} & {e.player for e in t.entries}] == []
    assert [sum(tally["random"]) for tally in league.state.latest.values()] == [5, 5]
    assert not league.report(want=1).stop
    league.tick()
    assert league.state.phase == OVER
    assert league.state.why == "the budget of 1 minutes is spent"
    orders = league.report(want=1)
    assert (orders.stop, orders.tickets) == (True, ())
    assert league.progress().stop


def test_the_final_evaluation_ends_in_time(bench, config):
    """Half of the budget: then no more games begin, and what is under way is played to its end."""
    league = budgeted(bench, config, final_games=4000, minutes=2.0)
    league.end_training(120.0)
    league.play(6)
    (under_way,) = league.report(want=1).tickets
    league.tick(elapsed=179.0)
    assert league.coordinator.scheduler.next(0.0) is not None
    league.tick(elapsed=180.0)
    assert league.report(want=1).tickets == ()
    assert league.state.phase == FINAL, "a match is under way"
    league.report(results=[league.result(under_way)])
    league.tick(elapsed=181.0)
    assert (league.state.phase, league.state.why) == (OVER, "the budget of 2 minutes is spent")


def test_in_a_final_evaluation_that_time_may_end_all_pairings_come_along(bench, config):
    league = budgeted(bench, config, final_games=4000, minutes=2.0)
    league.end_training(120.0)
    scheduler, episodes = league.coordinator.scheduler, league.state.config.evaluation.episodes
    done, wanted = scheduler.final_games()
    league.play(20)
    left = [left for _, other, left in scheduler.final_pairings() if other.bot]
    assert max(left) - min(left) <= episodes
    assert scheduler.final_games() == (done + 20 * episodes, wanted)


def test_a_small_budget_leaves_time_for_a_final_evaluation(config):
    rules = config()
    rules.budget.minutes = 0.1
    assert rules.final_seconds() == 20
    rules.evaluation.final_share = None
    assert rules.final_seconds() is None


def test_the_final_evaluation_hands_out_no_game_too_many_while_others_are_under_way(bench, config):
    league = budgeted(bench, config, final_games=7, minutes=1.0)
    league.end_training(60.0)
    tickets = league.report(want=50).tickets
    frozen = len(league.state.population.frozen())
    assert sum(t.episodes for t in tickets) == 2 * (7 + frozen * (7 // frozen))
    league.tick()
    assert league.state.phase == FINAL, "not before they are played"
    league.now = 30.0
    league.tick()
    again = league.report(want=50).tickets
    assert [t.attempt for t in again] == [1] * len(tickets)
    league.report(results=[league.result(t) for t in again])
    league.tick()
    assert league.state.phase == OVER


def test_a_last_candidate_is_evaluated_but_not_frozen(bench, config):
    league = budgeted(bench, config, final_games=4, minutes=1.0)
    league.end_training(60.0)
    league.play(1)
    frozen = len(league.state.population.frozen())
    league.write("main", version=9, decisions=10**6)
    assert len(league.state.population.frozen()) == frozen
    tickets = league.play(100)
    assert "main-0-9" in {entry.snapshot for t in tickets for entry in t.entries}
    assert sum(league.state.latest["main"]["random"]) == 4
    league.tick()
    assert league.state.phase == OVER
    league.write("main", version=10, decisions=10**6)
    assert league.state.candidates["main"].version == 9


def test_the_final_evaluation_is_about_the_last_candidate_however_few_its_games(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.tick(elapsed=60.0)
    assert league.play(9) == [], "there is nothing to evaluate yet"
    league.tick(elapsed=61.0)
    assert league.state.phase == FINAL
    league.progress(league.candidate("main", 9, 100), finished=["main"])
    league.tick(elapsed=62.0)
    assert league.play(9) == [], "the exploiter still trains"
    league.progress(league.candidate("main", 9, 100), finished=["main", "exploiter"])
    league.tick(elapsed=63.0)
    played = {entry.snapshot for ticket in league.play(99) for entry in ticket.entries if entry.player == "main"}
    assert played == {"main-0-9"}
    league.tick(elapsed=64.0)
    assert league.state.phase == OVER
    assert league.state.candidates["main"].version == 9


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


def test_a_learner_that_died_does_not_hold_up_the_end(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.tick(elapsed=60.0)
    league.now = SILENCE
    league.tick(elapsed=60.0 + SILENCE)
    assert league.play(99)
    league.tick(elapsed=61.0 + SILENCE)
    assert league.state.phase == OVER


def test_the_time_of_the_final_evaluation_begins_with_its_games(bench, config):
    league = budgeted(bench, config, final_games=4000, minutes=2.0)
    league.tick(elapsed=120.0)
    league.tick(elapsed=145.0)
    league.end_training(145.0)
    league.tick(elapsed=204.0)
    assert league.play(1)
    league.tick(elapsed=205.0)
    assert not league.play(1)


def test_after_a_restart_in_the_final_phase_last_candidates_are_waited_for_again(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.tick(elapsed=60.0)
    league.crash()
    assert league.play(1) == [], "not even before the first tick"
    league.end_training(60.0)
    assert league.play(1)


def test_a_league_without_an_anchor_is_over_at_once(bench, config):
    rules = config(main=PlayerConfig())
    rules.budget.minutes = 1.0
    league = bench(config=rules)
    league.write()
    league.end_training(60.0)
    assert league.state.phase == OVER


def test_a_poisonous_final_pairing_ends_the_league_in_the_end(bench, config):
    league = budgeted(bench, config, final_games=4, minutes=1.0)
    league.config.lease.attempts, league.config.lease.give_up = 1, 3
    league.end_training(60.0)
    for _ in range(3):
        ticket = take(league)
        league.report(faults=[Fault(ticket=ticket.number, attempt=0, reason="x")])
        league.tick()
    assert league.state.phase == OVER


def test_a_league_that_was_over_goes_on_with_more_budget(bench, config):
    league = budgeted(bench, config, final_games=2, minutes=1.0)
    league.end_training(60.0)
    league.play(10)
    league.tick()
    assert league.state.phase == OVER
    league.config.budget.minutes = 2.0
    league.crash()
    assert league.state.phase == OVER
    assert league.coordinator.budget_spent(60.0) == ""
    league.coordinator.reopen()
    league.commit()
    assert league.state.phase == TRAINING
    league.write(version=1, decisions=50)
    assert {t.purpose for t in league.play(10)} >= {Purpose.TRAIN}
    assert league.refolded().phase == TRAINING


def test_nobody_holds_up_the_end_of_a_final_evaluation_by_holding_its_games(bench, config):
    league = budgeted(bench, config, final_games=40, minutes=1.0)
    league.end_training(60.0)
    (ticket, *_) = league.report(want=5).tickets
    allowed = league.state.config.final_seconds()
    for second in range(1, int(allowed + league.coordinator.leases.seconds)):
        league.now = float(second)
        league.report(held=[(ticket.number, ticket.attempt, second)])
        league.tick(elapsed=60.0 + second)
    assert league.state.phase == FINAL
    assert ticket.number in league.state.open, "it makes progress, as it says"
    league.tick(elapsed=60.0 + allowed + league.coordinator.leases.seconds)
    assert league.state.phase == OVER


def test_a_collector_whose_sessions_only_lose_what_they_get_is_quarantined(bench, config):
    rules = config()
    rules.lease.quarantine = 3
    league = bench(config=rules)
    league.write()
    for number in range(4):
        league.report(f"rogue/{number}", want=9)
        league.play(3)
        league.now += 3.0
        league.tick()
    assert set(league.state.quarantined) == {"rogue"}
    assert league.report("rogue/again", want=9).tickets == ()
    assert league.state.phase == TRAINING


def test_a_session_without_a_result_holds_few_tickets(bench):
    league = bench()
    league.write()
    tickets = [ticket for _ in range(5) for ticket in league.report(want=1000).tickets]
    assert len(tickets) == UNPROVEN, "a new name for a session costs nothing, a result does"
    league.report(results=[league.result(tickets[0])])
    for _ in range(5):
        tickets += league.report(want=1000).tickets
    assert len(tickets) > 2 * UNPROVEN
    assert len(league.report("c0/2", want=1000).tickets) == UNPROVEN, "that of another session says nothing of it"
