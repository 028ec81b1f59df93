"""Every message of the league, in a closed union.

Collectors, learners and operators talk to the coordinator; viewers and trackers talk to the replica beside it, which
alone talks to its feed; collectors and inference processes talk to learners, collectors to inference and buffer
processes, and learners to buffer processes.
A message is a *head* (one of these structs) and, for some, raw arrays that follow it as frames of their own.
Each request stands alone: a report lists all that its sender holds and all that is not acknowledged yet,
so a coordinator that has just restarted needs no handshake.
"""

from enum import StrEnum
from typing import Annotated

import msgspec

from league.limits import (
    FEW,
    MANY,
    ONE_OR_MORE,
    SOME,
    Action,
    Address,
    Chunk,
    Count,
    Digest,
    EventBody,
    Label,
    LedgerHead,
    Metrics,
    NewSnapshot,
    NoteText,
    Number,
    PlayerName,
    Position,
    Process,
    Ring,
    SeatRole,
    Seconds,
    Session,
    Share,
    Snapshot,
    Text,
    Version,
    Wanted,
)
from league.limits import Ticket as TicketNumber
from league.store.ledger import Measured
from league.ticket import Fault, Result, Ticket

WIRE_VERSION = 10


class Role(StrEnum):
    """Who may send what; on tcp, proven by the peer's key."""

    COLLECTOR = "collector"
    LEARNER = "learner"
    INFERENCE = "inference"
    VIEWER = "viewer"
    TRACKER = "tracker"
    OPERATOR = "operator"


class Verdict(StrEnum):
    """The coordinator's answer to a result or fault. Each of them ends the re-sending."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    UNKNOWN = "unknown"


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """What every message shares: frozen, tagged with its name."""


# --- collector <-> coordinator ------------------------------------------------------------------------------


class Held(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A ticket that a collector holds, and its progress: ticks of the loop that plays it.

    The loop that plays is the loop that talks, so an environment that hangs stops both.
    """

    ticket: TicketNumber
    attempt: Number
    steps: Count


class Report(_Message, frozen=True, tag="report"):
    """A collector's heartbeat: what it holds, what it finished, how many tickets it wants."""

    request: Count
    name: Process
    session: Session
    want: Wanted = 0
    held: Annotated[tuple[Held, ...], SOME] = ()
    results: Annotated[tuple[Result, ...], SOME] = ()
    faults: Annotated[tuple[Fault, ...], SOME] = ()
    starved: Annotated[tuple[PlayerName, ...], FEW] = ()  # players whose learner grants no credit now
    directory: Number = 0  # the newest directory that it has
    metrics: Metrics = {}


class Challenge(_Message, frozen=True, tag="challenge"):
    """A human wants to play one rated game against a player; the answer is orders with its ticket."""

    request: Count
    session: Session
    name: PlayerName  # under which the human is a player of the league
    opponent: PlayerName
    role: SeatRole | None = None  # of the seat that the human takes; None: any


