"""What `ludus run` says of void tickets while a league is under way."""

from launch.processes.local import MOST_TROUBLES, Troubles
from league.events import TicketVoided


def void(troubles, ticket, why):
    troubles(ticket, TicketVoided(ticket=ticket, why=why), None)


def test_each_reason_is_told_once_with_its_first_ticket():
    troubles, said = Troubles(), []
    for ticket, why in ((1, "it hangs"), (2, "it hangs"), (3, "it raises")):
        void(troubles, ticket, why)
    troubles.tell(said.append)
    void(troubles, 4, "it hangs")
    troubles.tell(said.append)
    assert said == ["ticket 1 is void, nobody wins it: it hangs", "ticket 3 is void, nobody wins it: it raises"]


def test_a_reason_of_before_is_told_if_it_comes_again():
    troubles, said = Troubles(), []
    void(troubles, 1, "it hangs")
    troubles.forget()
    troubles.tell(said.append)
    assert said == []
    void(troubles, 2, "it hangs")
    troubles.tell(said.append)
    assert said == ["ticket 2 is void, nobody wins it: it hangs"]


def test_there_is_an_end_to_them():
    troubles, said = Troubles(), []
    for ticket in range(1, 100):
        void(troubles, ticket, f"reason {ticket}")
    troubles.tell(said.append)
    assert len(said) == MOST_TROUBLES
