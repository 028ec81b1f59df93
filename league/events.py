"""Events: the facts of a league, in a closed union. The league is the fold of its events.

No event contains a host name, a process id or a wall-clock time: inline, the same seed gives the same events.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, Union, get_args

import msgspec

from league import limits
from league.ids import Hash, PlayerId, TicketNumber
from league.player import Player
from league.spec import EnvSpec
from league.ticket import Episode, Ticket


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", forbid_unknown_fields=True):
    """The base of all events: frozen, tagged with its name."""


class LeagueFounded(_Event, frozen=True, tag="league_founded"):
    """The first event: the seed, the environment, the hash of the resolved config, and what counts as better.

    `returns` is True where the returns of players are kept beside their scores: the game is not zero-sum, or its roles
    differ. It is left out where they are not.
    """

    seed: int
    config: Hash
    env: EnvSpec
    payoff: Literal["outcome", "return"] = "outcome"
    returns: bool | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Refuse a seed that a checkpoint of the fold cannot hold."""
        if not -(2**63) <= self.seed < 2**64:
            raise ValueError("the seed of a league has at most 64 bits")


class ConfigChanged(_Event, frozen=True, tag="config_changed"):
    """The league was resumed with another config, which the user accepted."""

    config: Hash


class TermBegan(_Event, frozen=True, tag="term_began"):
    """A coordinator started."""

    term: limits.Count


class PlayerAdded(_Event, frozen=True, tag="player_added"):
    """A learning or scripted player joined, or a frozen one that the config brings from a file."""

    player: Player


class CandidateWritten(_Event, frozen=True, tag="candidate_written"):
    """A learner wrote a durable candidate of a learning player. Version 0 is the first."""

    player: PlayerId
    incarnation: limits.Number
    version: limits.Number
    snapshot: Hash
    decisions: limits.Count  # number trained on so far, in all incarnations


class PlayerFrozen(_Event, frozen=True, tag="player_frozen"):
    """The newest candidate of a learning player became a member of the pool."""

    player: Player
    decisions: limits.Count
    why: str
    scores: dict[PlayerId, float] = msgspec.field(default_factory=dict)  # of an exploiter against its targets


class PlayerReset(_Event, frozen=True, tag="player_reset"):
    """A learning player restarts as a new incarnation: from a snapshot, or from its initial weights."""

    player: PlayerId
    incarnation: limits.Number
    start: Hash | None = None  # the snapshot; None: its initial weights


class TicketIssued(_Event, frozen=True, tag="ticket_issued"):
    """A ticket was created. This event is durable before the ticket is sent."""

    ticket: Ticket


class TicketReissued(_Event, frozen=True, tag="ticket_reissued"):
    """A ticket gets another attempt: its lease expired, its collector failed, ended or was quarantined."""

    ticket: TicketNumber
    attempt: limits.Number
    why: str


class TicketVoided(_Event, frozen=True, tag="ticket_voided"):
    """A ticket failed in all its attempts. Nobody wins it."""

    ticket: TicketNumber
    why: str


class TicketWithdrawn(_Event, frozen=True, tag="ticket_withdrawn"):
    """An open ticket was closed without a result: its phase ended, or its human left."""

    ticket: TicketNumber


class ResultCounted(_Event, frozen=True, tag="result_counted"):
    """The result of a ticket was counted. There is at most one for each ticket."""

    ticket: TicketNumber
    attempt: int
    episodes: tuple[Episode, ...]


class DuelEpisode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The fields of a one-against-one episode that the fold needs; the decoder skips those that follow."""

    ranks: tuple[int, int]
    returns: msgspec.Raw
    length: int


class DuelCounted(_Event, frozen=True, tag="result_counted"):
    """A ResultCounted as `decode_duels` returns it."""

    ticket: TicketNumber
    attempt: int
    episodes: tuple[DuelEpisode, ...]


class OperatorActed(_Event, frozen=True, tag="operator_acted"):
    """An operator paused, unpaused, drained or stopped the league."""

    action: str


class CollectorQuarantined(_Event, frozen=True, tag="collector_quarantined"):
    """A collector failed all its tickets while others succeeded: it gets none until the next term."""

    name: str
    why: str


class SnapshotPruned(_Event, frozen=True, tag="snapshot_pruned"):
    """A candidate that nothing refers to is to be deleted from the store."""

    snapshot: Hash


class PhaseBegan(_Event, frozen=True, tag="phase_began"):
    """A phase began: training, the final evaluation, or the end."""

    phase: str
    why: str


class LedgerDamaged(_Event, frozen=True, tag="ledger_damaged"):
    """While the league ran, the ledger was found to differ from what was committed."""

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
    """Return the event as JSON, as the ledger stores it: readable in any SQLite shell."""
    return _encoder.encode(event)


def encode_lines(events: Sequence[Event]) -> bytes:
    """Return events as JSON lines, each as `encode` returns it."""
    return _encoder.encode_lines(events)


def decode(body: bytes) -> Event:
    """Return the event of its JSON."""
    return _decoder.decode(body)


def decode_duels(bodies: Iterable[bytes]) -> list[Event | DuelCounted]:
    """Return the events of a one-against-one league, with only those fields of a result that the fold needs.

    It takes two thirds of the time of `decode`, and raises the same errors, also for results of other leagues.
    """
    return list(map(_duel_decoder.decode, bodies))


def kind_of(event: Event) -> str:
    """Return the name of the event's kind, as in the ledger."""
    return str(event.__struct_config__.tag)
