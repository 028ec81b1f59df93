"""The peers of the replica: their pending requests, the order of answers, and rate limits.

audience = Audience()
refusal = audience.receive(peer, role, message, now)    # "" if the request is now pending
for waiting in audience.waiting(now):                   # in a fair order, within the rate limits
    audience.served(waiting, size, now)                 # the answer had `size` bytes
    audience.drop(waiting, now)                         # or: the peer does not read

No socket and no clock. A peer has at most one pending request of each kind: a newer one replaces the older.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from league.wire.messages import FetchFold, Follow, Message, Note, Role

Wish = Follow | FetchFold | Note

PEERS = 128  # of one role at a time, at most
SILENT = 10.0  # seconds without a request after which a peer may lose its place to a new one
DEAF = 5.0  # seconds for which requests are ignored of a peer that did not read
PEER_RATE, ROLE_RATE = 8 << 20, 32 << 20  # bytes a second for one peer, and for all peers of one role
BURST = 2.0  # seconds of that rate that may be used at once
SMALLEST = 4096  # bytes that an answer counts as, at least
NEWEST = 1 << 62  # numbers of events and rows are below it
NOTE_BYTES, NAME_BYTES = 4096, 64

MAY_ASK: dict[type[Message], frozenset[Role | None]] = {
    Follow: frozenset({None, Role.VIEWER, Role.TRACKER, Role.OPERATOR}),
    FetchFold: frozenset({None, Role.VIEWER, Role.TRACKER, Role.OPERATOR}),
    Note: frozenset({None, Role.TRACKER}),
}


class Bucket:
    """A rate limit, as a token bucket that may go into debt: it is ready while its level is positive.

    >>> bucket = Bucket(rate=10, now=0.0)
    >>> bucket.pay(25, 0.0)
    >>> bucket.ready(0.4), bucket.ready(0.6)
    (False, True)
    """

    def __init__(self, rate: float, now: float) -> None:
        self._rate, self._at = rate, now
        self._level = rate * BURST

    def ready(self, now: float) -> bool:
        """Return whether an answer may be sent now."""
        self._level = min(self._rate * BURST, self._level + self._rate * max(0.0, now - self._at))
        self._at = now
        return self._level > 0

    def pay(self, size: float, now: float) -> None:
        """Take this many bytes out of the bucket."""
        self.ready(now)
        self._level -= size


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A pending request, and when it arrived."""

    peer: bytes
    role: Role | None
    wish: Wish
    at: float


@dataclass(slots=True)
class _Peer:
    bucket: Bucket
    requested: float
    deaf_until: float = float("-inf")


@dataclass(slots=True)
class _RoleShare:
    """The peers of one role, and their pending requests."""

    bucket: Bucket
    served: float = float("-inf")
    peers: dict[bytes, _Peer] = field(default_factory=dict)
    line: dict[tuple[bytes, type[Wish]], Waiting] = field(default_factory=dict)


class Audience:
    """All peers, by role: many peers of one role never displace those of another."""

    def __init__(self) -> None:
        self._groups: dict[Role | None, _RoleShare] = {}

    def receive(self, peer: bytes, role: Role | None, message: Message, now: float) -> str:
        """Add a request to the queue; return why it is refused, "" if it is not.

        Requests of a peer that did not read its last answer are ignored for DEAF seconds.
        """
        if role not in MAY_ASK.get(type(message), ()):
            whose = "the owner of this socket" if role is None else f"a {role} key"
            return f"{whose} may not send {type(message).__name__} to the replica"
        assert isinstance(message, Wish)
        group = self._groups.setdefault(role, _RoleShare(Bucket(ROLE_RATE, now)))
        found = group.peers.get(peer)
        if found is None:
            if len(group.peers) >= PEERS and not _make_room(group, now):
                return f"{PEERS} peers with a {role} key are served already; close one of them, or try again later"
            found = group.peers[peer] = _Peer(Bucket(PEER_RATE, now), now)
        found.requested = now
        if now < found.deaf_until:
            return ""
        if wrong := _wrong(message):
            return wrong
        group.line[peer, type(message)] = Waiting(peer, role, message, now)
        return ""

    def waiting(self, now: float) -> Iterator[Waiting]:
        """Yield the requests that may be answered now: roles alternate; within a role, the oldest request is first."""
        ready = [group for group in self._groups.values() if group.line and group.bucket.ready(now)]
        ready.sort(key=lambda group: group.served)
        lines = [[w for w in group.line.values() if group.peers[w.peer].bucket.ready(now)] for group in ready]
        yield from (waiting for waiting in chain(*zip_longest(*lines)) if waiting is not None)

    def served(self, waiting: Waiting, size: int, now: float) -> None:
        """Remove an answered request and charge its size. A newer request of the same kind stays pending."""
        group, key = self._groups[waiting.role], (waiting.peer, type(waiting.wish))
        if group.line.get(key) is waiting:
            del group.line[key]
        group.served = now
        for bucket in (group.bucket, *(p.bucket for p in [group.peers.get(waiting.peer)] if p is not None)):
            bucket.pay(max(SMALLEST, size), now)

    def drop(self, waiting: Waiting, now: float) -> None:
        """Remove all requests of a peer that does not read, and ignore new ones for DEAF seconds."""
        group = self._groups[waiting.role]
        _forget(group, waiting.peer)
        if waiting.peer in group.peers:
            group.peers[waiting.peer].deaf_until = now + DEAF

    def __len__(self) -> int:
        return sum(len(group.peers) for group in self._groups.values())


def _make_room(group: _RoleShare, now: float) -> bool:
    """Remove the peers that sent nothing for SILENT seconds; return whether there is room."""
    for peer in [peer for peer, known in group.peers.items() if now - known.requested > SILENT]:
        _forget(group, peer)
        del group.peers[peer]
    return len(group.peers) < PEERS


def _forget(group: _RoleShare, peer: bytes) -> None:
    for key in [key for key in group.line if key[0] == peer]:
        del group.line[key]


def _wrong(wish: Wish) -> str:
    """Return why the values of a request are invalid, "" if they are valid."""
    match wish:
        case Follow(since=since, measured=measured) if not (0 <= since < NEWEST and 0 <= (measured or 0) < NEWEST):
            return "there is no event and no row with such a number"
        case Follow(mark=mark) if mark:
            return "marks are for the feed of the coordinator"
        case Note(name=name, text=text) if len(text.encode()) > NOTE_BYTES or len(name.encode()) > NAME_BYTES:
            return f"a note is too long: at most {NOTE_BYTES} bytes, under a name of at most {NAME_BYTES}"
        case FetchFold(offset=offset) if offset < 0:
            return "there is nothing before the first byte of a fold"
    return ""
