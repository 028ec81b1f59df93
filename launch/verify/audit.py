"""The audit: the raw rows of a ledger, read one by one, independently of the fold.

`ludus verify` holds the fold against it, so nothing here may use the fold.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from league.events import (
    CandidateWritten,
    Event,
    LeagueFounded,
    PlayerFrozen,
    PlayerReset,
    ResultCounted,
    SnapshotPruned,
    TicketIssued,
    TicketReissued,
    TicketVoided,
    TicketWithdrawn,
    decode,
    kind_of,
)
from league.ids import Hash, PlayerId, TicketNumber
from league.store.archive import Row
from league.store.ledger import Ledger
from league.ticket import Entry, Purpose, Ticket

PAGE = 10_000


@dataclass(slots=True)
class Audit:
    """What follows from the rows, and what is wrong with them."""

    rows: int = 0
    last: int = 0  # the number of the last row
    gaps: list[int] = field(default_factory=list)  # the numbers of rows before which others are missing
    sides: tuple[int, ...] = ()  # of the seats
    unreadable: list[str] = field(default_factory=list)
    disorder: list[str] = field(default_factory=list)  # tickets and results that do not belong together
    issued: set[TicketNumber] = field(default_factory=set)
    open: dict[TicketNumber, tuple[Ticket, int]] = field(default_factory=dict)  # with the current attempt
    counted: dict[TicketNumber, int] = field(default_factory=dict)  # the attempt whose result counts
    results: Counter[TicketNumber] = field(default_factory=Counter)
    stored: set[Hash] = field(default_factory=set)  # snapshots that must have a file
    pruned: set[Hash] = field(default_factory=set)  # and those that have none any more
    frozen: set[Hash] = field(default_factory=set)
    points: defaultdict[tuple[PlayerId, PlayerId], float] = field(default_factory=lambda: defaultdict(float))
    """Of one player against another in evaluation; of learning players those of the newest candidate."""
    newest: dict[PlayerId, Hash | None] = field(default_factory=dict)  # candidates; None after a reset


def walk(ledger: Ledger) -> Audit:
    """Read every row once, in order."""
    audit = Audit()
    for seq, kind, ticket, body in _rows(ledger):
        audit.rows += 1
        if seq != audit.last + 1:
            audit.gaps.append(seq)
        audit.last = seq
        try:
            event = decode(body.encode())
        except msgspec.DecodeError as error:
            audit.unreadable.append(f"event {seq} ({kind}) cannot be read: {error}")
            continue
        if kind != kind_of(event) or ticket != ticket_of(event):
            audit.unreadable.append(
                f"event {seq} is filed as {kind} of ticket {ticket}, but has {kind_of(event)} of ticket "
                f"{ticket_of(event)}"
            )
        _follow(audit, seq, event)
    return audit


def _rows(ledger: Ledger) -> Iterator[Row]:
    since = 0
    while page := msgspec.convert(ledger.rows(since, PAGE), list[Row]):
        yield from page
        since = page[-1][0]


def ticket_of(event: Event) -> int | None:
    """Return the ticket that an event is about, if any."""
    if isinstance(event, TicketIssued):
        return event.ticket.number
    if isinstance(event, ResultCounted | TicketReissued | TicketVoided | TicketWithdrawn):
        return event.ticket
    return None


def _follow(audit: Audit, seq: int, event: Event) -> None:
    """Follow tickets from issue to result."""
    match event:
        case TicketIssued(ticket=ticket):
            if ticket.number in audit.issued:
                audit.disorder.append(f"event {seq}: ticket {ticket.number} was issued before")
            audit.issued.add(ticket.number)
            absent = set(ticket.trains).difference(e.player for e in ticket.entries if e.snapshot is None)
            if absent or (ticket.trains and ticket.purpose != Purpose.TRAIN):
                audit.disorder.append(f"event {seq}: ticket {ticket.number} trains players that do not learn in it")
            audit.open[ticket.number] = (ticket, ticket.attempt)
        case TicketReissued():
            _reissue(audit, seq, event)
        case TicketVoided() | TicketWithdrawn():
            if audit.open.pop(event.ticket, None) is None:
                audit.disorder.append(f"event {seq}: ticket {event.ticket} was not open, but is settled")
        case ResultCounted():
            audit.results[event.ticket] += 1
            _count(audit, seq, event)
        case _:
            _follow_players(audit, event)


def _follow_players(audit: Audit, event: Event) -> None:
    """Follow snapshots from writing to pruning, and forget the games of candidates that are not the newest."""
    match event:
        case LeagueFounded():
            audit.sides = event.env.sides
        case CandidateWritten():
            audit.stored.add(event.snapshot)
            _replace(audit, event.player, event.snapshot)
        case PlayerReset():
            _replace(audit, event.player, None)
            if event.start in audit.pruned:
                audit.disorder.append(f"{event.player} was reset to {event.start}, which is not in the store")
            elif event.start is not None:
                audit.stored.add(event.start)  # from a file, if nobody wrote it: then the store has a copy
        case PlayerFrozen(player=player):
            assert player.snapshot is not None  # Player checks it
            audit.frozen.add(player.snapshot)
        case SnapshotPruned():
            audit.stored.discard(event.snapshot)
            audit.pruned.add(event.snapshot)


def _reissue(audit: Audit, seq: int, event: TicketReissued) -> None:
    ticket, attempt = audit.open.get(event.ticket, (None, -1))
    if ticket is None or event.attempt != attempt + 1:
        audit.disorder.append(f"event {seq}: attempt {event.attempt} of ticket {event.ticket} follows on {attempt}")
    if ticket is not None:
        audit.open[event.ticket] = (ticket, event.attempt)


def _count(audit: Audit, seq: int, event: ResultCounted) -> None:
    ticket, attempt = audit.open.pop(event.ticket, (None, -1))
    if ticket is None:
        settled = "was settled before" if event.ticket in audit.issued else "was never issued"
        audit.disorder.append(f"event {seq}: a result of ticket {event.ticket}, which {settled}")
        return
    audit.counted[event.ticket] = event.attempt
    if event.attempt != attempt:
        audit.disorder.append(
            f"event {seq}: the result of ticket {event.ticket} is of attempt {event.attempt}, not {attempt}"
        )
    seats = len(ticket.entries)
    if len(event.episodes) != ticket.episodes or any(len(e.ranks) != seats for e in event.episodes):
        audit.disorder.append(
            f"event {seq}: the result of ticket {event.ticket} does not have {ticket.episodes} episodes "
            f"of {seats} entries"
        )
    elif ticket.purpose == Purpose.EVALUATE:
        for episode in event.episodes:
            _score(audit, ticket.entries, episode.ranks)


def _score(audit: Audit, entries: Sequence[Entry], ranks: tuple[int, ...]) -> None:
    sides = audit.sides if len(audit.sides) == len(entries) else range(len(entries))
    players = [entry.player for entry in entries]
    current = [audit.newest.get(entry.player, entry.snapshot) == entry.snapshot for entry in entries]
    met = {}  # two players meet once for each pair of sides
    for i, a in enumerate(players):
        for j, b in enumerate(players):
            if a != b and sides[i] != sides[j] and current[i] and current[j]:
                met[sides[i], sides[j], a, b] = ranks[i], ranks[j]
    for (_, _, a, b), (mine, yours) in met.items():
        if 0 <= mine <= yours:
            audit.points[a, b] += 1.0 if mine < yours else 0.5


def _replace(audit: Audit, player: PlayerId, candidate: Hash | None) -> None:
    """Let a player's points start from zero with a new candidate, or with none after a reset."""
    audit.newest[player] = candidate
    for pair in audit.points:
        if player in pair:
            audit.points[pair] = 0.0
