"""`ludus verify`: check a run against itself, and name what is wrong.

Each check reads the evidence in its own way: hashes cover every row, SQL counts without the fold, the audit follows
tickets without the fold, ratings are refitted from results. A check returns what is wrong; nothing: all is well.
"""

import fcntl
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from launch.terminal.console import Console
from launch.terminal.spinner import Spinner
from launch.verify.audit import Audit, walk
from launch.verify.counters import by_fold, by_sql
from launch.viewers.view import ViewError, read_rules
from league import limits
from league.event_check import unfit
from league.ids import TicketNumber
from league.rulebook import LeagueConfig
from league.state import LeagueState, apply
from league.store.fold import encode_fold, read_fold, resume_fold
from league.store.ledger import DAMAGED, Ledger, LedgerError, open_copy, refuse_no_ledger
from league.store.regular_file import open_regular, read_regular
from league.store.run_directory import RunDirectory
from league.store.snapshots import SnapshotStore
from league.wire.messages import Verdict

UNREADABLE = "the ledger can be read"  # the check that fails instead of all that are left
MOST = 5  # problems of one check that are printed
CLOSE = 1e-6  # points: the same games, added up in another order
SHARED_FIRST, SHARED_SIZE = 0x40000002, 510  # the bytes of a database file that SQLite's readers lock

Problems = list[str]


class JournalLine(msgspec.Struct, frozen=True):
    """What a collector noted of a result."""

    ticket: TicketNumber
    attempt: int
    verdict: Verdict
    head: str = ""  # the number and the hash of the ledger's newest event at that time


@dataclass(frozen=True, slots=True)
class Evidence:
    """The input of all checks."""

    run: RunDirectory
    rules: LeagueConfig
    ledger: Ledger
    damage: Problems  # rows that are not what was committed
    audit: Audit
    state: LeagueState
    stopped: str  # why the fold could not go on
    journals: Mapping[str, bytes]


