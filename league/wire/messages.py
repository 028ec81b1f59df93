"""Every message of the league, in a closed union.

Collectors, learners, viewers and operators talk to the coordinator; collectors and inference processes talk to
learners, collectors to inference and buffer processes, and learners to buffer processes.
A message is a *head* (one of these structs) and, for some, raw arrays that follow it as frames of their own.
Each request stands alone: a report lists all that its sender holds and all that is not acknowledged yet,
so a coordinator that has just restarted needs no handshake.
"""

from enum import StrEnum

import msgspec

from league.ids import Hash, PlayerId, TicketNumber
from league.store.ledger import Measured
from league.ticket import Fault, Result, Ticket

WIRE_VERSION = 5


class Role(StrEnum):
    """Who may say what; on tcp, proven by the peer's key."""

    COLLECTOR = "collector"
    LEARNER = "learner"
    INFERENCE = "inference"
    VIEWER = "viewer"
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
    attempt: int
    steps: int


class Report(_Message, frozen=True, tag="report"):
    """A collector's heartbeat: what it holds, what it finished, how many tickets it wants."""

    request: int
    name: str
    session: str
    want: int = 0
    held: tuple[Held, ...] = ()
    results: tuple[Result, ...] = ()
    faults: tuple[Fault, ...] = ()
    starved: tuple[PlayerId, ...] = ()  # players whose learner grants no credit now
    directory: int = 0  # the newest directory that it has
    metrics: dict[str, float] = {}


class Challenge(_Message, frozen=True, tag="challenge"):
    """A human wants to play one rated game against a player; the answer is orders with its ticket."""

    request: int
    session: str
    name: PlayerId  # under which the human is a player of the league
    opponent: PlayerId
    role: str | None = None  # of the seat that the human takes; None: any


