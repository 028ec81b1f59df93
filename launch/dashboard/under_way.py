"""What is played at this moment: the tickets under way, and which collector plays which.

    feed.reading_view(under_way)

Leases are in the coordinator's memory; its pages list for each collector the tickets that it has held longest.
"""

from typing import Any

from launch.viewers.view import View
from league.store.run_directory import RunDirectory
from league.ticket import Ticket
from league.wire.addresses import is_ipc, this_host

MOST = 200  # tickets under way in one answer


def under_way(view: View) -> dict[str, Any]:
    """Return count: of the open tickets; tickets: the newest of them; plays: by collector those that it plays now."""
    found = view.state.open
    plays = {
        worker.name: [_ticket(found[number]) for number in worker.plays if number in found]
        for worker in view.workers
        if worker.plays
    }
    newest = list(found.values())[-MOST:]
    holders = {one["ticket"]: name for name, held in plays.items() for one in held}
    tickets = [_ticket(ticket) | {"collector": holders.get(ticket.number)} for ticket in reversed(newest)]
    return {"count": len(found), "tickets": tickets, "plays": plays}


def _ticket(ticket: Ticket) -> dict[str, Any]:
    return {
        "ticket": ticket.number,
        "purpose": ticket.purpose.value,
        "players": [entry.player for entry in ticket.entries],
        "episodes": ticket.episodes,
        "attempt": ticket.attempt,
    }


def coordinator_host(run: RunDirectory) -> str:
    """Return the machine of the coordinator; "" if it has never run."""
    found = run.read_rendezvous("coordinator")
    if found is None:
        return ""
    return this_host() if is_ipc(found.address) else found.address.removeprefix("tcp://").rpartition(":")[0]