def verify(run: RunDirectory, as_json: bool = False) -> int:
    """Check a run that is stopped, or the copy of a live one, and print the findings; 0 if all is well, 1 if not."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    found: dict[str, Problems] = {}
    for title, problems in findings(run):
        found[title] = problems
        if not as_json:
            _tell(console, title, problems)
    wrong = sum(map(bool, found.values()))
    if as_json:
        console.print(json.dumps(verify_json(run, found)))
    elif UNREADABLE in found:
        console.print(f"{run.name}: its ledger cannot be read, so that not all {len(CHECKS)} checks were made")
    else:
        console.print(f"{run.name}: {wrong} of {len(CHECKS)} checks failed" if wrong else f"{run.name}: all is well")
    return 1 if wrong else 0


def verify_json(run: RunDirectory, found: Mapping[str, Problems]) -> dict[str, object]:
    """Return the findings for programs.

    run; sound: whether all is well; complete: whether all checks were made; checks: the problems of each, by title.
    """
    return {
        "run": run.name,
        "sound": not any(found.values()),
        "complete": UNREADABLE not in found,
        "checks": dict(found),
    }


def findings(run: RunDirectory) -> Iterator[tuple[str, Problems]]:
    """Yield each check with its problems; if the ledger cannot be read to its end, that is the last one."""
    if is_served(run.ledger):
        raise ViewError(f"the run {run.name} is alive: stop it first, or copy its directory and verify the copy")
    rules = read_rules(run)
    journals = {path.name: read_regular(path, limits.STATE_FILE) for path in sorted(run.journals.glob("*.jsonl"))}
    damage: Problems = []
    try:
        with open_copy(run.ledger) as ledger:
            with Spinner("reading all events"):
                damage = ledger.damage()
                walked, folded = walk(ledger), _fold(ledger, rules)
            evidence = Evidence(run, rules, ledger, damage, walked, *folded, journals)
            for title, check in CHECKS.items():
                with Spinner(title):
                    problems = check(evidence)
                yield title, problems
    except (LedgerError, sqlite3.DatabaseError, msgspec.MsgspecError) as error:
        yield UNREADABLE, [*damage, str(error).removesuffix(f". {DAMAGED}")]


def _tell(console: Console, title: str, problems: Problems) -> None:
    console.print(f"{'WRONG' if problems else 'ok':5} {title}", style="red" if problems else "")
    for problem in problems[:MOST]:
        console.print(f"        {problem}")
    if len(problems) > MOST:
        console.print(f"        and {len(problems) - MOST} more")


def is_served(ledger: Path) -> bool:
    """Return whether another process holds the lock of the ledger."""
    if not ledger.exists():
        return False
    refuse_no_ledger(ledger)
    with open_regular(ledger) as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, SHARED_SIZE, SHARED_FIRST)
        except OSError:
            return True
    return False


def _fold(ledger: Ledger, rules: LeagueConfig) -> tuple[LeagueState, str]:
    """Return the fold, as far as it goes, and why it went no further."""
    state, seq = LeagueState(rules), 0
    try:
        for seq, event in ledger.events():
            if reason := unfit(state, event):
                return state, f"event {seq} does not follow from those before it: it {reason}"
            apply(state, event)
    except Exception as error:  # a damaged ledger may break the fold in any way: that is a finding
        return state, f"the fold stops at or after event {seq}: {type(error).__name__}: {error}"
    return state, ""


# --- the checks ----------------------------------------------------------------------------------------------


def check_chain(evidence: Evidence) -> Problems:
    """Find rows that are not what was committed, by the hashes that cover them."""
    return evidence.damage


def check_sequence(evidence: Evidence) -> Problems:
    """Find gaps in the numbers of events."""
    audit = evidence.audit
    if audit.rows == audit.last:
        return []
    return [f"{audit.rows} events, but the last has number {audit.last}; events start again at {audit.gaps[:MOST]}"]


def check_readable(evidence: Evidence) -> Problems:
    """Find rows that are no event, or are filed as another one, and a fold that they stop."""
    return evidence.audit.unreadable + ([evidence.stopped] if evidence.stopped else [])


def check_results(evidence: Evidence) -> Problems:
    """Find tickets with more than one result, by the bodies of events, not by the index."""
    return [f"ticket {ticket} has {count} results" for ticket, count in evidence.audit.results.items() if count > 1]


def check_tickets(evidence: Evidence) -> Problems:
    """Find results of tickets that were not issued, or of an attempt that was not the current one."""
    return evidence.audit.disorder


def check_counters(evidence: Evidence) -> Problems:
    """Count by plain SQL and compare with the fold."""
    counted, folded = by_sql(evidence.ledger), by_fold(evidence.state)
    keys = [key for key in sorted({*counted, *folded}) if counted.get(key, 0) != folded.get(key, 0)]
    return [f"{key}: {counted.get(key, 0)} by SQL, {folded.get(key, 0)} by the fold" for key in keys]


def check_checkpoint(evidence: Evidence) -> Problems:
    """Go on from the checkpoint to the end of the ledger: that must give what the whole fold gives."""
    path, state = evidence.run.fold, evidence.state
    if not path.exists() or evidence.stopped:
        return []
    found = read_fold(path, state.config)
    if found is None:
        return [f"{path} is damaged or of another version: the next start or stop of the league writes it again"]
    if resume_fold(path, state.config, evidence.ledger)[1] != found[1]:
        return [f"{path} is of another ledger: up to event {found[1]} this one has other events, or it has fewer"]
    resumed, since = found
    for _, event in evidence.ledger.events(since):
        apply(resumed, event)
    if encode_fold(resumed, 0) != encode_fold(state, 0):
        return [f"{path}: going on from event {since} gives another state than folding from the start"]
    return []


def check_ratings(evidence: Evidence) -> Problems:
    """Count the points of evaluation from the raw results and compare them with those that ratings are fitted to."""
    state, points = evidence.state, evidence.audit.points
    players = [player.id for player in state.population]
    shown = state.evaluation.points(players)
    return [
        f"{a} against {b}: ratings are fitted to {shown[i, j]:.6f} points, its results give {points[a, b]:.6f}"
        for i, a in enumerate(players)
        for j, b in enumerate(players)
        if abs(shown[i, j] - points[a, b]) > CLOSE
    ]


def check_snapshots(evidence: Evidence) -> Problems:
    """Read every snapshot that must be there, byte for byte."""
    store = SnapshotStore(evidence.run.snapshots)
    names = sorted(evidence.audit.stored | evidence.audit.frozen)
    return [problem for name in names if (problem := store.verify(name)) is not None]


def check_journals(evidence: Evidence) -> Problems:
    """Find results that a collector knows to be accepted, but the ledger does not count, and ledgers it never saw."""
    problems = []
    for name, content in evidence.journals.items():
        for number, line in enumerate(content.split(b"\n")[:-1], start=1):  # what has no end was cut by a crash
            try:
                noted = msgspec.json.decode(line, type=JournalLine)
            except (msgspec.DecodeError, RecursionError) as error:
                problems.append(f"{name}, line {number} cannot be read: {error}")
                continue
            if noted.head and (problem := _witness(evidence.ledger, noted.head)):
                problems.append(f"{name}, line {number}: {problem}")
            counted = evidence.audit.counted.get(noted.ticket)
            if noted.verdict == Verdict.ACCEPTED and counted != noted.attempt:
                was = "has no result" if counted is None else f"has the result of attempt {counted}"
                problems.append(f"{name}: attempt {noted.attempt} of ticket {noted.ticket} was accepted, but it {was}")
    return problems


def _witness(ledger: Ledger, head: str) -> str:
    """Return how the ledger differs from the one that a collector noted."""
    number, _, digest = head.partition(" ")
    if not number.isdigit():
        return f"{head[:80]!r} names no event"
    if int(number) > ledger.head:
        return f"the ledger had {number} events once, and has {ledger.head}: its end was lost, or it is an older one"
    if ledger.mark(int(number)) != digest:
        return f"the ledger had other events up to event {number}: it was changed, or another one was put in its place"
    return ""


CHECKS: dict[str, Callable[[Evidence], Problems]] = {
    "every row is what was committed, by its hash": check_chain,
    "the numbers of events have no gap": check_sequence,
    "every row is an event, and the fold takes it": check_readable,
    "no ticket has two results": check_results,
    "every result is of the current attempt of an issued ticket": check_tickets,
    "counters by plain SQL equal the fold": check_counters,
    "the fold equals its checkpoint, if there is one": check_checkpoint,
    "the points that ratings are fitted to equal the results": check_ratings,
    "every snapshot is there, byte for byte, or was pruned": check_snapshots,
    "what collectors know to be accepted is counted": check_journals,
}
