"""The audit: raw rows, read without the fold."""

from launch.verify.audit import ticket_of, walk
from league.events import OperatorActed, ResultCounted, TicketIssued
from league.store.ledger import Ledger, open_copy
from league.ticket import Entry, Episode, Purpose, Ticket


def ticket(number):
    entries = (Entry("main"), Entry("random", None, "random"))
    return Ticket(number=number, purpose=Purpose.EVALUATE, entries=entries, episodes=2)


def test_the_rows_of_a_played_league_are_in_order(run, state):
    with open_copy(run.ledger) as ledger:
        audit = walk(ledger)
    assert (audit.gaps, audit.unreadable, audit.disorder) == ([], [], [])
    assert sum(audit.results.values()) == sum(state.results.values())


def test_points_and_open_tickets_follow_from_the_rows(tmp_path):
    """Known answer: one win and one draw are 1.5 points of 2."""
    episodes = (Episode((0, 1), (1.0, -1.0), 5), Episode((0, 0), (0.0, 0.0), 5))
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        ledger.commit([TicketIssued(ticket=ticket(1)), TicketIssued(ticket=ticket(2))])
        ledger.commit([ResultCounted(ticket=1, attempt=0, episodes=episodes)])
        audit = walk(ledger)
    assert dict(audit.points) == {("main", "random"): 1.5, ("random", "main"): 0.5}
    assert set(audit.open) == {2}
    assert audit.counted == {1: 0}


def test_which_ticket_an_event_is_about():
    assert ticket_of(TicketIssued(ticket=ticket(7))) == 7
    assert ticket_of(OperatorActed(action="pause")) is None
