"""The connection to the near side: orders come in, each a length and JSON, and answers go out in the same way."""

from __future__ import annotations

import array
import json
import os
import socket
import struct

from .spaces import Plain


class Channel:
    """A socket on which orders arrive, some of them with a file: the memory that both sides share."""

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)

    def receive(self) -> Plain:
        """Return the next order; end the process when the near side is gone."""
        head, given, _, _ = self.socket.recvmsg(4, socket.CMSG_SPACE(4))
        (length,) = struct.unpack("<I", head + self.exactly(4 - len(head)) if head else self.exactly(4))
        order: Plain = json.loads(self.exactly(length))
        for _, _, data in given:
            order["memory"] = array.array("i", data)[0]
        return order

    def exactly(self, length: int) -> bytes:
        """Read that many bytes."""
        data = b""
        while len(data) < length:
            more = self.socket.recv(length - len(data))
            if not more:
                os._exit(0)
            data += more
        return data

    def answer(self, answer: Plain) -> None:
        """Send an answer; an empty one is sent as nothing."""
        self.send(json.dumps(answer).encode() if answer else b"")

    def send(self, data: bytes) -> None:
        """Send a frame."""
        self.socket.sendall(struct.pack("<I", len(data)) + data)
