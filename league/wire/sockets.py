"""Sockets of ZeroMQ: a ROUTER for each server, a DEALER for each client. No other module imports zmq.

    with Sockets() as sockets:
        server = sockets.serve("tcp://127.0.0.1:0", server_keys)
        client = sockets.connect(server.address, client_keys)
        client.send(Pull(...))
        for incoming in server.receive(timeout=1.0):
            server.send(incoming.peer, Credit(...))

tcp is always encrypted, and each peer proves its name and role by its key. A revoked key is rejected, even on
connections that exist already. ipc sockets lie in a folder that only its owner can enter. The ROUTER gives every
connection a new id: nobody can take another peer's place, and a client that reconnects is never mistaken for its own
dead connection.

Two limits of libzmq 4.3.5 matter here. It aborts the process if it is about to assign an id that a peer has claimed
for itself: only a peer with a valid key can claim one, and because of _seed_ids it must guess one number in four
billion. It also aborts (`!_io_error`) if a peer closes while its input is stopped, as it is when `rcvhwm` messages of
that peer wait, and a heartbeat of either side is due. So a server that peers may flood has no such mark (`share`): it
reads everything at once and drops what exceeds a peer's share.
"""

import ctypes
import logging
import math
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Self

import msgspec
import zmq
from zmq.utils import z85

from league.wire.addresses import AddressError, advertised, check_ipc, check_tcp, is_ipc
from league.wire.admission import ClientKeys, Holder, Patience, ServerKeys, answer_handshake
from league.wire.codec import MAX_FRAMES, Frame, WireError, WrongVersionError, decode, encode
from league.wire.messages import Message, Refused
from league.wire.ports import Arrays, Incoming
from league.wire.unread import Unread

Socket = zmq.Socket[bytes]
Context = zmq.Context[Socket]
OnRefusal = Callable[[bytes, str], None]
Opener = Callable[[str, ClientKeys | None], Socket]

CONTROL_LIMIT = 1 << 20  # bytes of a frame
SEGMENTS_LIMIT = 1 << 28  # where segments and weights travel
WISH_LIMIT = 1 << 14  # where viewers and trackers send requests
PAGE_LIMIT = 1 << 30  # where events travel: a result with all its actions is far larger than other messages

STUCK_MS = 10_000  # milliseconds for which a tcp peer may have no room, if its server limits unread answers
LATE = 1.0  # seconds between two checks for unread answers
FLOOD = 10  # with a share: messages read at once, as a multiple of those wanted
RENEWAL = 0.5  # seconds between two reads of the admitted keys
HASTY = 10  # reads in between for unknown keys, which may be new
PEERS = 1 << 16  # connections of one server whose keys are remembered
REVOKED = "the key of this process was revoked"

_MORE = int(zmq.SNDMORE | zmq.NOBLOCK)  # combined once: pyzmq's send_multipart does so for each frame

_log = logging.getLogger(__name__)


def new_pair() -> tuple[str, str]:
    """Return a new CURVE key pair: public, secret."""
    public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()


def _seed_ids() -> None:
    """Seed the generator from which libzmq takes the first peer id and the jitter of reconnects.

    libzmq calls the C library's rand() and never seeds it: every process would start with the same id, which a peer
    could claim in advance (see above), and all clients would reconnect in step.
    """
    ctypes.CDLL(None).srand(secrets.randbits(32))


def _waiting(source: Socket, limit: int) -> Iterator[list[zmq.Frame]]:
    """Yield the messages that arrived, at most `limit`. Of one with too many frames, keep a single excess frame."""
    for _ in range(limit):
        try:
            frames = [source.recv(zmq.NOBLOCK, copy=False)]
        except zmq.Again:
            return
        more = frames[0].more
        while more:
            frame = source.recv(zmq.NOBLOCK, copy=False)
            more = frame.more
            if len(frames) < MAX_FRAMES + 2:  # one for the peer's id, and one in excess
                frames.append(frame)
        yield frames


def _send(target: Socket, frames: list[Frame]) -> bool:
    try:
        for frame in frames[:-1]:
            target.send(frame, _MORE)  # copies: the sender may change its arrays at once
        target.send(frames[-1], zmq.NOBLOCK)
    except zmq.Again:
        return False
    except zmq.ZMQError as error:
        if error.errno != zmq.EHOSTUNREACH:
            raise
        return False
    return True


class PeerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a server allows each of its peers; None: up to the high-water mark of its process."""

    share: int | None = None  # messages that one `receive` takes from a peer; the rest are dropped
    unread: int | None = None  # messages that may wait for a peer; one that does not read them in time is cut off


UNLIMITED = PeerLimits()


class _AdmittedKeys:
    """The keys that one server admits, re-read twice a second: a key may be revoked or created."""

    def __init__(self, keys: ServerKeys) -> None:
        self._renew, self._looked, self._hasty = keys.renew, time.monotonic(), 0
        self._holders: Mapping[str, Holder] = keys.clients
        self._error = ""  # why the list could not be read, as last logged
        self.raw = _raw(keys.clients)

    def look(self) -> None:
        """Re-read the keys if RENEWAL seconds have passed."""
        now = time.monotonic()
        if now - self._looked >= RENEWAL:
            self._looked, self._hasty = now, 0
            self._read()

    def look_for(self, raw: bytes) -> None:
        """Re-read the keys if this one is unknown, at most HASTY times in RENEWAL seconds: strangers may try often."""
        if raw not in self.raw and self._hasty < HASTY:
            self._hasty += 1
            self._read()

    def _read(self) -> None:
        """Read the list; if that fails, log the error and keep the previous keys."""
        if self._renew is None:
            return
        try:
            changed = self._renew()
            if changed is not None:
                self._holders, self.raw = changed, _raw(changed)
            self._error = ""
        except (OSError, ValueError) as error:
            if str(error) != self._error:
                self._error = str(error)
                _log.error("the list of admitted keys cannot be read: %s", error)

    def holder(self, key: str) -> Holder | None:
        """Return the holder of a key; None if it was revoked."""
        return self._holders.get(key)


def _raw(clients: Mapping[str, Holder]) -> dict[bytes, str]:
    return {z85.decode(key): key for key in clients}


class _ZapHandler:
    """Answers the handshakes of all servers of one context. It has no thread: `receive` of each server calls it."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self._admitted: dict[bytes, _AdmittedKeys] = {}

    def add(self, keys: ServerKeys) -> tuple[bytes, _AdmittedKeys]:
        """Register the clients of a server; return the domain that its socket must name, and its keys."""
        domain, admitted = b"ludus-%d" % len(self._admitted), _AdmittedKeys(keys)
        self._admitted[domain] = admitted
        return domain, admitted

    def answer(self) -> None:
        """Answer every pending handshake."""
        for admitted in self._admitted.values():
            admitted.look()
        for request in _waiting(self.socket, 1000):
            frames = [frame.bytes for frame in request]
            requested = self._admitted.get(frames[2])
            if requested is not None:
                requested.look_for(frames[-1])  # a client that is refused once does not try again by itself
            domains = {domain: admitted.raw for domain, admitted in self._admitted.items()}
            self.socket.send_multipart(answer_handshake(frames, domains))


