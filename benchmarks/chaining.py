"""(m) What the hash chain costs a commit: two ledgers take the same commits in turn, one of them without hashes.

It is the CPU time of a commit, with its sync to the disk, that counts; medians, since a shared machine disturbs some.
"""

import statistics
import time
from pathlib import Path

from benchmarks.measure import Verdict, emit
from league.events import Event, ResultCounted, TicketIssued
from league.ids import Hash, PlayerId, TicketNumber
from league.store import ledger as module
from league.store.chain import HASH_BYTES, link
from league.store.ledger import Ledger
from league.ticket import Entry, Episode, Purpose, Ticket

SIZES = (2, 8, 32, 128)  # events in one commit: a quiet league, ..., a coordinator under load
TARGET = 1 / 1.05


def events(number: int) -> list[Event]:
    """Return a training ticket and its result."""
    entries = (Entry(PlayerId("main")), Entry(PlayerId("main.3"), Hash(f"{number % 7:064x}")))
    ticket = Ticket(number=TicketNumber(number), purpose=Purpose.TRAIN, entries=entries, episodes=8)
    episodes = tuple(Episode((0, 1), (1.0, -1.0), 9 + (number + i) % 30) for i in range(8))
    return [TicketIssued(ticket=ticket), ResultCounted(ticket=ticket.number, attempt=0, episodes=episodes)]


def no_link(previous: bytes, columns: object, lines: bytes) -> bytes:
    return bytes(HASH_BYTES)


def ratio(folder: Path, size: int, commits: int) -> float:
    """Return the CPU time of a commit without hashes over that of one with them."""
    ledgers = [Ledger.open(folder / f"{size}-{name}.sqlite") for name in ("without", "with")]
    times: tuple[list[float], list[float]] = ([], [])
    for i in range(commits):
        batch = [event for number in range(i * size // 2, (i + 1) * size // 2) for event in events(number + 1)]
        for which in (0, 1) if i % 2 else (1, 0):
            module.link = link if which else no_link  # type: ignore[assignment]
            start = time.process_time()
            ledgers[which].commit(batch)
            times[which].append(time.process_time() - start)
    module.link = link
    for one in ledgers:
        one.close()
    return statistics.median(times[0]) / statistics.median(times[1])


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure commits of several sizes."""
    verdicts = []
    for size in SIZES:
        (folder / f"{size}").mkdir()
        runs = []
        for i in range(rounds):
            where = folder / f"{size}" / f"{i}"
            where.mkdir()
            runs.append(ratio(where, size, max(40, int(seconds * 1500 / size**0.5))))
        emit("m: chain", events=size, share_of_a_commit=1 / statistics.median(runs) - 1)
        verdicts.append(Verdict.of(f"m: a commit of {size} events without hashes over one with them", runs, TARGET))
    return verdicts
