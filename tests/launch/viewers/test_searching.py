"""The newest settled tickets, found from the end of a ledger."""

import pytest

from launch.viewers import searching
from launch.viewers.searching import newest_settled, settled_before
from league.events import ResultCounted, TermBegan, TicketIssued, TicketReissued, TicketVoided, TicketWithdrawn
from league.store.ledger import Ledger, LedgerError
from league.ticket import Entry, Episode, Purpose, Ticket


def issued(number, player="a"):
    entries = (Entry(player), Entry("b"))
    return TicketIssued(ticket=Ticket(number=number, purpose=Purpose.EVALUATE, entries=entries, episodes=1))


def counted(number, attempt=0):
    return ResultCounted(ticket=number, attempt=attempt, episodes=(Episode((0, 1), (1.0, -1.0), 9),))


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        yield ledger


def numbers(found):
    return [(ticket.number, ticket.attempt, type(event).__name__) for ticket, event in found]


@pytest.mark.parametrize("page", [1, 2, 3, 1000])
def test_tickets_come_in_the_order_in_which_they_were_settled(ledger, monkeypatch, page):
    monkeypatch.setattr(searching, "PAGE", page)
    ledger.commit([issued(1), issued(2, "c"), issued(3), TermBegan(term=1), counted(2), issued(4), counted(4)])
    ledger.commit([TicketReissued(ticket=1, attempt=1, why="slow"), TicketReissued(ticket=1, attempt=2, why="slow")])
    ledger.commit([TicketWithdrawn(ticket=3), TicketVoided(ticket=1, why="poison"), issued(5)])
    everything = [(1, 2, "TicketVoided"), (4, 0, "ResultCounted"), (2, 0, "ResultCounted")]
    for limit in (1, 2, 3, 9):
        assert numbers(newest_settled(ledger, limit)) == everything[:limit]
    assert numbers(newest_settled(ledger, 5, lambda ticket: ticket.entries[0].player == "c")) == everything[2:]
    assert newest_settled(ledger, 5, lambda ticket: False) == []


def test_an_empty_ledger_has_no_matches(ledger):
    assert newest_settled(ledger, 5) == []


def test_a_damaged_event_is_named(ledger):
    ledger.commit([issued(1), counted(1)])
    ledger._connection.execute("update events set body = 'unreadable' where seq = 2")
    with pytest.raises(LedgerError, match=r"event 2 of the ledger cannot be read: .*`ludus verify`"):
        newest_settled(ledger, 5)


@pytest.mark.parametrize("page", [1, 2, 1000])
@pytest.mark.parametrize("budget", [1, 3, 1000])
def test_pages_of_settled_tickets_have_each_once(ledger, monkeypatch, page, budget):
    monkeypatch.setattr(searching, "PAGE", page)
    ledger.commit([issued(1), issued(2, "c"), issued(3), counted(2), issued(4), counted(4), counted(3)])
    ledger.commit([TicketReissued(ticket=1, attempt=1, why="slow"), TicketVoided(ticket=1, why="poison"), issued(5)])
    for limit in (1, 2, 9):
        found, upto = [], ledger.head
        while upto:
            some, before = settled_before(ledger, upto, limit, budget=budget)
            assert before < upto
            found, upto = found + some, before
        assert [(one.seq, one.ticket.number) for one in found] == [(9, 1), (7, 3), (6, 4), (4, 2)]


def test_settled_tickets_are_chosen_by_their_results(ledger):
    ledger.commit([issued(1), counted(1), issued(2), TicketVoided(ticket=2, why="poison")])
    found, before = settled_before(ledger, ledger.head, 9, fits=lambda ticket, event: isinstance(event, TicketVoided))
    assert ([one.ticket.number for one in found], before) == ([2], 0)
