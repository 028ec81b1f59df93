"""Every message of the league, in a closed union.

Collectors, learners and operators connect to the coordinator; viewers and trackers connect to the replica, the only
client of the coordinator's feed; collectors and inference processes connect to learners, collectors also to inference
and buffer processes, and learners to buffer processes.
A message is a *head* (one of these structs); raw arrays may follow it, each as a frame of its own.
Each request is self-contained: a report lists everything that its sender holds and everything that is not acknowledged
yet, so a coordinator that has just restarted needs no handshake.
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
    Machine,
    Metrics,
    NewSnapshot,
    NoteText,
    Number,
    Played,
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

WIRE_VERSION = 13


class Role(StrEnum):
    """The role of a peer, which limits what it may send; on tcp, its key proves it."""

    COLLECTOR = "collector"
    LEARNER = "learner"
    INFERENCE = "inference"
    VIEWER = "viewer"
    TRACKER = "tracker"
    OPERATOR = "operator"


class Verdict(StrEnum):
    """The coordinator's answer to a result or fault. After any of them the collector stops repeating it."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    UNKNOWN = "unknown"


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """The base of all messages: frozen, tagged with its name."""


# --- collector <-> coordinator ------------------------------------------------------------------------------


class Held(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A ticket that a collector holds, and the progress of the collector: a number that rises as it plays or waits.

    An environment that hangs, or stands still while episodes are under way, stops it.
    """

    ticket: TicketNumber
    attempt: Number
    progress: Count


class Report(_Message, frozen=True, tag="report"):
    """A collector's heartbeat: the tickets it holds, its results and faults, and how many tickets it requests."""

    request: Count
    name: Process
    session: Session
    want: Wanted = 0
    held: Annotated[tuple[Held, ...], SOME] = ()
    results: Annotated[tuple[Result, ...], SOME] = ()
    faults: Annotated[tuple[Fault, ...], SOME] = ()
    starved: Annotated[tuple[PlayerName, ...], FEW] = ()  # players whose learner grants no credit now
    directory: Number = 0  # the fingerprint of the directory that it has
    metrics: Metrics = {}
    host: Machine = ""  # the machine that it runs on


class Challenge(_Message, frozen=True, tag="challenge"):
    """A human requests one rated game against a player; the answer is Orders with its ticket, or Refused."""

    request: Count
    session: Session
    name: PlayerName  # the human's name as a player of the league
    opponent: PlayerName
    role: SeatRole | None = None  # the role of the human's seat; None: any


class Ack(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The verdict on a result or fault."""

    ticket: TicketNumber
    attempt: Number
    verdict: Verdict


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """Where a live player is trained: the addresses that receive its segments and serve its weights.

    A learner with several ranks has one address for each; every rank needs its share of the segments.
    """

    player: PlayerName
    incarnation: Number
    address: Address
    more: Annotated[tuple[Address, ...], FEW] = ()  # of the other ranks
    inference: Address = ""  # of the inference process that runs its network; "": none

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of all ranks."""
        return (self.address, *self.more)


class Orders(_Message, frozen=True, tag="orders"):
    """The coordinator's answer to a report or a challenge."""

    term: Count
    request: Count
    acks: Annotated[tuple[Ack, ...], MANY] = ()
    tickets: Annotated[tuple[Ticket, ...], SOME] = ()
    revoked: Annotated[tuple[tuple[TicketNumber, Number], ...], SOME] = ()  # (ticket, attempt) that it no longer holds
    directory: Number = 0  # the fingerprint of the current directory
    hosts: Annotated[tuple[Host, ...], SOME] | None = None  # None: the directory has not changed
    stop: bool = False
    head: LedgerHead = ""  # with acks: number and hash of the ledger's newest event after the commit


# --- learner <-> coordinator --------------------------------------------------------------------------------


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A durable snapshot of a learning player."""

    player: PlayerName
    incarnation: Number
    version: Version
    snapshot: NewSnapshot
    decisions: Count


class Progress(_Message, frozen=True, tag="progress"):
    """A learner's heartbeat: its addresses, and the newest candidate of each of its players."""

    request: Count
    name: Process
    session: Session
    address: Address  # where collectors send segments; "": nowhere yet
    more: Annotated[tuple[Address, ...], FEW] = ()  # of its other ranks
    inference: Address = ""  # of the inference process beside it
    doors: Annotated[
        dict[PlayerName, Annotated[tuple[Address, ...], ONE_OR_MORE]], FEW
    ] = {}  # the addresses for players whose segments go elsewhere
    candidates: Annotated[tuple[Candidate, ...], FEW] = ()
    finished: Annotated[tuple[PlayerName, ...], FEW] = ()  # players that stopped training: their candidate is final
    metrics: Metrics = {}
    host: Machine = ""  # the machine that it runs on


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a roster: train this player, in this incarnation, from this snapshot (None: from scratch)."""

    player: PlayerName
    incarnation: Number
    start: Snapshot | None = None
    train: bool = True  # False: write a last candidate and stop training


class Roster(_Message, frozen=True, tag="roster"):
    """The coordinator's answer to progress: the desired state of the learner."""

    term: Count
    request: Count
    players: Annotated[tuple[Assignment, ...], FEW] = ()
    spent: Share = 0.0  # the share of the league's budget that is spent
    stop: bool = False


# --- viewer, tracker <-> replica <-> coordinator; operator <-> coordinator ----------------------------------


class Follow(_Message, frozen=True, tag="follow"):
    """A viewer requests the events after `since`; a tracker also the metrics after the row `measured`."""

    request: Count
    since: Position
    measured: Position | None = None  # None: no metrics
    mark: Digest = ""  # the hash of all events up to `since`, if the replica has it from a checkpoint


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """A process that reported recently, as the coordinator knows it (memory only)."""

    name: Process
    role: Role
    age: Seconds  # seconds since its last message
    metrics: Metrics
    host: Machine = ""
    restarts: Number = 0  # since this coordinator began
    held: Count = 0  # tickets that it holds
    plays: Played = ()  # of them those that it has held longest: it plays them now, the others are next


class Page(_Message, frozen=True, tag="page"):
    """Events in order, as the ledger encodes them; `head` is the number of the newest event."""

    term: Count
    request: Count
    since: Position
    events: Annotated[tuple[EventBody, ...], MANY]
    head: Count
    workers: Annotated[tuple[Worker, ...], MANY] = ()
    elapsed: Seconds = 0.0  # seconds of play in all terms
    seconds_left: Seconds | None = None
    metrics: Annotated[tuple[Measured, ...], SOME] = ()  # the rows up to the last event of this page, up to a limit
    measured: Count = 0  # the newest row, if metrics were requested
    notes: Annotated[dict[Label, NoteText], FEW] = {}  # the notes of trackers, if metrics were requested
    broken: Text = ""  # why the ledger cannot be written now, so that no tickets are handed out; "": it can


class Note(_Message, frozen=True, tag="note"):
    """A tracker stores a text in the ledger under its name: its position, from which it can resume."""

    request: Count
    name: Label
    text: NoteText


class FetchFold(_Message, frozen=True, tag="fetch_fold"):
    """A viewer requests a chunk of the league's state, which replaces all events before it."""

    request: Count
    digest: Digest = ""  # of the fold whose first chunks the viewer has; "": the newest
    offset: Count = 0  # bytes that the viewer has


class FoldChunk(_Message, frozen=True, tag="fold_chunk"):
    """A chunk of the bytes of league.store.fold.encode_fold. If the digest is not the requested one, start over."""

    term: Count
    request: Count
    seq: Position  # the last event in the fold
    digest: Digest  # SHA-256 of all bytes
    size: Count  # number of all bytes
    offset: Count
    data: Chunk


class Command(_Message, frozen=True, tag="command"):
    """An operator's command: pause, unpause, drain or stop. The last two stop leasing, then all processes."""

    request: Count
    action: Action


class Done(_Message, frozen=True, tag="done"):
    """The command took effect, or the note was stored; if not, `error` is the reason."""

    term: Count
    request: Count
    error: Text = ""


# --- collector <-> learner ----------------------------------------------------------------------------------


class SegmentsHead(_Message, frozen=True, tag="segments"):
    """Training data of one player: the arrays of league.segment.Segments follow.

    Of an evolving player those of league.fitness.Fitness follow, and `decisions` and `sent` count episodes.
    """

    name: Process
    session: Session
    player: PlayerName
    incarnation: Number
    decisions: Count
    sent: Count = 0  # decisions of this player that the session has sent in total, including these


class Pull(_Message, frozen=True, tag="pull"):
    """A collector requests the weights of a live player, if they are newer than `version`, and credit."""

    name: Process
    session: Session
    player: PlayerName
    incarnation: Number
    version: Version  # -1: none yet
    sent: Count = 0  # as in SegmentsHead: a learner that has just started counts from here
    weights: bool = True  # False: only credit, because an inference process has the weights


class Weights(_Message, frozen=True, tag="weights"):
    """The weights of a live player; one array `flat` follows. Layout: league.policies.layout."""

    player: PlayerName
    incarnation: Number
    version: Version


class Credit(_Message, frozen=True, tag="credit"):
    """How many decisions of a player this collector session may have sent in total.

    The number is absolute: losing or repeating the message changes nothing.
    """

    player: PlayerName
    incarnation: Number
    version: Version
    allowance: Count


# --- collector <-> inference, buffer <-> learner -------------------------------------------------------------


class Watch(_Message, frozen=True, tag="watch"):
    """An inference process requests the weights of a learner's players, now and whenever they change."""

    session: Session
    address: Address  # where collectors reach it
    known: Annotated[
        dict[PlayerName, tuple[Number, Version]], FEW
    ] = {}  # incarnation and version of the weights that it has
    metrics: Metrics = {}


class Ask(_Message, frozen=True, tag="ask"):
    """A collector requests a forward pass of a live player's network for some rows.

    Arrays follow, with an entry for each row: `observation`; for a network with an agent id also `place`, the index of
    the agent in its seat; for a recurrent network also `who` (a number for slot and agent), `first` (whether this is
    its first decision of an episode) and `recall` (whether the answer should contain its memory before this decision).
    A message with the same turn and request is a repetition.
    """

    session: Session
    turn: Count
    request: Count
    player: PlayerName
    incarnation: Number  # of the weights; a later one is accepted


class Answer(_Message, frozen=True, tag="answer"):
    """The answer to an Ask; the arrays `outputs`, `log_std`, `exploration`, `memory` (of the rows to recall) follow."""

    turn: Count
    request: Count
    player: PlayerName
    version: Version  # of the weights
    memory: Ring  # the id of the memory that was used; if it changed, earlier states are lost


class FindBuffer(_Message, frozen=True, tag="find_buffer"):
    """A learner requests a BufferStatus: collectors need its buffer process's address before they send anything."""

    session: Session


class BufferStatus(_Message, frozen=True, tag="buffer_status"):
    """A buffer process reports to its learner where collectors reach it, and which weights it serves."""

    session: Session
    address: Address
    known: Annotated[dict[PlayerName, tuple[Number, Version]], FEW] = {}  # incarnation and version of its weights
    metrics: Metrics = {}


class SampleRequest(_Message, frozen=True, tag="sample_request"):
    """A learner requests a minibatch of a player from its buffer process; several requests may be under way.

    Arrays may follow, about decisions that were sampled from `ring` before: `index` and `error` (their new errors), and
    `poison` (the indices to exclude from sampling). A message with the same request number is a repetition.
    """

    session: Session
    player: PlayerName
    incarnation: Number
    request: Count
    ring: Ring = ""


class SampleReply(_Message, frozen=True, tag="sample_reply"):
    """The answer to a SampleRequest: the arrays of learners.replay.Sample follow, if a minibatch is due.

    If decisions arrived since the last answer, `lag` follows as well, with an entry for each.
    """

    session: Session
    player: PlayerName
    incarnation: Number
    request: Count
    ring: Ring  # the id of the replay: it ignores errors of decisions from another one
    left: Count  # minibatches that are due after this one
    size: Count  # decisions to sample from
    reuse: Seconds  # how often a decision was sampled, on average


class ReleasePlayer(_Message, frozen=True, tag="release_player"):
    """A learner stops sampling a player: its buffer process drops the replay and discards later segments."""

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
