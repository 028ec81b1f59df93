"""Searching a ledger from its end: which matches were settled last, without folding what came before them.

for ticket, event in newest_settled(ledger, limit=20): ...
found, before = settled_before(ledger, ledger.head, limit=50)     # and further back from `before`, until it is 0
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from league.events import ResultCounted, TicketReissued, TicketVoided
from league.store.ledger import DAMAGED, LedgerError, decode_row
from league.ticket import Ticket

PAGE = 1000  # rows that are read at once
ISSUED, REISSUED, COUNTED, VOIDED = "ticket_issued", "ticket_reissued", "result_counted", "ticket_voided"

BUDGET = 20_000  # rows that one search reads before it says from where to go on

Settled = ResultCounted | TicketVoided


class RowSource(Protocol):
    """What has the rows of a ledger by number: the ledger itself, or a replica that is asked for them."""

    @property
    def head(self) -> int:
        """The number of the newest row."""

    def read(self, since: int, limit: int) -> Sequence[tuple[int, bytes]]:
        """Return up to so many rows after a number, in order."""


class SettledTicket(NamedTuple):
    """A ticket, how it was settled, and the number of the row that says so."""

    seq: int
    ticket: Ticket
    event: Settled


class _RowHead(msgspec.Struct, frozen=True):
    """What a row is about; the rest of it is not decoded."""

    event: str
    ticket: msgspec.Raw = msgspec.Raw(b"0")


_heads = msgspec.json.Decoder(_RowHead)


class _Search:
    """Walks back: first comes how a ticket was settled, then its attempts, then who was to play."""

    def __init__(self, wanted: Callable[[Ticket], bool]) -> None:
        self._wanted = wanted
        self._waiting: dict[int, tuple[int, bytes]] = {}  # the rows that settled tickets, until their issue is found
        self._attempts: dict[int, int] = {}
        self.found: list[tuple[int, Ticket, bytes]] = []  # with the number of the row that settled the ticket

    def take(self, seq: int, body: bytes) -> None:
        """Take in the next older row."""
        try:
            head = _heads.decode(body)
        except msgspec.MsgspecError as error:
            raise LedgerError(f"event {seq} of the ledger cannot be read: {error}. {DAMAGED}") from error
        if head.event in (COUNTED, VOIDED):
            self._waiting[int(bytes(head.ticket))] = seq, body
        elif head.event == REISSUED and (number := int(bytes(head.ticket))) in self._waiting:
            event = decode_row(seq, body)
            assert isinstance(event, TicketReissued)
            self._attempts.setdefault(number, event.attempt)
        elif head.event == ISSUED:
            ticket = msgspec.json.decode(head.ticket, type=Ticket)
            settled = self._waiting.pop(ticket.number, None)
            attempt = self._attempts.pop(ticket.number, ticket.attempt)
            if settled is not None and self._wanted(ticket):
                self.found.append((settled[0], msgspec.structs.replace(ticket, attempt=attempt), settled[1]))

    @property
    def unsure(self) -> int:
        """The newest row that settled a ticket whose issue was not found yet; 0 if there is none."""
        return max((seq for seq, _ in self._waiting.values()), default=0)

    def has(self, limit: int) -> bool:
        """Whether the newest of all are found: none that waits could be among them."""
        self.found.sort(key=lambda entry: -entry[0])
        return len(self.found) >= limit and all(seq < self.found[limit - 1][0] for seq, _ in self._waiting.values())


def newest_settled(
    ledger: RowSource, limit: int, wanted: Callable[[Ticket], bool] = lambda ticket: True
) -> list[tuple[Ticket, Settled]]:
    """Return the tickets that were settled last and how, the newest first."""
    search, upto = _Search(wanted), ledger.head
    while upto > 0 and not search.has(limit):
        since = max(0, upto - PAGE)
        for seq, body in reversed(ledger.read(since, upto - since)):
            if seq <= upto:
                search.take(seq, body)
        upto = since
    search.has(limit)
    newest = []
    for seq, ticket, body in search.found[:limit]:
        event = decode_row(seq, body)
        assert isinstance(event, ResultCounted | TicketVoided)
        newest.append((ticket, event))
    return newest


def settled_before(
    rows: RowSource,
    upto: int,
    limit: int,
    wanted: Callable[[Ticket], bool] = lambda ticket: True,
    fits: Callable[[Ticket, Settled], bool] = lambda ticket, event: True,
    budget: int = BUDGET,
) -> tuple[list[SettledTicket], int]:
    """Return the newest tickets that were settled by row `upto`, and the row from which to go on; 0 at the beginning.

    It may return fewer than `limit`, and even none, before the beginning: then it has read its budget of rows.
    """
    search, at, kept = _Search(wanted), upto, list[SettledTicket]()
    while at > 0:
        since = max(0, at - PAGE)
        for seq, body in reversed(rows.read(since, at - since)):
            if seq <= at:
                search.take(seq, body)
        at = since
        for seq, ticket, body in search.found:
            event = decode_row(seq, body)
            assert isinstance(event, ResultCounted | TicketVoided)
            if fits(ticket, event):
                kept.append(SettledTicket(seq, ticket, event))
        search.found.clear()
        sure = sorted((one for one in kept if one.seq > search.unsure), key=lambda one: -one.seq)
        if len(sure) >= limit:
            return sure[:limit], sure[limit - 1].seq - 1
        if upto - at >= budget and search.unsure < upto:
            return sure, search.unsure or at
    return sorted(kept, key=lambda one: -one.seq)[:limit], 0
