"""The interfaces of the two ends of a wire. Sockets and in-memory queues implement them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy.typing as npt

from league.wire.messages import Message, Role

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message that arrived at a server."""

    peer: bytes  # where to send the answer
    role: Role | None  # proven by the peer's key; None where the transport itself is private (ipc, memory)
    message: Message
    arrays: Arrays = field(default_factory=dict)
    name: str | None = None  # of the process that holds the key; None where the role is


class Server(Protocol):
    """The end with an address, to which many clients connect."""

    @property
    def address(self) -> str:
        """The address that clients connect to, e.g. `tcp://host:4711` or `ipc:///run/x/learner-0`."""

    def receive(self, timeout: float, limit: int = 1000) -> list[Incoming]:
        """Wait up to `timeout` seconds for a message, then return all that arrived, at most `limit`."""

    def send(self, peer: bytes, message: Message, arrays: Arrays | None = None) -> bool:
        """Send to one client; return False if it disconnected or does not read. Never blocks."""

    def close(self) -> None:
        """Close at once, dropping unsent messages."""


class Client(Protocol):
    """The end that connects to a server, and reconnects by itself."""

    def send(self, message: Message, arrays: Arrays | None = None) -> bool:
        """Send to the server; return False if the queue is full. Never blocks."""

    def receive(self, timeout: float) -> list[tuple[Message, Arrays]]:
        """Wait up to `timeout` seconds for a message, then return all that arrived."""

    def close(self) -> None:
        """Close at once, dropping unsent messages."""