class ZmqServer:
    """The server's end. Sockets.serve opens it."""

    def __init__(
        self,
        socket: Socket,
        address: str,
        guard: tuple[_ZapHandler, _AdmittedKeys] | None,
        on_refusal: OnRefusal | None,
        limits: PeerLimits = UNLIMITED,
    ) -> None:
        self._socket = socket
        self._share = limits.share
        self._unread, self._looked = None if limits.unread is None else Unread(), time.monotonic()
        self._address = address
        self._zap: _ZapHandler | None = guard[0] if guard else None
        self._admitted: _AdmittedKeys | None = guard[1] if guard else None
        self._on_refusal = on_refusal
        self._keys: OrderedDict[bytes, str] = OrderedDict()  # the key of each peer; the oldest are forgotten
        self._poller = zmq.Poller()
        self._poller.register(socket, zmq.POLLIN)
        if self._zap is not None:
            self._poller.register(self._zap.socket, zmq.POLLIN)
        self.patience = Patience()
        self.dropped = 0  # messages that exceeded the share of their peer

    @property
    def address(self) -> str:
        """The address that clients connect to; with the bound port, if port 0 was requested."""
        return self._address

    def receive(self, timeout: float, limit: int = 1000) -> list[Incoming]:
        """Wait up to `timeout` seconds for a message, then return all that arrived, at most `limit`.

        Malformed messages never raise: they are dropped and counted in `patience`. With a `share`, messages that
        exceed it are dropped as well, and counted in `dropped`.
        """
        deadline = time.monotonic() + timeout
        while True:
            if self._zap is not None:
                self._zap.answer()
                self._forget_peers()
            self._cut_off()
            batch = [opened for opened in map(self._open, self._take(limit)) if opened is not None]
            left = deadline - time.monotonic()
            if batch or left <= 0:
                return batch
            self._poller.poll(math.ceil(left * 1000))

    def _cut_off(self) -> None:
        """Shut down the connections of peers that do not read their answers, once in LATE seconds."""
        now = time.monotonic()
        if self._unread is None or now - self._looked < LATE:
            return
        self._looked = now
        for peer in self._unread.cut(now):
            _log.warning("cut off peer %s: it did not read its answer in time", peer.hex())

    def _take(self, limit: int) -> Iterator[list[zmq.Frame]]:
        """Yield up to `limit` messages that arrived; with a share, drop the excess of a peer instead of queueing it."""
        if self._share is None:
            yield from _waiting(self._socket, limit)
            return
        taken: Counter[bytes] = Counter()
        for frames in _waiting(self._socket, FLOOD * limit):
            peer = frames[0].bytes
            if taken[peer] >= self._share:
                self.dropped += 1
                continue
            taken[peer] += 1
            yield frames
            limit -= 1
            if limit == 0:
                return

    def _open(self, frames: list[zmq.Frame]) -> Incoming | None:
        peer = frames[0].bytes
        if self.patience.lost(peer):
            return None
        if self._unread is not None:
            self._unread.meet(peer, int(frames[0].get(zmq.SRCFD)))
        holder = None if self._admitted is None else self._admit(peer, str(frames[0].get("User-Id")))
        if self._admitted is not None and holder is None:
            return None
        try:
            message, arrays = decode([frame.buffer for frame in frames[1:]])
        except WrongVersionError as error:
            self._refuse(peer, str(error))
        except WireError as error:
            if self.patience.offend(peer) == 1:
                _log.warning("dropped a bad message of peer %s: %s", peer.hex(), error)
        else:
            if holder is None:
                return Incoming(peer, None, message, arrays)
            return Incoming(peer, holder.role, message, arrays, holder.name)
        return None

    def _admit(self, peer: bytes, key: str) -> Holder | None:
        """Return the holder of a peer's key; if it was revoked meanwhile, refuse the peer and return None."""
        assert self._admitted is not None
        holder = self._admitted.holder(key)
        if holder is None:
            self._refuse(peer, REVOKED)
        self._keys[peer] = key
        return holder

    def _forget_peers(self) -> None:
        while len(self._keys) > PEERS:
            self._keys.popitem(last=False)

    def _refuse(self, peer: bytes, reason: str) -> None:
        if self.patience.offend(peer) > 1:
            return
        _log.error("refused peer %s: %s", peer.hex(), reason)
        _send(self._socket, [peer, *encode(Refused(reason=reason))])
        if self._on_refusal is not None:
            self._on_refusal(peer, reason)

    def send(self, peer: bytes, message: Message, arrays: Arrays | None = None) -> bool:
        """Send to one client; return False if it disconnected, does not read, or its key was revoked. Never blocks."""
        if (
            self._admitted is not None
            and (key := self._keys.get(peer)) is not None
            and self._admitted.holder(key) is None
        ):
            return False
        frames = encode(message, arrays)
        sent = _send(self._socket, [peer, *frames])
        if sent and self._unread is not None:
            self._unread.sent(peer, sum(memoryview(frame).nbytes for frame in frames), time.monotonic())
        return sent

    def close(self) -> None:
        """Close at once, dropping unsent messages."""
        self._socket.close(linger=0)


class ZmqClient:
    """The client's end, which reconnects by itself. Sockets.connect opens it."""

    def __init__(self, opener: Opener, socket: Socket, target: tuple[str, ClientKeys | None]) -> None:
        self._opener = opener
        self._socket = socket
        self._target = target
        self._warned = False
        self.dropped = 0

    def redirect(self, address: str, keys: ClientKeys | None = None) -> None:
        """Connect to another address instead, dropping unsent messages. The same address and keys change nothing."""
        if (address, keys) == self._target:
            return
        opened = self._opener(address, keys)
        self._socket.close(linger=0)
        self._socket, self._target, self._warned = opened, (address, keys), False

    def send(self, message: Message, arrays: Arrays | None = None) -> bool:
        """Send to the server; return False if the queue is full. Never blocks."""
        return _send(self._socket, encode(message, arrays))

    def receive(self, timeout: float) -> list[tuple[Message, Arrays]]:
        """Wait up to `timeout` seconds for a message, then return all that arrived.

        If the first malformed message has another wire version, a Refused message reports it.
        """
        deadline = time.monotonic() + timeout
        while True:
            batch = [opened for opened in map(self._open, _waiting(self._socket, 1000)) if opened is not None]
            left = deadline - time.monotonic()
            if batch or left <= 0:
                return batch
            self._socket.poll(math.ceil(left * 1000))

    def _open(self, frames: list[zmq.Frame]) -> tuple[Message, Arrays] | None:
        try:
            return decode([frame.buffer for frame in frames])
        except WireError as error:
            self.dropped += 1
            if self._warned:
                return None
            self._warned = True
            _log.error("bad message from %s: %s", self._target[0], error)
            return (Refused(reason=str(error)), {}) if isinstance(error, WrongVersionError) else None

    def close(self) -> None:
        """Close at once, dropping unsent messages."""
        self._socket.close(linger=0)


