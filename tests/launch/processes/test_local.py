"""What `ludus run` says of void tickets while a league is under way."""

from launch.processes.local import MOST_WARNINGS, LeagueWarnings
from league.events import TicketVoided


def void(warnings, ticket, why):
    warnings(ticket, TicketVoided(ticket=ticket, why=why), None)


def test_each_reason_is_told_once_with_its_first_ticket():
    warnings, said = LeagueWarnings(), []
    for ticket, why in ((1, "it hangs"), (2, "it hangs"), (3, "it raises")):
        void(warnings, ticket, why)
    warnings.show(said.append)
    void(warnings, 4, "it hangs")
    warnings.show(said.append)
    assert said == ["ticket 1 is void, nobody wins it: it hangs", "ticket 3 is void, nobody wins it: it raises"]


def test_a_reason_of_before_is_told_if_it_comes_again():
    warnings, said = LeagueWarnings(), []
    void(warnings, 1, "it hangs")
    warnings.discard()
    warnings.show(said.append)
    assert said == []
    void(warnings, 2, "it hangs")
    warnings.show(said.append)
    assert said == ["ticket 2 is void, nobody wins it: it hangs"]


def test_there_is_an_end_to_them():
    warnings, said = LeagueWarnings(), []
    for ticket in range(1, 100):
        void(warnings, ticket, f"reason {ticket}")
    warnings.show(said.append)
    assert len(said) == MOST_WARNINGS
