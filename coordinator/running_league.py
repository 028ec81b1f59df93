"""The league that a coordinator runs: its state, and the events decided since the last commit."""

from collections.abc import Collection

from coordinator.scheduler import Scheduler
from league.events import Event, ResultCounted, TicketIssued
from league.state import LeagueState, apply

_ROUTINE = (TicketIssued, ResultCounted)  # events that do not change the pool


class RunningLeague:
    """Applies events at once, and keeps them until the service commits them.

    `allow` names packages whose matchmakers and freeze rules the config may name.
    """

    def __init__(self, state: LeagueState, allow: Collection[str] = ()) -> None:
        self.state, self.allow = state, tuple(allow)
        self.scheduler = Scheduler(state, allow)
        self._pending: list[Event] = []

    def emit(self, event: Event) -> None:
        """Apply an event at once; the next `take` returns it for the commit."""
        apply(self.state, event)
        self._pending.append(event)
        if not isinstance(event, _ROUTINE):
            self.scheduler.forget()

    @property
    def unsaved(self) -> bool:
        """Whether there are events that `take` has not returned yet."""
        return bool(self._pending)

    def take(self) -> list[Event]:
        """Return the events since the last call, to be committed."""
        batch, self._pending = self._pending, []
        self.scheduler.forget()
        return batch
