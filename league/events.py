"""Events: the facts of a league, in a closed union. The league is the fold of its events.

No event holds a host name, a process id or a wall time: the same seed gives the same events.
"""

from collections.abc import Iterable, Sequence
from typing import Union, get_args

import msgspec

from league.ids import Hash, PlayerId, TicketNumber
from league.player import Player
from league.spec import EnvSpec
from league.ticket import Episode, Ticket


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", forbid_unknown_fields=True):
    """What every event shares: frozen, tagged with its name."""


class LeagueFounded(_Event, frozen=True, tag="league_founded"):
    """The first event: the seed, the environment and the hash of the resolved config."""

    seed: int
    config: Hash
    env: EnvSpec


class ConfigChanged(_Event, frozen=True, tag="config_changed"):
    """The league was resumed under another config, by the user's leave."""

    config: Hash


class TermBegan(_Event, frozen=True, tag="term_began"):
    """A coordinator started."""

    term: int


class PlayerAdded(_Event, frozen=True, tag="player_added"):
    """A learning or scripted player joined."""

    player: Player


class CandidateWritten(_Event, frozen=True, tag="candidate_written"):
    """A learner wrote a durable candidate of a learning player. Version 0 is the first."""

    player: PlayerId
    incarnation: int
    version: int
    snapshot: Hash
    decisions: int  # trained on so far, in all incarnations


class PlayerFrozen(_Event, frozen=True, tag="player_frozen"):
    """The newest candidate of a learning player became a member of the pool."""

    player: Player
    decisions: int
    why: str


class PlayerReset(_Event, frozen=True, tag="player_reset"):
    """A learning player begins again from its initial weights, as a new incarnation."""

    player: PlayerId
    incarnation: int


class TicketIssued(_Event, frozen=True, tag="ticket_issued"):
    """A ticket was handed out. It is durable before it is sent."""

    ticket: Ticket


class TicketReissued(_Event, frozen=True, tag="ticket_reissued"):
    """The lease of a ticket expired, or its collector reported a fault: attempt + 1."""

    ticket: TicketNumber
    attempt: int
    why: str


class TicketVoided(_Event, frozen=True, tag="ticket_voided"):
    """A ticket failed too often. Nobody wins it."""

    ticket: TicketNumber
    why: str


class TicketWithdrawn(_Event, frozen=True, tag="ticket_withdrawn"):
    """A ticket that is no longer wanted: training is over."""

    ticket: TicketNumber


class ResultCounted(_Event, frozen=True, tag="result_counted"):
    """The result of a ticket. There is at most one for each ticket."""

    ticket: TicketNumber
    attempt: int
    episodes: tuple[Episode, ...]


class DuelEpisode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the fold needs of an episode of one against one; whatever follows in the row is skipped."""

    ranks: tuple[int, int]
    returns: msgspec.Raw
    length: int


class DuelCounted(_Event, frozen=True, tag="result_counted"):
    """A ResultCounted that was decoded by `decode_duels`."""

    ticket: TicketNumber
    attempt: int
    episodes: tuple[DuelEpisode, ...]


class OperatorActed(_Event, frozen=True, tag="operator_acted"):
    """Somebody paused, resumed, drained or stopped the league."""

    action: str


class CollectorQuarantined(_Event, frozen=True, tag="collector_quarantined"):
    """A collector failed everything while others succeeded: it gets no tickets until the next term."""

    name: str
    why: str


class SnapshotPruned(_Event, frozen=True, tag="snapshot_pruned"):
    """A candidate that nothing refers to was deleted from the store."""

    snapshot: Hash


class PhaseBegan(_Event, frozen=True, tag="phase_began"):
    """The league moved on: training, then the final evaluation, then it is over."""

    phase: str
    why: str


class LedgerDamaged(_Event, frozen=True, tag="ledger_damaged"):
    """While the league ran, old rows of the ledger were found to differ from what was committed."""

    what: str


Event = (
    LeagueFounded
    | ConfigChanged
    | TermBegan
    | PlayerAdded
    | CandidateWritten
    | PlayerFrozen
    | PlayerReset
    | TicketIssued
    | TicketReissued
    | TicketVoided
    | TicketWithdrawn
    | ResultCounted
    | OperatorActed
    | CollectorQuarantined
    | SnapshotPruned
    | PhaseBegan
    | LedgerDamaged
)

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_others = tuple(kind for kind in get_args(Event) if kind is not ResultCounted)
_duel_decoder: msgspec.json.Decoder[Event | DuelCounted] = msgspec.json.Decoder(Union[DuelCounted, *_others])


def encode(event: Event) -> bytes:
    """Return the event as JSON: what the ledger keeps, readable with any SQLite shell."""
    return _encoder.encode(event)


def encode_lines(events: Sequence[Event]) -> bytes:
    """Return many events as `encode` writes them, each in a line."""
    return _encoder.encode_lines(events)


def decode(body: bytes) -> Event:
    """Return the event that `encode` wrote."""
    return _decoder.decode(body)


def decode_duels(bodies: Iterable[bytes]) -> list[Event | DuelCounted]:
    """Return events of a league of one against one, with as much of each result as the fold needs.

    It takes two thirds of the time of `decode`. What does not have this form is refused, with the same errors.
    """
    return list(map(_duel_decoder.decode, bodies))


def kind_of(event: Event) -> str:
    """Return the name under which the ledger files this event."""
    return str(event.__struct_config__.tag)
