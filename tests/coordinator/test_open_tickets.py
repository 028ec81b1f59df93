"""Open tickets: whose report counts, attempts, void tickets, quarantine."""

import pytest
from league_table import ACCEPTED, DUPLICATE, SUPERSEDED, UNKNOWN, kinds, take

from coordinator.open_tickets import BACK_OFF
from league.events import (
    ResultCounted,
    TicketReissued,
    TicketVoided,
)
from league.state import TRAINING
from league.ticket import Fault, Result
from league.wire.messages import Ack


def test_a_result_is_accepted_once(league):
    ticket = take(league)
    assert league.report(results=[league.result(ticket)]).acks == (Ack(1, 0, ACCEPTED),)
    assert league.report(results=[league.result(ticket)]).acks == (Ack(1, 0, DUPLICATE),)
    assert [event.ticket for event in kinds(league, ResultCounted)] == [1]
    assert league.state.open == {}


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


def test_a_ticket_that_another_session_holds_is_revoked(league):
    take(league, "c0/1")
    assert league.report("c1/1", held=[(1, 0, 5)]).revoked == ((1, 0),)
    assert league.report("c0/1", held=[(1, 0, 5)]).revoked == ()


def test_a_settled_ticket_is_revoked(league):
    ticket = take(league)
    league.report(results=[league.result(ticket)])
    assert league.report(held=[(1, 0, 5)]).revoked == ((1, 0),)


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
