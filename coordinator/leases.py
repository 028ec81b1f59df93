"""Leases: which collector session plays which open ticket, and until when. In memory only.

Time is an argument. Progress renews a lease, a report alone does not: the number in it must have risen. It rises
while a collector plays, or waits for a learner or for tickets; not while its environment stands still.
"""

from dataclasses import dataclass

from coordinator.workers import name_of
from league.ids import TicketNumber


@dataclass(slots=True)
class Lease:
    """The session that plays a ticket. After a restart `holder` is empty, until the session that has it reports."""

    holder: str
    attempt: int
    progress: int  # of the session, as it last reported it
    deadline: float


class Leases:
    """The leases of all open tickets, and the queue of open tickets that nobody plays."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._leases: dict[TicketNumber, Lease] = {}
        self._counts: dict[str, int] = {}  # leases by holder
        self.waiting: dict[TicketNumber, None] = {}  # an ordered set

    def grant(self, ticket: TicketNumber, attempt: int, holder: str, now: float) -> None:
        """Lease a ticket to a session."""
        if ticket in self._leases or ticket in self.waiting:
            self.end(ticket)
        self._leases[ticket] = Lease(holder, attempt, -1, now + self.seconds)
        self._counts[holder] = self._counts.get(holder, 0) + 1

    def renew(self, ticket: TicketNumber, attempt: int, holder: str, progress: int, now: float) -> None:
        """Record that a session holds a ticket; extend the lease if the session made progress."""
        lease = self._leases.get(ticket)
        if lease is None or lease.holder == "":
            self.grant(ticket, attempt, holder, now)
            lease = self._leases[ticket]
        if lease.holder == holder and progress > lease.progress:
            lease.progress = progress
            lease.deadline = now + self.seconds

    def enqueue(self, ticket: TicketNumber) -> None:
        """End the lease of a ticket and queue it: the next collector that requests a ticket gets it."""
        self.end(ticket)
        self.waiting[ticket] = None

    def end(self, ticket: TicketNumber) -> None:
        """End the lease of a ticket, and remove it from the queue."""
        lease = self._leases.pop(ticket, None)
        if lease is not None:
            left = self._counts.pop(lease.holder) - 1
            if left:
                self._counts[lease.holder] = left
        self.waiting.pop(ticket, None)

    def holder(self, ticket: TicketNumber) -> str | None:
        """Return the session that plays a ticket, "" if it is not known, None without a lease."""
        lease = self._leases.get(ticket)
        return None if lease is None else lease.holder

    def expired(self, now: float) -> list[TicketNumber]:
        """Return the tickets whose leases have expired."""
        return [ticket for ticket, lease in self._leases.items() if lease.deadline <= now]

    def held_by(self, holder: str) -> list[TicketNumber]:
        """Return the tickets of one session."""
        return [ticket for ticket, lease in self._leases.items() if lease.holder == holder]

    def held_by_name(self, name: str) -> list[TicketNumber]:
        """Return the tickets of all sessions of one process."""
        return [ticket for ticket, lease in self._leases.items() if name_of(lease.holder) == name]

    def oldest_by_name(self, most: int) -> dict[str, list[TicketNumber]]:
        """Return the tickets that each process has held longest, up to `most`."""
        found: dict[str, list[TicketNumber]] = {}
        for ticket, lease in self._leases.items():
            held = found.setdefault(name_of(lease.holder), [])
            if len(held) < most:
                held.append(ticket)
        return found

    def count_by_name(self) -> dict[str, int]:
        """Return how many tickets each process holds."""
        found: dict[str, int] = {}
        for holder, count in self._counts.items():
            found[name_of(holder)] = found.get(name_of(holder), 0) + count
        return found

    def count(self, holder: str) -> int:
        """Return how many tickets a session holds."""
        return self._counts.get(holder, 0)

    def __len__(self) -> int:
        return len(self._leases)
