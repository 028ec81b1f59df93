"""Reports of collectors: results are counted once, tickets handed out within limits."""

import pytest
from league_table import ACCEPTED, DUPLICATE, SUPERSEDED, kinds, take

from coordinator.collector_reports import UNPROVEN
from league.events import (
    ResultCounted,
)
from league.ticket import Episode, Fault, Result
from league.wire.messages import Ack


def test_the_same_result_twice_in_one_report_is_counted_once(league):
    ticket = take(league)
    acks = league.report(results=[league.result(ticket)] * 2).acks
    assert [ack.verdict for ack in acks] == [ACCEPTED, DUPLICATE]


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


def test_a_starved_player_gets_no_second_attempt_either(bench):
    league = bench()
    league.write()
    ticket = next(t for t in league.report(want=4).tickets if t.trains)
    league.now = 30.0
    league.tick()
    starved = league.report(want=9, starved=ticket.trains).tickets
    assert ticket.number not in {t.number for t in starved}
    assert all(t.can_train(ticket.trains) for t in starved)
    assert ticket.number in {t.number for t in league.report(want=9).tickets}