class Ack(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What became of a result or fault."""

    ticket: TicketNumber
    attempt: int
    verdict: Verdict


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """Where a live player is trained: the addresses that take its segments and give its weights.

    A learner of several ranks has an address for each; every rank needs its share of the segments.
    """

    player: PlayerId
    incarnation: int
    address: str
    more: tuple[str, ...] = ()  # of the other ranks
    inference: str = ""  # where its network answers for collectors that do not have it themselves; "": nowhere

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of all ranks."""
        return (self.address, *self.more)


class Orders(_Message, frozen=True, tag="orders"):
    """The coordinator's answer to a report."""

    term: int
    request: int
    acks: tuple[Ack, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    revoked: tuple[tuple[TicketNumber, int], ...] = ()  # (ticket, attempt) held in vain
    directory: int = 0
    hosts: tuple[Host, ...] | None = None  # None: the directory has not changed
    stop: bool = False


# --- learner <-> coordinator --------------------------------------------------------------------------------


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A durable snapshot of a learning player."""

    player: PlayerId
    incarnation: int
    version: int
    snapshot: Hash
    decisions: int


class Progress(_Message, frozen=True, tag="progress"):
    """A learner's heartbeat: where segments go ("": nowhere yet), and the newest candidate of each of its players."""

    request: int
    name: str
    session: str
    address: str
    more: tuple[str, ...] = ()  # addresses of its other ranks
    inference: str = ""  # address of the inference process beside it
    doors: dict[PlayerId, tuple[str, ...]] = {}  # players whose segments go elsewhere, and where
    candidates: tuple[Candidate, ...] = ()
    metrics: dict[str, float] = {}


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a roster: train this player, in this incarnation, from this snapshot (None: from scratch)."""

    player: PlayerId
    incarnation: int
    start: Hash | None = None
    train: bool = True  # False: write a last candidate and train no more


class Roster(_Message, frozen=True, tag="roster"):
    """The coordinator's answer to progress: the state that the learner should bring about."""

    term: int
    request: int
    players: tuple[Assignment, ...] = ()
    spent: float = 0.0  # the share of the league's budget that is spent
    stop: bool = False


# --- viewer, operator <-> coordinator -----------------------------------------------------------------------


class Follow(_Message, frozen=True, tag="follow"):
    """A viewer asks for the events after `since`; a tracker also for the metrics after the row `measured`."""

    request: int
    since: int
    measured: int | None = None  # None: no metrics


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """What the coordinator knows of a living process (memory only)."""

    name: str
    role: Role
    age: float  # seconds since its last message
    metrics: dict[str, float]


class Page(_Message, frozen=True, tag="page"):
    """Events in order, encoded as the ledger has them; `head` is the newest sequence number."""

    term: int
    request: int
    since: int
    events: tuple[bytes, ...]
    head: int
    workers: tuple[Worker, ...] = ()
    elapsed: float = 0.0  # seconds of play in all terms
    seconds_left: float | None = None
    metrics: tuple[Measured, ...] = ()  # rows that belong before the event after this page; all of them, up to a limit
    measured: int = 0  # the newest row, if metrics were asked for
    notes: dict[str, str] = {}  # what trackers keep in the ledger, if metrics were asked for
    broken: str = ""  # why nothing can be written now, so that nothing is handed out; "": all is well


class Note(_Message, frozen=True, tag="note"):
    """A tracker keeps a text in the ledger, under its name: where it is, so that it can go on there."""

    request: int
    name: str
    text: str


class Command(_Message, frozen=True, tag="command"):
    """An operator's wish: pause, resume, drain (stop leasing, then end) or stop."""

    request: int
    action: str


class Done(_Message, frozen=True, tag="done"):
    """The command took effect, or the note was kept; else `error` says why not."""

    term: int
    request: int
    error: str = ""


# --- collector <-> learner ----------------------------------------------------------------------------------


class SegmentsHead(_Message, frozen=True, tag="segments"):
    """Segments of one player; the arrays of league.segment.FIELDS follow."""

    name: str
    session: str
    player: PlayerId
    incarnation: int
    decisions: int
    sent: int = 0  # decisions of this player that the session has sent in all, these included


class Pull(_Message, frozen=True, tag="pull"):
    """A collector asks for the weights of a live player, if they are newer than `version`, and for credit."""

    name: str
    session: str
    player: PlayerId
    incarnation: int
    version: int  # -1: none yet
    sent: int = 0  # as in SegmentsHead: a learner that has just started counts from here
    weights: bool = True  # False: credit alone, another process has the weights


class Weights(_Message, frozen=True, tag="weights"):
    """The weights of a live player; one array `flat` follows. Layout: league.policies.layout."""

    player: PlayerId
    incarnation: int
    version: int


class Credit(_Message, frozen=True, tag="credit"):
    """How many decisions of a player this collector session may have sent so far, in all.

    An absolute number: losing one such message, or getting it twice, changes nothing.
    """

    player: PlayerId
    incarnation: int
    version: int
    allowance: int


# --- collector <-> inference, buffer <-> learner -------------------------------------------------------------


class Watch(_Message, frozen=True, tag="watch"):
    """An inference or buffer process wants the weights of a learner's players, now and whenever they change."""

    session: str
    address: str  # where collectors find it
    known: dict[PlayerId, tuple[int, int]] = {}  # incarnation and version of the weights that it has
    metrics: dict[str, float] = {}


class Ask(_Message, frozen=True, tag="ask"):
    """A collector asks what the network of a live player makes of some rows.

    Arrays follow, with an entry for each row: `observation`; with an agent id `place`, that of the agent in its
    seat; with a memory `who` remembers, a number that stands for slot and agent, `first`, whether that is nothing
    yet, and `recall`, whether the answer shall tell it. The same turn and request again is the same question.
    """

    session: str
    turn: int
    request: int
    player: PlayerId
    incarnation: int  # of the weights, or a later one


class Answer(_Message, frozen=True, tag="answer"):
    """The answer to an Ask; the arrays `outputs`, `log_std`, `exploration`, `memory` (of the rows to recall) follow."""

    turn: int
    request: int
    player: PlayerId
    version: int  # of the weights
    memory: str  # the name of the memory that was used: another one has forgotten what came before


class Draw(_Message, frozen=True, tag="draw"):
    """A learner asks its buffer process for a minibatch of a player; it may ask for several at a time.

    Arrays may follow, on decisions that were drawn from `ring` before: `index` and `error`, how wrong the network was
    about them, and `poison`, those that must not be drawn again. The same request again is the same question.
    Without a player it only asks for a Watch.
    """

    session: str
    player: PlayerId = PlayerId("")
    incarnation: int = 0
    request: int = 0
    ring: str = ""
    over: bool = False  # nobody will draw: forget all, and take what comes without keeping it


class Drawn(_Message, frozen=True, tag="drawn"):
    """The answer to a Draw: the arrays of learners.replay.Sample follow, if anything is due.

    If decisions came in since the last answer, `lag` follows, too, with an entry for each.
    """

    session: str
    player: PlayerId
    incarnation: int
    request: int
    ring: str  # the name of the replay: what another one says of a decision is of no use to it
    left: int  # minibatches that are due after this one, from all that came in
    size: int  # decisions to draw from
    reuse: float  # how often a decision was drawn, on average


class Refused(_Message, frozen=True, tag="refused"):
    """The peer cannot be served: another wire version, the wrong role, an unknown player."""

    reason: str


Message = (
    Challenge | Report | Orders | Progress | Roster | Follow | Page | Note | Command | Done
    | SegmentsHead | Pull | Weights | Credit | Watch | Ask | Answer | Draw | Drawn | Refused
)  # fmt: skip
