"""What is played at this moment, and by whom."""

import msgspec

from launch.dashboard.under_way import MOST, coordinator_host, under_way
from launch.viewers.view import View
from league.rulebook import LeagueConfig
from league.store.run_directory import Rendezvous, RunDirectory
from league.ticket import Entry, Purpose, Ticket
from league.wire.addresses import this_host
from league.wire.messages import Role, Worker


def view_with(tickets, workers):
    view = View(LeagueConfig())
    view.state.open = {ticket.number: ticket for ticket in tickets}
    view.workers = tuple(workers)
    return view


def ticket(number):
    entries = (Entry(player="main"), Entry(player="random"))
    return Ticket(number=number, purpose=Purpose.TRAIN, entries=entries, episodes=4)


def collector(name, *plays):
    return Worker(name=name, role=Role.COLLECTOR, age=0.0, metrics={}, held=len(plays), plays=plays)


def test_each_collector_has_the_tickets_that_it_plays():
    view = view_with([ticket(7), ticket(8)], [collector("collector-0", 7, 99), collector("collector-1")])
    found = under_way(view)
    assert [(one["ticket"], one["collector"]) for one in found["tickets"]] == [(8, None), (7, "collector-0")]
    assert {name: [one["ticket"] for one in held] for name, held in found["plays"].items()} == {"collector-0": [7]}
    assert found["plays"]["collector-0"][0]["players"] == ["main", "random"]


def test_of_many_tickets_the_newest_are_listed_and_all_are_counted():
    found = under_way(view_with(map(ticket, range(MOST + 5)), []))
    assert (found["count"], len(found["tickets"]), found["tickets"][0]["ticket"]) == (MOST + 5, MOST, MOST + 4)
    assert len(msgspec.json.encode(found)) < 200 * MOST


def test_the_machine_of_the_coordinator_is_that_of_its_address(tmp_path):
    run = RunDirectory(tmp_path / "run").create()
    assert coordinator_host(run) == ""
    run.publish_rendezvous(Rendezvous(address="tcp://login-3:4711", term=1))
    assert coordinator_host(run) == "login-3"
    run.publish_rendezvous(Rendezvous(address="ipc:///tmp/x", term=2))
    assert coordinator_host(run) == this_host()