class Ack(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What became of a result or fault."""

    ticket: TicketNumber
    attempt: Number
    verdict: Verdict


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """Where a live player is trained: the addresses that take its segments and give its weights.

    A learner of several ranks has an address for each; every rank needs its share of the segments.
    """

    player: PlayerName
    incarnation: Number
    address: Address
    more: Annotated[tuple[Address, ...], FEW] = ()  # of the other ranks
    inference: Address = ""  # where its network answers for collectors that do not have it themselves; "": nowhere

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of all ranks."""
        return (self.address, *self.more)


class Orders(_Message, frozen=True, tag="orders"):
    """The coordinator's answer to a report."""

    term: Count
    request: Count
    acks: Annotated[tuple[Ack, ...], MANY] = ()
    tickets: Annotated[tuple[Ticket, ...], SOME] = ()
    revoked: Annotated[tuple[tuple[TicketNumber, Number], ...], SOME] = ()  # (ticket, attempt) no longer its own
    directory: Number = 0
    hosts: Annotated[tuple[Host, ...], SOME] | None = None  # None: the directory has not changed
    stop: bool = False
    head: LedgerHead = ""  # with acks: the number and the hash of the ledger's newest event after the commit


# --- learner <-> coordinator --------------------------------------------------------------------------------


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A durable snapshot of a learning player."""

    player: PlayerName
    incarnation: Number
    version: Version
    snapshot: NewSnapshot
    decisions: Count


class Progress(_Message, frozen=True, tag="progress"):
    """A learner's heartbeat: where segments go ("": nowhere yet), and the newest candidate of each of its players."""

    request: Count
    name: Process
    session: Session
    address: Address
    more: Annotated[tuple[Address, ...], FEW] = ()  # addresses of its other ranks
    inference: Address = ""  # address of the inference process beside it
    doors: Annotated[
        dict[PlayerName, Annotated[tuple[Address, ...], ONE_OR_MORE]], FEW
    ] = {}  # players whose segments go elsewhere, and where
    candidates: Annotated[tuple[Candidate, ...], FEW] = ()
    finished: Annotated[tuple[PlayerName, ...], FEW] = ()  # players that train no more: their candidate is the last
    metrics: Metrics = {}


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a roster: train this player, in this incarnation, from this snapshot (None: from scratch)."""

    player: PlayerName
    incarnation: Number
    start: Snapshot | None = None
    train: bool = True  # False: write a last candidate and train no more


class Roster(_Message, frozen=True, tag="roster"):
    """The coordinator's answer to progress: the state that the learner should bring about."""

    term: Count
    request: Count
    players: Annotated[tuple[Assignment, ...], FEW] = ()
    spent: Share = 0.0  # the share of the league's budget that is spent
    stop: bool = False


# --- viewer, tracker <-> replica <-> coordinator; operator <-> coordinator ----------------------------------


class Follow(_Message, frozen=True, tag="follow"):
    """A viewer asks for the events after `since`; a tracker also for the metrics after the row `measured`."""

    request: Count
    since: Position
    measured: Position | None = None  # None: no metrics
    mark: Digest = ""  # of the history up to `since`, if the replica has it from a checkpoint; another one is refused


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """What the coordinator knows of a living process (memory only)."""

    name: Process
    role: Role
    age: Seconds  # seconds since its last message
    metrics: Metrics


class Page(_Message, frozen=True, tag="page"):
    """Events in order, encoded as the ledger has them; `head` is the newest sequence number."""

    term: Count
    request: Count
    since: Position
    events: Annotated[tuple[EventBody, ...], MANY]
    head: Count
    workers: Annotated[tuple[Worker, ...], MANY] = ()
    elapsed: Seconds = 0.0  # seconds of play in all terms
    seconds_left: Seconds | None = None
    metrics: Annotated[
        tuple[Measured, ...], SOME
    ] = ()  # rows that belong before the event after this page; all of them, up to a limit
    measured: Count = 0  # the newest row, if metrics were asked for
    notes: Annotated[dict[Label, NoteText], FEW] = {}  # what trackers keep in the ledger, if metrics were asked for
    broken: Text = ""  # why nothing can be written now, so that nothing is handed out; "": all is well


class Note(_Message, frozen=True, tag="note"):
    """A tracker keeps a text in the ledger, under its name: where it is, so that it can go on there."""

    request: Count
    name: Label
    text: NoteText


class FetchFold(_Message, frozen=True, tag="fetch_fold"):
    """A viewer asks for the league's state instead of all events before it, piece by piece."""

    request: Count
    digest: Digest = ""  # of the fold that was begun; "": the newest
    offset: Count = 0  # bytes of it that the viewer has


class FoldChunk(_Message, frozen=True, tag="fold_chunk"):
    """A piece of the bytes of league.store.fold.encode_fold; another digest than asked for means: start over."""

    term: Count
    request: Count
    seq: Position  # the last event in the fold
    digest: Digest  # SHA-256 of all bytes
    size: Count  # of the whole
    offset: Count
    data: Chunk


class Command(_Message, frozen=True, tag="command"):
    """An operator's wish: pause, resume, drain (stop leasing, then end) or stop."""

    request: Count
    action: Action


class Done(_Message, frozen=True, tag="done"):
    """The command took effect, or the note was kept; else `error` says why not."""

    term: Count
    request: Count
    error: Text = ""


# --- collector <-> learner ----------------------------------------------------------------------------------


class SegmentsHead(_Message, frozen=True, tag="segments"):
    """Segments of one player; the arrays of league.segment.FIELDS follow."""

    name: Process
    session: Session
    player: PlayerName
    incarnation: Number
    decisions: Count
    sent: Count = 0  # decisions of this player that the session has sent in all, these included


class Pull(_Message, frozen=True, tag="pull"):
    """A collector asks for the weights of a live player, if they are newer than `version`, and for credit."""

    name: Process
    session: Session
    player: PlayerName
    incarnation: Number
    version: Version  # -1: none yet
    sent: Count = 0  # as in SegmentsHead: a learner that has just started counts from here
    weights: bool = True  # False: credit alone, another process has the weights


class Weights(_Message, frozen=True, tag="weights"):
    """The weights of a live player; one array `flat` follows. Layout: league.policies.layout."""

    player: PlayerName
    incarnation: Number
    version: Version


class Credit(_Message, frozen=True, tag="credit"):
    """How many decisions of a player this collector session may have sent so far, in all.

    An absolute number: losing one such message, or getting it twice, changes nothing.
    """

    player: PlayerName
    incarnation: Number
    version: Version
    allowance: Count


# --- collector <-> inference, buffer <-> learner -------------------------------------------------------------


class Watch(_Message, frozen=True, tag="watch"):
    """An inference process wants the weights of a learner's players, now and whenever they change."""

    session: Session
    address: Address  # where collectors find it
    known: Annotated[
        dict[PlayerName, tuple[Number, Version]], FEW
    ] = {}  # incarnation and version of the weights that it has
    metrics: Metrics = {}


class Ask(_Message, frozen=True, tag="ask"):
    """A collector requests a forward pass of a live player's network for some rows.

    Arrays follow, with an entry for each row: `observation`; with an agent id `place`, that of the agent in its
    seat; with a memory `who` remembers, a number that stands for slot and agent, `first`, whether that is nothing
    yet, and `recall`, whether the answer shall contain it. The same turn and request again is the same question.
    """

    session: Session
    turn: Count
    request: Count
    player: PlayerName
    incarnation: Number  # of the weights, or a later one


class Answer(_Message, frozen=True, tag="answer"):
    """The answer to an Ask; the arrays `outputs`, `log_std`, `exploration`, `memory` (of the rows to recall) follow."""

    turn: Count
    request: Count
    player: PlayerName
    version: Version  # of the weights
    memory: Ring  # the name of the memory that was used: another one has forgotten what came before


class FindBuffer(_Message, frozen=True, tag="find_buffer"):
    """A learner asks its buffer process for a BufferStatus: collectors need its address before they send anything."""

    session: Session


class BufferStatus(_Message, frozen=True, tag="buffer_status"):
    """A buffer process reports to its learner where collectors find it, and which weights it has to give them."""

    session: Session
    address: Address
    known: Annotated[dict[PlayerName, tuple[Number, Version]], FEW] = {}  # incarnation and version of its weights
    metrics: Metrics = {}


class SampleRequest(_Message, frozen=True, tag="sample_request"):
    """A learner asks its buffer process for a minibatch of a player; it may ask for several at a time.

    Arrays may follow, on decisions that were sampled from `ring` before: `index` and `error`, how wrong the network was
    about them, and `poison`, those to be excluded from sampling. The same request again is the same question.
    """

    session: Session
    player: PlayerName
    incarnation: Number
    request: Count
    ring: Ring = ""


class SampleReply(_Message, frozen=True, tag="sample_reply"):
    """The answer to a SampleRequest: the arrays of learners.replay.Sample follow, if anything is due.

    If decisions came in since the last answer, `lag` follows, too, with an entry for each.
    """

    session: Session
    player: PlayerName
    incarnation: Number
    request: Count
    ring: Ring  # the name of the replay: errors of decisions of another one are of no use to it
    left: Count  # minibatches that are due after this one, from all that came in
    size: Count  # decisions to sample from
    reuse: Seconds  # how often a decision was sampled, on average


class ReleasePlayer(_Message, frozen=True, tag="release_player"):
    """A learner stops sampling a player: its buffer process drops the replay, and discards what still comes in."""

    session: Session
    player: PlayerName
    incarnation: Number


class Refused(_Message, frozen=True, tag="refused"):
    """The peer cannot be served: another wire version, the wrong role, an unknown player."""

    reason: Text


Message = (
    Challenge | Report | Orders | Progress | Roster | Follow | Page | Note | FetchFold | FoldChunk | Command | Done
    | SegmentsHead | Pull | Weights | Credit | Watch | Ask | Answer | FindBuffer | BufferStatus
    | SampleRequest | SampleReply | ReleasePlayer | Refused
)  # fmt: skip
