"""The coordinator: stalled collectors, restarts, roles, operators."""

import pytest
from league_table import ACCEPTED, DUPLICATE, kinds, take

from coordinator.workers import REPLACED, SILENT
from league.events import (
    OperatorActed,
    TicketReissued,
)
from league.store.fold import encode_fold
from league.ticket import Fault
from league.wire.messages import Ack, Command, Done, Follow, Progress, Refused, Report, Role


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


def test_a_paused_league_hands_out_nothing_not_even_a_second_attempt(league):
    take(league)
    league.report(faults=[Fault(ticket=1, attempt=0, reason="x")])
    assert league.handle(Command(request=3, action="pause"), Role.OPERATOR) == Done(term=1, request=3)
    assert league.report(want=3).tickets == ()
    league.crash()
    league.write()
    assert league.report(want=3).tickets == ()
    league.handle(Command(request=4, action="unpause"))
    assert len(league.report(want=3).tickets) == 3


@pytest.mark.parametrize("action", ["drain", "stop"])
def test_a_paused_league_that_is_stopped_plays_when_it_is_resumed(league, action):
    league.handle(Command(request=3, action="pause"))
    league.handle(Command(request=4, action=action))
    assert league.report(want=3).tickets == ()
    league.crash()
    league.write()
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
    assert done.error == "unknown command 'explode'; there are pause, unpause, drain, stop"
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
