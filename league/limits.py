"""The limits of everything that processes send to one another; no other module declares them.

Messages use these types in place of `int`, `str` and `tuple`, so that decoding refuses values outside of the limits
before any other code sees them. A sender reduces its metrics to the limits itself: see `within`.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Annotated

from msgspec import Meta

from league.ids import Hash, PlayerId, TicketNumber

MOST = 2**53  # the largest number that JSON, a float and SQLite all keep exactly
SEATS = 256  # of an environment
ABSENT = -1  # the rank of a side that did not take part in an episode: it has no games there
EPISODES = 1 << 16  # of one ticket
LONGEST_EPISODE = 10_000_000  # moves
LARGEST_RETURN = 1e9
HELD = 4096  # tickets of one collector at a time, and results or faults in one report
METRICS = 512  # of one process in one report
NAME, PLAYER, METRIC, TEXT = 64, 100, 200, 2000  # characters
PLAYED = 8  # tickets of one collector that a page for viewers lists
LONGEST_HOST = 255  # characters of a machine's name
REASON = 500  # characters of the reason why a ticket failed, which the ledger records
NOTE = 4096  # characters of a tracker's note in the ledger
LARGEST_MEASURE = 1e100

# Bytes of files: what is larger was not written by Ludus, and is not read.
SMALL_FILE = 1 << 26  # configs, addresses, keys, reports, claims: text that people read
WEIGHTS_FILE = 1 << 30  # snapshots, packed players, games: weights travel in frames of 1 << 28
REPLAY_FILE = 1 << 36  # kept replays, which are written and read piece by piece
STATE_FILE = 1 << 32  # checkpoints of learners and of the fold, journals, segments of the archive

_WORD = r"\A[A-Za-z0-9._-]+\Z"
_PRINTABLE = r"\A[ -~]*\Z"

# --- numbers ------------------------------------------------------------------------------------------------

Count = Annotated[int, Meta(ge=0, le=MOST)]
Position = Annotated[int, Meta(ge=0, le=2**62)]  # in the ledger; positions after its end are valid
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]  # attempts, incarnations, versions
Version = Annotated[int, Meta(ge=-1, le=2**31 - 1)]  # -1: none yet
Ticket = Annotated[TicketNumber, Meta(ge=0, le=MOST)]
OnWheel = Annotated[int, Meta(ge=0, le=1 << 16)]  # see league.variants
Wanted = Annotated[int, Meta(ge=0, le=1000)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Seconds = Annotated[float, Meta(ge=0.0, le=1e12)]
Measure = Annotated[float, Meta(ge=-LARGEST_MEASURE, le=LARGEST_MEASURE)]
Rank = Annotated[int, Meta(ge=ABSENT, lt=SEATS)]
Return = Annotated[float, Meta(ge=-LARGEST_RETURN, le=LARGEST_RETURN)]
Length = Annotated[int, Meta(ge=0, le=LONGEST_EPISODE)]

# --- texts --------------------------------------------------------------------------------------------------

Process = Annotated[str, Meta(min_length=1, max_length=NAME, pattern=_WORD)]
Label = Annotated[str, Meta(min_length=1, max_length=METRIC, pattern=_PRINTABLE)]
Session = Annotated[str, Meta(min_length=1, max_length=NAME, pattern=r"\A[A-Za-z0-9._/-]+\Z")]
Machine = Annotated[str, Meta(max_length=LONGEST_HOST, pattern=_PRINTABLE)]  # the name of a machine; "": unknown
Address = Annotated[str, Meta(max_length=300, pattern=_PRINTABLE)]
PlayerName = Annotated[PlayerId, Meta(max_length=PLAYER)]
SeatRole = Annotated[str, Meta(max_length=PLAYER)]
Bot = Annotated[str, Meta(max_length=TEXT)]
Snapshot = Annotated[Hash, Meta(max_length=64)]  # league.store.snapshots checks its form
NewSnapshot = Annotated[Hash, Meta(pattern=r"\A[0-9a-f]{64}\Z", min_length=64, max_length=64)]
Digest = Annotated[str, Meta(max_length=64)]  # SHA-256 as text; "": none yet
LedgerHead = Annotated[str, Meta(max_length=84, pattern=_PRINTABLE)]  # number and hash of an event; "": none
MetricName = Annotated[str, Meta(min_length=1, max_length=METRIC)]
Reason = Annotated[str, Meta(max_length=REASON)]
Text = Annotated[str, Meta(max_length=TEXT)]
NoteText = Annotated[str, Meta(max_length=NOTE)]
Action = Annotated[str, Meta(max_length=32)]
Ring = Annotated[str, Meta(max_length=2 * NAME)]

# --- collections --------------------------------------------------------------------------------------------

Metrics = Annotated[dict[MetricName, Measure], Meta(max_length=METRICS)]
Actions = Annotated[bytes, Meta(max_length=1 << 20)]
EventBody = Annotated[bytes, Meta(max_length=1 << 26)]
Played = Annotated[tuple[Ticket, ...], Meta(max_length=PLAYED)]
Chunk = Annotated[bytes, Meta(max_length=1 << 20)]  # of a fold
FEW, SOME, MANY = Meta(max_length=256), Meta(max_length=HELD), Meta(max_length=1 << 16)
ONE_OR_MORE = Meta(min_length=1, max_length=256)


def within(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics whose names and values are within the limits, the first `METRICS` of them.

    >>> within({"speed": 2.0, "loss": float("inf"), "x" * 999: 1.0})
    {'speed': 2.0}
    """
    fit = (
        (name, value)
        for name, value in metrics.items()
        if 0 < len(name) <= METRIC and isfinite(value) and abs(value) <= LARGEST_MEASURE
    )
    return {name: value for (name, value), _ in zip(fit, range(METRICS), strict=False)}
