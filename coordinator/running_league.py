"""The league that a coordinator runs: its state, and the events decided since the last commit."""

from coordinator.scheduler import Scheduler
from league.events import Event, ResultCounted, TicketIssued
from league.state import LeagueState, apply

_ROUTINE = (TicketIssued, ResultCounted)  # after these the pool is still the same


class RunningLeague:
    """Applies events at once, and keeps them until the service takes them to the ledger."""

    def __init__(self, state: LeagueState) -> None:
        self.state = state
        self.scheduler = Scheduler(state)
        self._pending: list[Event] = []

    def emit(self, event: Event) -> None:
        """Apply an event now; `take` hands it to the ledger."""
        apply(self.state, event)
        self._pending.append(event)
        if not isinstance(event, _ROUTINE):
            self.scheduler.forget()

    @property
    def unsaved(self) -> bool:
        """Whether there are events that nobody took yet."""
        return bool(self._pending)

    def take(self) -> list[Event]:
        """Return the events since the last call."""
        batch, self._pending = self._pending, []
        self.scheduler.forget()
        return batch