class Sockets:
    """Owns the ZeroMQ context of a process and opens its servers and clients. Threads must not share it.

    `max_message` bounds each frame in bytes, `high_water` the messages queued to or from one peer.
    """

    def __init__(self, max_message: int = CONTROL_LIMIT, high_water: int = 100) -> None:
        self._max_message = max_message
        self._high_water = high_water
        self._context: Context | None = None
        self._zap: _ZapHandler | None = None
        self._opened: list[Socket] = []  # a reference to each, so that `close` finds ends that nobody closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def serve(
        self,
        address: str,
        keys: ServerKeys | None = None,
        on_refusal: OnRefusal | None = None,
        limits: PeerLimits = UNLIMITED,
    ) -> ZmqServer:
        """Listen on `tcp://host:port` (port 0: any free one), which needs keys, or on `ipc:///path`."""
        if is_ipc(address):
            check_ipc(address).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            socket, guard = self._bound(address, None, limits)
        else:
            socket, guard = self._bound(address, check_tcp(address, keys), limits)
            address = advertised(address, str(socket.get_string(zmq.LAST_ENDPOINT)))
        return ZmqServer(socket, address, guard, on_refusal, limits)

    def connect(self, address: str, keys: ClientKeys | None = None) -> ZmqClient:
        """Connect to a server, which may start later: ZeroMQ connects, and reconnects, by itself."""
        return ZmqClient(self._connected, self._connected(address, keys), (address, keys))

    def close(self) -> None:
        """Close all servers and clients at once."""
        if self._context is not None:
            self._context.destroy(linger=0)
            self._context = self._zap = None

    def _bound(
        self, address: str, keys: ServerKeys | None, limits: PeerLimits
    ) -> tuple[Socket, tuple[_ZapHandler, _AdmittedKeys] | None]:
        socket, guard = self._new_socket(zmq.ROUTER), None
        if limits.share is not None:
            socket.rcvhwm = 0  # see above
        if limits.unread is not None:
            socket.sndhwm = limits.unread
            socket.tcp_maxrt = STUCK_MS
        socket.router_mandatory = True  # else undeliverable messages are dropped silently
        socket.backlog = 1024
        if keys is not None:
            zap = self._open_zap()
            socket.zap_domain, admitted = zap.add(keys)
            guard = (zap, admitted)
            socket.zap_enforce_domain = True  # without a handler, admit nobody instead of everybody
            socket.curve_publickey, socket.curve_secretkey = keys.public.encode(), keys.secret.encode()
            socket.curve_server = True
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            socket.close()
            raise AddressError(f"cannot listen on {address!r}: {error}") from error
        return socket, guard

    def _connected(self, address: str, keys: ClientKeys | None) -> Socket:
        checked = check_tcp(address, keys) if not is_ipc(address) else None
        if checked is None:
            check_ipc(address)
        socket = self._new_socket(zmq.DEALER)
        if checked is not None:
            socket.curve_publickey, socket.curve_secretkey = checked.public.encode(), checked.secret.encode()
            socket.curve_serverkey = checked.server.encode()
        socket.connect(address)
        return socket

    def _open_zap(self) -> _ZapHandler:
        if self._zap is None:
            self._zap = _ZapHandler(self._new_socket(zmq.REP))
            self._zap.socket.bind("inproc://zeromq.zap.01")
        return self._zap

    def _new_socket(self, kind: int) -> Socket:
        if self._context is None:
            self._context = zmq.Context()
        _seed_ids()
        socket: Socket = self._context.socket(kind)
        self._opened = [opened for opened in self._opened if not opened.closed] + [socket]
        socket.linger = 0
        socket.maxmsgsize = self._max_message
        socket.sndhwm = socket.rcvhwm = self._high_water
        socket.heartbeat_ivl, socket.heartbeat_timeout = 1000, 5000
        socket.reconnect_ivl, socket.reconnect_ivl_max = 100, 5000
        return socket
