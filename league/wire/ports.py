"""The two ends of a wire, as the rest of the league sees them. ZeroMQ and memory both implement them."""

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
    name: str | None = None  # of the process whose key it is; None like the role


class Server(Protocol):
    """The end with an address, to which many clients talk."""

    @property
    def address(self) -> str:
        """Where clients connect to, e.g. `tcp://host:4711` or `ipc:///run/x/learner-0`."""

    def receive(self, timeout: float, limit: int = 1000) -> list[Incoming]:
        """Wait up to `timeout` seconds for a message, then return what is there, at most `limit`."""

    def send(self, peer: bytes, message: Message, arrays: Arrays | None = None) -> bool:
        """Send to one client; False if it is gone or does not read. Never blocks."""

    def close(self) -> None:
        """Close at once, dropping what was not sent yet."""


class Client(Protocol):
    """The end that connects to a server, and reconnects by itself."""

    def send(self, message: Message, arrays: Arrays | None = None) -> bool:
        """Send; False if the queue is full. Never blocks."""

    def receive(self, timeout: float) -> list[tuple[Message, Arrays]]:
        """Wait up to `timeout` seconds for a message, then return all that are there."""

    def close(self) -> None:
        """Close at once, dropping what was not sent yet."""
