"""Connections on which answers stay unread, and how to cut them off.

unread = Unread()
unread.meet(peer, fd)                   # the connection by which a peer came
unread.sent(peer, size, now)            # an answer was handed to libzmq
unread.cut(now)                         # closes the connections whose answers were not taken in time

libzmq has no call that closes the connection of one peer of a ROUTER. By itself it closes one that leaves a PING
unanswered, but any message of the peer counts as an answer. Over tcp the kernel resets a connection whose receiver
leaves no room for STUCK_MS (TCP_USER_TIMEOUT; Linux 6.18 does so even if a little is read all the time). Over ipc
nothing does, and what a peer leaves unread stays in our memory. So the connection is shut down below libzmq, by its
file descriptor, and libzmq handles that as any connection that broke. Over tcp this is the second line.

A descriptor may mean another connection by the time it is used: each is remembered with its inode, and looked at
through a duplicate, which nobody else can close.
"""

import fcntl
import os
import socket
import struct
import termios
from collections import OrderedDict

TAKEN = 10.0  # seconds within which an answer must be taken,
SLOWEST = 100_000  # and bytes a second that a large one may take in addition
SCRAP = 1 << 14  # bytes under way that are no answer worth the name: heartbeats, refusals
CONNECTIONS = 1 << 16  # that are remembered; the oldest are forgotten
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing drops what the kernel still holds


class Unread:
    """Which peers have an answer that they may not have taken yet."""

    def __init__(self) -> None:
        self._connections: OrderedDict[bytes, tuple[int, int]] = OrderedDict()  # descriptor and inode
        self._due: dict[bytes, float] = {}  # when the newest answer must have been taken
        self.count = 0  # connections that were cut off

    def meet(self, peer: bytes, fd: int) -> None:
        """Note by which descriptor a peer came, at its first message."""
        if peer in self._connections:
            return
        try:
            self._connections[peer] = (fd, os.fstat(fd).st_ino)
        except OSError:  # it is gone already
            return
        if len(self._connections) > CONNECTIONS:
            oldest, _ = self._connections.popitem(last=False)
            self._due.pop(oldest, None)

    def sent(self, peer: bytes, size: int, now: float) -> None:
        """Note an answer. There is only room for it if the peer has taken an earlier one, so its time begins now."""
        if peer in self._connections:
            self._due[peer] = now + TAKEN + size / SLOWEST

    def cut(self, now: float) -> list[bytes]:
        """Cut off the peers that did not take their answer in time, and return them."""
        late = [peer for peer, due in self._due.items() if due <= now]
        for peer in late:
            del self._due[peer]
        found = [peer for peer in late if _shut_if_unread(*self._connections[peer])]
        for peer in found:
            del self._connections[peer]
        self.count += len(found)
        return found


def _shut_if_unread(fd: int, inode: int) -> bool:
    """Shut a connection down if data waits in it; False if there is none, or the connection is gone."""
    try:
        with socket.socket(fileno=os.dup(fd)) as line:
            if os.fstat(line.fileno()).st_ino != inode or _waiting(line) <= SCRAP:
                return False
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            line.shutdown(socket.SHUT_RDWR)
    except OSError:  # closed by libzmq meanwhile, or the number is that of something else now
        return False
    return True


def _waiting(line: socket.socket) -> int:
    """Return how many bytes the kernel holds that the other end has not taken."""
    (waiting,) = struct.unpack("i", fcntl.ioctl(line.fileno(), termios.TIOCOUTQ, bytes(4)))
    return int(waiting)
