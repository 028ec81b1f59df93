"""HTTP connections of which nobody can hold too many: the token is checked only when a request is complete.

uvicorn.Config(site, http=BoundedProtocol)
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 256  # at a time; a process may usually open 1,024 files
REQUEST_SECONDS = 10.0  # for a request to become complete


class BoundedProtocol(H11Protocol):
    """Ends connections that begin no request, or do not complete it: after a while, or the oldest of too many."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room, if there are too many."""
        super().connection_made(transport)
        self._bound()
        if len(self.connections) > CONNECTIONS:
            waiting = [one for one in self.connections if isinstance(one, BoundedProtocol) and one._deadline]
            oldest = min(waiting, key=_due)
            oldest._unbound()  # it is lost a moment later: the next of many at once ends another one
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._unbound()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a request, or a part of one, which does not move its deadline."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._unbound()
        elif self._deadline is None:
            self._bound()

    def _bound(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _unbound(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _due(one: Any) -> float:
    deadline: asyncio.TimerHandle = one._deadline
    return deadline.when()
