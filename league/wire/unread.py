"""Finds connections on which answers stay unread, and shuts them down.

unread = Unread()
unread.meet(peer, fd)                   # the file descriptor of a peer's connection
unread.sent(peer, size, now)            # an answer was passed to libzmq
unread.cut(now)                         # shuts down the connections whose answers were not read in time

libzmq has no call that closes the connection of one peer of a ROUTER. It closes a connection that leaves a PING
unanswered, but any message of the peer counts as an answer. Over tcp the kernel resets a connection whose receiver has
no room for STUCK_MS (TCP_USER_TIMEOUT; Linux 6.18 does so even if the receiver keeps reading a little). Over ipc
nothing does, and unread answers stay in our memory. So this module shuts the connection down below libzmq, by its file
descriptor, and libzmq treats it like any broken connection. Over tcp this is a second safeguard.

A descriptor may refer to another connection by the time it is used. So each is stored with its inode, and inspected
through a duplicate, which nobody else can close.
"""

import fcntl
import os
import socket
import struct
import termios
from collections import OrderedDict

TAKEN = 10.0  # seconds within which a small answer must be read
SLOWEST = 100_000  # bytes a second: the time limit grows with the size of an answer at this rate
SCRAP = 1 << 14  # unread bytes that are tolerated: heartbeats, refusals
CONNECTIONS = 1 << 16  # connections remembered; the oldest are forgotten
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing drops what the kernel still holds


class Unread:
    """The peers that may not have read their newest answer yet, and their connections."""

    def __init__(self) -> None:
        self._connections: OrderedDict[bytes, tuple[int, int]] = OrderedDict()  # descriptor and inode
        self._due: dict[bytes, float] = {}  # when the newest answer must have been read
        self.count = 0  # connections that were shut down

    def meet(self, peer: bytes, fd: int) -> None:
        """Record the descriptor of a peer's connection, at its first message."""
        if peer in self._connections:
            return
        try:
            self._connections[peer] = (fd, os.fstat(fd).st_ino)
        except OSError:  # it is closed already
            return
        if len(self._connections) > CONNECTIONS:
            oldest, _ = self._connections.popitem(last=False)
            self._due.pop(oldest, None)

    def sent(self, peer: bytes, size: int, now: float) -> None:
        """Record an answer. It found room because the peer has read earlier ones, so its time limit starts now."""
        if peer in self._connections:
            self._due[peer] = now + TAKEN + size / SLOWEST

    def cut(self, now: float) -> list[bytes]:
        """Shut down the connections of peers that did not read their answer in time; return these peers."""
        late = [peer for peer, due in self._due.items() if due <= now]
        for peer in late:
            del self._due[peer]
        found = [peer for peer in late if _shut_if_unread(*self._connections[peer])]
        for peer in found:
            del self._connections[peer]
        self.count += len(found)
        return found


def _shut_if_unread(fd: int, inode: int) -> bool:
    """Shut a connection down if it holds unread data; return False if it does not, or is closed already."""
    try:
        with socket.socket(fileno=os.dup(fd)) as line:
            if os.fstat(line.fileno()).st_ino != inode or _waiting(line) <= SCRAP:
                return False
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            line.shutdown(socket.SHUT_RDWR)
    except OSError:  # libzmq closed it meanwhile, or the number now belongs to something else
        return False
    return True


def _waiting(line: socket.socket) -> int:
    """Return how many bytes are in the kernel's send queue."""
    (waiting,) = struct.unpack("i", fcntl.ioctl(line.fileno(), termios.TIOCOUTQ, bytes(4)))
    return int(waiting)
