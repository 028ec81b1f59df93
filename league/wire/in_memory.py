"""The wire inside one process: the ports and frames of sockets, in queues. Nothing waits.

    exchange = Exchange()
    server = exchange.server("coordinator")
    client = exchange.client(server.address)

Messages pass through the codec, as they do on sockets, and arrays are copied, never shared.
"""

from collections import deque

from league.wire.codec import Frame, decode, encode
from league.wire.messages import Message
from league.wire.ports import Arrays, Incoming

Frames = list[bytes]


def _copied(frames: list[Frame]) -> Frames:
    return [bytes(frame) for frame in frames]


class Exchange:
    """Connects the servers and clients of one process. `high_water` bounds each queue."""

    def __init__(self, high_water: int = 10_000) -> None:
        self._high_water = high_water
        self._servers: dict[str, MemoryServer] = {}
        self._clients: dict[bytes, MemoryClient] = {}
        self._joined = 0

    def server(self, name: str) -> "MemoryServer":
        """Open the server of this name; only one can be open at a time."""
        address = f"memory://{name}"
        if address in self._servers:
            raise ValueError(f"there is already a server at {address}; close it first")
        self._servers[address] = MemoryServer(self, address)
        return self._servers[address]

    def client(self, address: str) -> "MemoryClient":
        """Open a client of a server, which may open later, or close and open again."""
        self._joined += 1
        peer = b"client-%d" % self._joined
        self._clients[peer] = MemoryClient(self, address, peer)
        return self._clients[peer]

    def to_server(self, address: str, peer: bytes, frames: Frames) -> bool:
        """Put frames into a server's queue; return False if there is no server or no room."""
        server = self._servers.get(address)
        if server is None or len(server.inbox) >= self._high_water:
            return False
        server.inbox.append((peer, frames))
        return True

    def to_client(self, address: str, peer: bytes, frames: Frames) -> bool:
        """Put frames into a client's queue; return False if it is closed, of another server, or full."""
        client = self._clients.get(peer)
        if client is None or client.address != address or len(client.inbox) >= self._high_water:
            return False
        client.inbox.append(frames)
        return True

    def leave(self, name: str | bytes) -> None:
        """Remove a server (by address) or a client (by id)."""
        if isinstance(name, str):
            self._servers.pop(name, None)
        else:
            self._clients.pop(name, None)


class MemoryServer:
    """The server's end. Exchange.server opens it."""

    def __init__(self, exchange: Exchange, address: str) -> None:
        self._exchange = exchange
        self._address = address
        self.inbox: deque[tuple[bytes, Frames]] = deque()

    @property
    def address(self) -> str:
        """The address that clients connect to."""
        return self._address

    def receive(self, timeout: float, limit: int = 1000) -> list[Incoming]:
        """Return the queued messages, at most `limit`, in the order in which they were sent. Never waits."""
        taken = [self.inbox.popleft() for _ in range(min(limit, len(self.inbox)))]
        return [Incoming(peer, None, *decode(frames)) for peer, frames in taken]

    def send(self, peer: bytes, message: Message, arrays: Arrays | None = None) -> bool:
        """Send to one client; return False if it is closed or does not read."""
        return self._exchange.to_client(self._address, peer, _copied(encode(message, arrays)))

    def close(self) -> None:
        """Close at once, dropping unread messages."""
        self.inbox.clear()
        self._exchange.leave(self._address)


class MemoryClient:
    """The client's end. Exchange.client opens it."""

    def __init__(self, exchange: Exchange, address: str, peer: bytes) -> None:
        self._exchange = exchange
        self._peer = peer
        self.address = address
        self.inbox: deque[Frames] = deque()

    def send(self, message: Message, arrays: Arrays | None = None) -> bool:
        """Send to the server; return False if there is none or its queue is full."""
        return self._exchange.to_server(self.address, self._peer, _copied(encode(message, arrays)))

    def receive(self, timeout: float) -> list[tuple[Message, Arrays]]:
        """Return all queued messages, in the order in which they were sent. Never waits."""
        taken = [self.inbox.popleft() for _ in range(len(self.inbox))]
        return [decode(frames) for frames in taken]

    def close(self) -> None:
        """Close at once, dropping unread messages."""
        self.inbox.clear()
        self._exchange.leave(self._peer)
