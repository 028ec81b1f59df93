"""Admission of peers: the keys of each end, the answer to a handshake, and the budget for bad messages."""

import string
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from league.wire.messages import Role

Z85 = frozenset(string.ascii_letters + string.digits + ".-:+=^!/*?&<>()[]{}@%$#")


def _refuse_bad_key(name: str, key: str) -> None:
    if len(key) != 40 or not Z85.issuperset(key):
        raise ValueError(f"the {name} key is not a CURVE key (40 characters of Z85)")


class Holder(msgspec.Struct, frozen=True, array_like=True):
    """The holder of a key: the name of a process, or of a kind of user command, and the role that it may act in."""

    name: str
    role: Role


Clients = Mapping[str, Holder]  # by public key


class ServerKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The server's own key pair, and the holder of every public key that it admits.

    `renew` returns the current holders, or None if they have not changed: keys may be revoked while a server runs.
    """

    public: str
    secret: str
    clients: dict[str, Holder]
    renew: Callable[[], Clients | None] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a malformed key; the message never contains its text."""
        _refuse_bad_key("server's public", self.public)
        _refuse_bad_key("server's secret", self.secret)
        for key in self.clients:
            _refuse_bad_key("client's public", key)

    def __repr__(self) -> str:
        return f"ServerKeys(public={self.public!r}, {len(self.clients)} clients)"


class ClientKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The client's own key pair, and the public key of its server."""

    server: str
    public: str
    secret: str

    def __post_init__(self) -> None:
        """Raise ValueError for a malformed key; the message never contains its text."""
        _refuse_bad_key("server's public", self.server)
        _refuse_bad_key("client's public", self.public)
        _refuse_bad_key("client's secret", self.secret)

    def __repr__(self) -> str:
        return f"ClientKeys(server={self.server!r}, public={self.public!r})"


def answer_handshake(request: Sequence[bytes], doors: Mapping[bytes, Mapping[bytes, str]]) -> list[bytes]:
    """Return the answer to a ZAP request (ZeroMQ RFC 27): 200 with the text of a known key as User-Id, or 400.

    `doors` maps the domain of a server to its clients: raw public key -> text of the key. The User-Id is the key and
    not its holder, because a holder's old key must not be admitted after it got a new one.
    """
    version, number, domain, _address, _identity, mechanism, *credentials = request
    known = doors.get(domain, {})
    key = known.get(credentials[0]) if len(credentials) == 1 else None
    if version != b"1.0" or mechanism != b"CURVE" or key is None:
        return [b"1.0", number, b"400", b"unknown key", b"", b""]
    return [b"1.0", number, b"200", b"OK", key.encode(), b""]


class Patience:
    """Counts the bad messages of each peer; messages of a peer that used up its budget are ignored.

    >>> patience = Patience(budget=1)
    >>> patience.lost(b"peer"), patience.offend(b"peer"), patience.lost(b"peer")
    (False, 1, True)
    """

    def __init__(self, budget: int = 100, remembered: int = 4096) -> None:
        self._budget = budget
        self._remembered = remembered
        self.offences: OrderedDict[bytes, int] = OrderedDict()
        self.total = 0

    def lost(self, peer: bytes) -> bool:
        """Return whether this peer has used up its budget."""
        return self.offences.get(peer, 0) >= self._budget

    def offend(self, peer: bytes) -> int:
        """Count a bad message; return the peer's total. The peers whose last one is oldest are forgotten."""
        count = self.offences.pop(peer, 0) + 1
        self.offences[peer] = count
        self.total += 1
        if len(self.offences) > self._remembered:
            self.offences.popitem(last=False)
        return count
