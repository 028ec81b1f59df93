"""(m) What the hash chain costs a commit: two ledgers take the same commits in turn, one of them without any chain.

A commit's cost is the time until it is durable, because the coordinator waits for that; the cost in CPU time is printed
beside it. Medians, since a shared machine disturbs some commits.
"""

import statistics
import time
from pathlib import Path

from benchmarks.measure import Verdict, emit
from league.events import Event, ResultCounted, TicketIssued
from league.ids import Hash, PlayerId, TicketNumber
from league.store.chain import Mark
from league.store.ledger import Ledger, TableRows
from league.ticket import Entry, Episode, Purpose, Ticket

SIZES = (2, 8, 32, 128)  # events in one commit: a quiet league, ..., a coordinator under load
TARGET = 1 / 1.05


class UnchainedLedger(Ledger):
    """A ledger that computes no hash and stores none."""

    def _append(self, end: Mark, rows: TableRows, insert: str, insert_last: str) -> Mark:
        values = list(zip(*rows.columns, rows.lines.decode().split("\n")[:-1], strict=True))
        self._connection.executemany(insert, values)
        return Mark(values[-1][0], end.digest)


def events(number: int) -> list[Event]:
    """Return a training ticket and its result."""
    entries = (Entry(PlayerId("main")), Entry(PlayerId("main.3"), Hash(f"{number % 7:064x}")))
    ticket = Ticket(number=TicketNumber(number), purpose=Purpose.TRAIN, entries=entries, episodes=8)
    episodes = tuple(Episode((0, 1), (1.0, -1.0), 9 + (number + i) % 30) for i in range(8))
    return [TicketIssued(ticket=ticket), ResultCounted(ticket=ticket.number, attempt=0, episodes=episodes)]


def ratios(folder: Path, size: int, commits: int) -> tuple[float, float]:
    """Return the time of a commit without the chain over that of one with it, and the same for CPU time."""
    ledgers = (UnchainedLedger.open(folder / "without.sqlite"), Ledger.open(folder / "with.sqlite"))
    times: list[list[tuple[float, float]]] = [[], []]
    for i in range(commits):
        batch = [event for number in range(i * size // 2, (i + 1) * size // 2) for event in events(number + 1)]
        for which in (0, 1) if i % 2 else (1, 0):
            start, used = time.perf_counter(), time.process_time()
            ledgers[which].commit(batch)
            times[which].append((time.perf_counter() - start, time.process_time() - used))
    for one in ledgers:
        one.close()
    without, chained = ([statistics.median(column) for column in zip(*found, strict=True)] for found in times)
    return without[0] / chained[0], without[1] / chained[1]


def run(folder: Path, seconds: float, rounds: int) -> list[Verdict]:
    """Measure commits of several sizes."""
    verdicts = []
    for size in SIZES:
        runs = []
        for i in range(rounds):
            where = folder / f"{size}" / f"{i}"
            where.mkdir(parents=True)
            runs.append(ratios(where, size, max(40, int(seconds * 1500 / size**0.5))))
        took, used = ([run[i] for run in runs] for i in (0, 1))
        shares = {"of_its_time": 1 / statistics.median(took) - 1, "of_its_cpu": 1 / statistics.median(used) - 1}
        emit("m: chain", events=size, **shares)
        verdicts.append(Verdict.of(f"m: a commit of {size} events without the chain over one with it", took, TARGET))
    return verdicts
